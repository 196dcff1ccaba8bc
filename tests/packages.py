"""Write the table of pinned packages and their licences: python -m tests.packages.

Run it in an environment installed with constraints.txt; a package that is not installed there is
listed as not checked.
"""

from __future__ import annotations

import csv
from importlib import metadata

from tests.conftest import ROOT
from unbidden.atomic import replacing
from unbidden.report.pages.packages import COLUMNS, packages_path

_LONG = 80


def pinned() -> dict[str, str]:
    """Return the pinned version of each package."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pairs = [line.split("==") for line in lines if "==" in line and not line.startswith("#")]
    return {name.strip(): version.split(";")[0].strip() for name, version in pairs}


def licence(name: str) -> str:
    """Return a package's licence as its own metadata names it."""
    try:
        found = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return "not checked"
    classified = [
        text.rpartition(" :: ")[2]
        for text in found.get_all("Classifier") or []
        if text.startswith("License :: ")
    ]
    stated = found.get("License-Expression") or "; ".join(classified) or found.get("License") or ""
    return " ".join(stated.split())[:_LONG] or "not stated"


def main() -> None:
    """Write results/recorded/packages.csv."""
    with (
        replacing(packages_path()) as partial,
        partial.open("w", encoding="utf-8", newline="") as f,
    ):
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow(COLUMNS)
        for name, version in pinned().items():
            rows.writerow([name, version, licence(name)])


if __name__ == "__main__":
    main()
