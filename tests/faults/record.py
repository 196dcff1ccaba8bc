"""The faults tried by the tests: gathered from their marks, kept with their outcomes.

A test marked ``@pytest.mark.fault("what is done", "what must happen")`` is one row of
results/recorded/faults.csv, which ``pytest --record-faults`` writes and the book shows.
"""

from __future__ import annotations

import ast
import csv
from pathlib import Path
from typing import TYPE_CHECKING

from unbidden.atomic import replacing
from unbidden.report.pages.survived import COLUMNS, faults_path

if TYPE_CHECKING:
    from collections.abc import Iterator

TESTS = Path(__file__).resolve().parents[1]


def marked() -> dict[str, tuple[str, str]]:
    """Return what each marked test tries and expects, by ``file::name``, read from the sources."""
    found = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        name = path.relative_to(TESTS.parent).as_posix()
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                for what, expected in _marks(node):
                    found[f"{name}::{node.name}"] = (what, expected)
    return found


def _marks(node: ast.FunctionDef) -> Iterator[tuple[str, str]]:
    for mark in node.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.fault":
            what, expected = (ast.literal_eval(argument) for argument in mark.args)
            yield what, expected


def kept() -> dict[str, str]:
    """Return the outcomes on record, by ``file::name``."""
    path = faults_path()
    if not path.is_file():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {row["test"]: row["outcome"] for row in csv.DictReader(file)}


def write(outcomes: dict[str, list[str]]) -> None:
    """Add the outcomes of this session to the record; tests that are gone are dropped."""
    known = {**kept(), **{test: _joined(every) for test, every in outcomes.items()}}
    with (
        replacing(faults_path()) as partial,
        partial.open("w", encoding="utf-8", newline="") as file,
    ):
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for test, (what, expected) in marked().items():
            rows.writerow([what, expected, known.get(test, "not run"), test])


def _joined(outcomes: list[str]) -> str:
    """Return one outcome for all cases of a test: the worst, and how many there were."""
    for bad in ("failed", "skipped"):
        if bad in outcomes:
            return bad
    return "passed" if len(outcomes) == 1 else f"passed ({len(outcomes)} cases)"
