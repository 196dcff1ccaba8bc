"""The page of packages: each pinned version and the licence its metadata names."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from unbidden.config import project_root
from unbidden.report.tables import escape_markdown

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS = ("package", "version", "licence")


def packages_path() -> Path:
    """Return the record of packages."""
    return project_root() / "results" / "recorded" / "packages.csv"


def packages_page() -> str:
    """Return the page as Markdown; it says so if nothing is on record."""
    head = (
        "# Packages and their licences\n\n"
        "`constraints.txt` pins every package that `make` installs. The licence is the one a "
        "package's own metadata names; GPL packages are in no extra that `make` installs. Known "
        "vulnerabilities are looked up with\n\n"
        "```bash\npip install pip-audit && pip-audit --no-deps --disable-pip -r constraints.txt\n"
        "```\n\nThat needs a connection to a database of advisories. Where this book was made "
        "there was none, so no result is shown: run it before you serve anything to others.\n\n"
    )
    path = packages_path()
    if not path.is_file():
        return head + "Nothing is on record in this installation.\n"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = ["| package | version | licence |", "| --- | --- | --- |"]
    lines += [f"| {' | '.join(escape_markdown(row[name]) for name in COLUMNS)} |" for row in rows]
    return head + "\n".join(lines) + "\n"
