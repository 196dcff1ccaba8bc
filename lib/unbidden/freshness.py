"""Whether a page still is what its notebook, code and parameters would give, and why not."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from unbidden.config import STAMP, project_root
from unbidden.report.folder import library_digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

_OWN = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
NEVER = "it was not executed before"


def chapter_digests(source: Path, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return what a page depends on: its cells, the library, the parameters and the reader's files.

    The reader's files are modules that a parameter names (``my_memory:Mine``), a data set that is
    a file, and prompts in the project's folder ``prompts``.
    """
    cells = [
        (cell["cell_type"], cell["source"])
        for cell in json.loads(source.read_text(encoding="utf-8"))["cells"]
    ]
    canonical = json.dumps(parameters, sort_keys=True, default=str)
    found = {
        "notebook": hashlib.sha256(json.dumps(cells).encode()).hexdigest(),
        "library": library_digest(),
        "parameters": hashlib.sha256(canonical.encode()).hexdigest(),
    }
    for path in sorted(set(own_files(parameters))):
        found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def own_files(parameters: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the reader's files that a chapter with these parameters reads, below the project."""
    root = project_root()
    for text in _texts(list(parameters.values())):
        if _OWN.fullmatch(text):
            path = root.joinpath(*text.partition(":")[0].split(".")).with_suffix(".py")
            if path.is_file():
                yield path
    dataset = parameters.get("dataset")
    if isinstance(dataset, str) and dataset and (root / dataset).is_file():
        yield root / dataset
    yield from sorted((root / "prompts").glob("*.j2"))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def stamp_of(notebook: Path) -> dict[str, Any] | None:
    """Return what an executed notebook says of how it was made; None if it says nothing."""
    if not notebook.is_file():
        return None
    metadata = json.loads(notebook.read_text(encoding="utf-8"))["metadata"]
    found: dict[str, Any] | None = metadata.get(STAMP)
    return found


def changes_since(
    stamp: Mapping[str, Any] | None, source: Path, parameters: Mapping[str, Any] | None = None
) -> list[str]:
    """Return what has changed since a page was executed, one phrase each; none if it is fresh.

    Parameters
    ----------
    parameters : mapping, optional
        Those it would be executed with now; by default those it was executed with.
    """
    if stamp is None:
        return [NEVER]
    before = stamp["parameters"]
    now = before if parameters is None else parameters
    digests = chapter_digests(source, now)
    changed = [
        name
        for name in dict.fromkeys([*stamp["digests"], *digests])
        if name != "parameters" and stamp["digests"].get(name) != digests.get(name)
    ]
    phrases = [f"its {name} changed" for name in changed]
    if stamp["digests"]["parameters"] != digests["parameters"]:
        phrases += _parameter_changes(before, now)
    return phrases


def _parameter_changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    names = [n for n in dict.fromkeys([*before, *now]) if before.get(n, ...) != now.get(n, ...)]
    named = [f"{n} from {_shown(before, n)} to {_shown(now, n)}" for n in names]
    return [f"its parameters changed: {', '.join(named)}" if named else "its parameters changed"]


def _shown(parameters: Mapping[str, Any], name: str) -> str:
    if name not in parameters:
        return "the default"
    text = json.dumps(parameters[name], ensure_ascii=False, default=str)
    return text if len(text) <= 60 else text[:57] + "..."
