"""The explorer's data as files a page opened from a disk can load.

A page opened from a file may not fetch JSON, but it may load a script. So each shard is JSON inside
one call. The JSON is plain ASCII without ``<``, so that no text in it can end the script or be
markup; the page shows texts as text only.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from unbidden.atomic import write_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from unbidden.report.explorer.model import Item, Reply, Returned

SHARD_ITEMS = 250
"""Items of one shard: small enough to open at once, large enough to be few."""
NOT_FOUND, UNSCORED = 0, -1
"""In the place of a rank: no gold turn among the memories; not scored."""


class Names:
    """Numbers for texts, so that each is written once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._places: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """Return the number of a text."""
        if text not in self._places:
            self._places[text] = len(self.all)
            self.all.append(text)
        return self._places[text]


def write_shards(
    folder: Path, items: Sequence[Item], *, run: str, notes: Iterable[str] = ()
) -> list[Path]:
    """Write the index and the shards; remove shards of an earlier run.

    Parameters
    ----------
    notes : iterable of str
        What the page says of the run, such as chapters whose texts are not shown.

    Returns
    -------
    list of Path
        ``index.js`` first. A file is written only where its content differs.
    """
    head = _Head()
    rows = [
        [*head.row(item), number // SHARD_ITEMS, number % SHARD_ITEMS]
        for number, item in enumerate(items)
    ]
    index = {
        **{"run": run, "notes": list(notes), "rows": rows},
        **{name: names.all for name, names in head.names.items()},
    }
    paths = [folder / "index.js"]
    _write(paths[0], "index", index)
    for start in range(0, len(items), SHARD_ITEMS):
        name = f"items-{start // SHARD_ITEMS}"
        paths.append(folder / f"{name}.js")
        _write(paths[-1], name, _shard(items[start : start + SHARD_ITEMS]))
    for stray in set(folder.glob("*.js")) - set(paths):
        stray.unlink()
    return paths


class _Head:
    """What the list and its filters need of each item, with names as numbers."""

    def __init__(self) -> None:
        kinds = ("styles", "categories", "conversations", "systems", "judges", "labels")
        self.names = {kind: Names() for kind in kinds}

    def row(self, item: Item) -> list[Any]:
        names = self.names
        ranks = [
            [
                names["systems"](one.system),
                UNSCORED if one.unscored else one.first or NOT_FOUND,
            ]
            for one in item.returned
        ]
        verdicts = {
            (
                names["judges"](f"{one.judge}: {one.rubric}"),
                names["labels"](one.label if one.label is not None else "unscored"),
            )
            for reply in item.replies
            for one in reply.judgements
        }
        return [
            item.id,
            names["styles"](item.style),
            names["categories"](item.category or "none"),
            names["conversations"](item.conversation),
            item.query,
            ranks,
            sorted(verdicts),
        ]


def _shard(items: Sequence[Item]) -> dict[str, Any]:
    texts = Names()
    return {"items": [_item(item, texts) for item in items], "texts": texts.all}


def _item(item: Item, texts: Names) -> dict[str, Any]:
    return {
        "speaker": item.speaker,
        "answers": [[texts(question), texts(answer)] for question, answer in item.answers],
        "gold": [[turn, texts(text)] for turn, text in item.gold],
        "returned": [_returned(one, texts) for one in item.returned],
        "replies": [_reply(one, texts) for one in item.replies],
    }


def _returned(one: Returned, texts: Names) -> dict[str, Any]:
    return {
        "system": one.system,
        "unscored": None if one.unscored is None else texts(one.unscored),
        "memories": [
            [texts(memory.text), texts(_named(memory.sources)), int(memory.gold)]
            for memory in one.memories
        ],
    }


def _named(sources: Sequence[str]) -> str:
    """Return turn ids as text; of a whole session only the first.

    >>> _named(["D1:1", "D1:2"]), _named([f"D1:{i}" for i in range(1, 10)])
    ('D1:1, D1:2', 'D1:1, D1:2 and 7 more')
    """
    if len(sources) <= 4:
        return ", ".join(sources)
    return f"{', '.join(sources[:2])} and {len(sources) - 2} more"


def _reply(one: Reply, texts: Names) -> dict[str, Any]:
    return {
        "by": one.by,
        "text": None if one.text is None else texts(one.text),
        "unscored": one.unscored,
        "judgements": [
            [got.judge, got.rubric, got.label, got.reason, got.unscored] for got in one.judgements
        ],
    }


def _write(path: Path, name: str, value: object) -> None:
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":")).replace("<", "\\u003c")
    script = f"unbiddenExplorerData({json.dumps(name)},{text});\n"
    if not path.exists() or path.read_text(encoding="utf-8") != script:
        write_text(path, script)
