"""From the result files of a run to the items of the explorer.

Only text of the embedded data set is read into a page: other data is not ours to pass on.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.corpus import load_corpus
from unbidden.judge.labelled import load_items
from unbidden.queries.build import build_queries
from unbidden.reply.study import way_name
from unbidden.report.explorer.model import Item, Judgement, Memory, Reply, Returned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from unbidden.corpus.models import Conversation, Corpus
    from unbidden.judge.labelled import Item as Labelled
    from unbidden.queries.build import Query

EMBEDDED = "harbour"
"""The data set whose text ships with the study."""
Key = tuple[str, str]
"""The id and the style of a query."""


@dataclass(frozen=True, slots=True)
class Found:
    """The items of a run, and what a reader should know of what is not there."""

    items: list[Item]
    notes: list[str]


def read_run(folders: Mapping[str, Path]) -> Found:
    """Return the items of a run.

    Parameters
    ----------
    folders : mapping of str to Path
        The result folder of each chapter, by chapter.
    """
    corpus = load_corpus(EMBEDDED)
    notes: list[str] = []
    returned: dict[Key, list[Returned]] = defaultdict(list)
    replies: dict[Key, list[Reply]] = defaultdict(list)
    evidence: Any = "paper"
    for chapter, folder in sorted(folders.items()):
        reader = _READERS.get(chapter)
        if reader is None:
            continue
        facts = _facts(folder)
        if not _embedded(facts, corpus):
            name = facts.get("parameters", {}).get("dataset", "other data")
            notes.append(f"{chapter}: the texts of {name} may not be passed on, so it is left out")
            continue
        if chapter == RETRIEVAL:
            evidence = facts["parameters"].get("evidence", evidence)
        notes += reader(folder, corpus, returned, replies)
    queries = build_queries(corpus, evidence=evidence)
    talks = {str(talk.id): talk for talk in corpus.conversations}
    items = [
        _item(query, talks[query.conversation], returned.get(key, []), replies.get(key, []))
        for query in queries
        if (key := (query.id, query.style)) in returned or key in replies
    ]
    return Found(items, notes)


def _facts(folder: Path) -> dict[str, Any]:
    path = folder / "run.json"
    facts: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    return facts


def _embedded(facts: Mapping[str, Any], corpus: Corpus) -> bool:
    """Return whether a run read the embedded files and nothing else, told by their hashes."""
    ours = {source.sha256 for source in corpus.sources}
    read = {one["sha256"] for one in facts.get("data", [])}
    return bool(read) and read <= ours


def _item(query: Query, talk: Conversation, returned: list[Returned], replies: list[Reply]) -> Item:
    questions = {question.index: question for question in talk.questions}
    members = [questions[index] for index in query.members]
    gold = [turn for turn in talk.turns if turn.id in query.gold]
    marked = (_marked(one, query.gold) for one in returned)
    return Item(
        id=query.id,
        conversation=query.conversation,
        style=query.style,
        query=query.text,
        category="" if query.category is None else str(query.category),
        speaker=query.speaker or "",
        answers=tuple(
            (question.text, question.answer or f"no answer; a trap: {question.trap or '–'}")
            for question in members
        ),
        gold=tuple((turn.id, f"{turn.speaker}: {turn.text}") for turn in gold),
        returned=tuple(marked),
        replies=tuple(replies),
    )


def _marked(one: Returned, gold: frozenset[Any]) -> Returned:
    memories = tuple(
        Memory(memory.text, memory.sources, bool(gold & set(memory.sources)))
        for memory in one.memories
    )
    return Returned(one.system, memories, one.unscored)


def _missing(value: object) -> bool:
    return value is None or (not isinstance(value, str) and bool(pd.isna(value)))  # type: ignore[call-overload]


def _text(value: object) -> str | None:
    return None if _missing(value) else str(value)


def _read_returned(
    folder: Path,
    corpus: Corpus,
    returned: dict[Key, list[Returned]],
    replies: dict[Key, list[Reply]],
) -> list[str]:
    path = folder / "returned.parquet"
    if not path.is_file():
        return [f"{folder.name} kept no table of what systems returned (returned.parquet)"]
    rows_of: dict[tuple[str, str, str], list[dict[Any, Any]]] = defaultdict(list)
    for row in pd.read_parquet(path).to_dict("records"):  # much faster than a pandas groupby
        rows_of[str(row["query_id"]), str(row["style"]), str(row["system"])].append(row)
    for (query, style, system), rows in rows_of.items():
        memories = tuple(
            Memory(str(row["text"]), tuple(map(str, row["sources"])))
            for row in rows
            if not _missing(row["rank"])
        )
        one = Returned(system, memories, _text(rows[0]["unscored"]))
        returned[query, style].append(one)
    return []


def _read_judges(
    folder: Path,
    corpus: Corpus,
    returned: dict[Key, list[Returned]],
    replies: dict[Key, list[Reply]],
) -> list[str]:
    path = folder / "items.parquet"
    frame = pd.read_parquet(path) if path.is_file() else pd.DataFrame(columns=["item", "part"])
    verdicts: dict[str, list[Judgement]] = defaultdict(list)
    for row in frame[frame["part"] == ""].to_dict("records"):
        verdicts[row["item"]].append(
            Judgement(
                str(row["judge"]),
                str(row["rubric"]),
                _text(row["judged"]),
                _text(row.get("reason")) or "",
                _text(row["unscored"]),
            )
        )
    for item in load_items():
        if item.id in verdicts:
            replies[item.query_id, item.style].append(_labelled(item, corpus, verdicts[item.id]))
    return []


def _labelled(item: Labelled, corpus: Corpus, verdicts: Iterable[Judgement]) -> Reply:
    """Return a reply of the labelled set; where two are compared, one after the other."""
    if item.reply is None:
        turns = {turn.id: turn.text for turn in corpus.conversation(item.conversation).turns}
        texts = [
            " ".join(turns[one] for one in ids)  # type: ignore[index]
            for ids in (item.memories, item.other_memories)
        ]
    else:
        texts = [item.reply, *([item.other] if item.other is not None else [])]
    if len(texts) == 2:
        texts = [f"first: {texts[0]}", f"second: {texts[1]}"]
    tags = f" ({', '.join(item.tags)})" if item.tags else ""
    label = Judgement("label of the set", item.rubric, item.label)
    return Reply(f"labelled set, {item.id}{tags}", "\n".join(texts), None, (label, *verdicts))


def _read_replies(
    folder: Path,
    corpus: Corpus,
    returned: dict[Key, list[Returned]],
    replies: dict[Key, list[Reply]],
) -> list[str]:
    made, judged = folder / "replies.parquet", folder / "items.parquet"
    if not made.is_file():
        return [f"{folder.name} kept no replies (replies.parquet)"]
    frame = pd.read_parquet(made)
    verdicts: dict[tuple[Any, ...], list[Judgement]] = defaultdict(list)
    for row in pd.read_parquet(judged).to_dict("records") if judged.is_file() else []:
        verdicts[_reply_key(row)].append(
            Judgement(
                str(row.get("judge") or row["model"]),
                str(row["metric"]),
                _text(row["label"]),
                _text(row.get("reason")) or "",
                _text(row["unscored"]),
            )
        )
    for row in frame.to_dict("records"):
        key = str(row["query_id"]), str(row["style"])
        text = _text(row["text"])
        if text is None:  # a call that is not on record: nothing was said, so nothing was judged
            continue
        by = _text(row.get("way")) or way_name(str(row["system"]), str(row["condition"]))
        found = tuple(verdicts.get(_reply_key(row), ()))
        replies[key].append(Reply(by, text, _text(row["unscored"]), found))
    missing = int(frame["text"].isna().sum())
    return (
        [f"{folder.name}: {missing} of {len(frame)} replies are not on record"] if missing else []
    )


def _reply_key(row: Mapping[Any, Any]) -> tuple[Any, ...]:
    names = ("query_id", "style", "system", "condition", "repeat")
    return tuple(row.get(name) for name in names)


RETRIEVAL = "02_retrieval"
_READERS: dict[str, Callable[..., list[str]]] = {
    RETRIEVAL: _read_returned,
    "03_replies": _read_replies,
    "08_judges": _read_judges,
}
