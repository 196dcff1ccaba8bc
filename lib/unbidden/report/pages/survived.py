"""The page of faults tried: what the tests did to the study, and what came of it."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from unbidden.config import project_root
from unbidden.report.tables import escape_markdown

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("what", "expected", "outcome", "test")


def faults_path() -> Path:
    """Return the record of faults that the tests write."""
    return project_root() / "results" / "recorded" / "faults.csv"


def faults_page() -> str:
    """Return the page as Markdown; it says so if nothing is on record."""
    head = (
        "# Faults tried\n\n"
        "Each row is a fault that a test brings about on purpose. The tests run with every "
        "`make test`; this page is made from their marks and their last recorded outcomes "
        "(`pytest --record-faults`).\n\n"
    )
    path = faults_path()
    if not path.is_file():
        return head + "Nothing is on record in this installation.\n"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = ["| fault | must happen | outcome | test |", "| --- | --- | --- | --- |"]
    for row in rows:
        name = row["test"].rpartition("/")[2]
        cells = [escape_markdown(row[column]) for column in ("what", "expected", "outcome")]
        lines.append(f"| {' | '.join(cells)} | `{name}` |")
    passed = sum(row["outcome"].startswith("passed") for row in rows)
    return f"{head}{len(rows)} faults, {passed} with the outcome that must be.\n\n" + (
        "\n".join(lines) + "\n"
    )
