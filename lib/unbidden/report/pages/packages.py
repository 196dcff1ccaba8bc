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
    path = packages_path()
    if not path.is_file():
        return _HEAD + "Nothing is on record in this installation.\n"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = ["| package | version | licence |", "| --- | --- | --- |"]
    lines += [f"| {' | '.join(escape_markdown(row[name]) for name in COLUMNS)} |" for row in rows]
    copyleft = [row["package"] for row in rows if "GPL" in row["licence"]]
    note = f"Under the GPL: {', '.join(f'`{name}`' for name in copyleft) or 'none'}.\n\n"
    return _HEAD + note + "\n".join(lines) + "\n"


_HEAD = """# Packages and their licences

`constraints.txt` pins every package that `make` installs. The licence is the one a package's own
metadata names. Nothing of these packages is part of this project's own files. Known vulnerabilities
are looked up with

```bash
pip install pip-audit && pip-audit --no-deps --disable-pip -r constraints.txt
```

That needs a connection to a database of advisories. Where this book was made there was none (every
package came back as "could not be audited"), so no result is shown: run it before you serve
anything to others.

"""
