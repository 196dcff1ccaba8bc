"""What the prose says in numbers: those it cites by name, and those it must not type."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_GLUE = re.compile(r"\{glue:(?:text|\w*)\}`([^`:]+)(?::[^`]*)?`")
_SUBSTITUTION = re.compile(r"\{\{\s*([\w.-]+)\s*\}\}")
_FENCED = re.compile(r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)\s*$", re.DOTALL | re.MULTILINE)
_NO_PROSE = re.compile(
    r"^(?P<fence>`{3,}|~{3,}).*?^(?P=fence)\s*$"  # a fenced block
    r"|`+[^`]*`+"  # code, roles, cited numbers
    r"|\{\{.*?\}\}"
    r"|\]\([^)]*\)|<[^>]*>|https?://\S+"
    r"|\$[^$]*\$",
    re.DOTALL | re.MULTILINE,
)
_RESULT = re.compile(
    r"(?<![\w.,:/-])[−+-]?(?:\d+(?:,\d{3})*\.\d+|\d+(?:,\d{3})*(?=\s?(?:%|percent|points)))"
    r"(?:\s?(?:%|percent|points))?(?![\w/])"
)
_NO_RESULT = re.compile(
    r"\b0\.5(?= or 0\b|\))"  # a grade of a scale, not a mean
    r"|95 %(?= interval)|(?:5|95) %(?= level)|80 % power"
    r"|(?:arXiv|CC BY(?:-NC)?|Apache|version|Python|GPL|section|sections|Section|Sec\.)"
    r"[\s-]*\d+(?:\.\d+)*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Citation:
    """A number that a page cites by name.

    Attributes
    ----------
    page : str
        File of the page, from the project's folder.
    name : str
        As `glue` or the book's substitutions know it.
    """

    page: str
    name: str


@dataclass(frozen=True, slots=True)
class TypedNumber:
    """A number of a result that a page holds as typed text, which no run can refresh."""

    page: str
    text: str
    around: str


def prose_pages(root: Path) -> dict[str, str]:
    """Return the Markdown of every page by its file: chapters, the book's own pages, the README."""
    pages = {
        path.relative_to(root).as_posix(): _markdown_cells(path)
        for path in sorted((root / "notebooks").glob("[0-9]*.ipynb"))
    }
    own = [*sorted((root / "book").glob("*.md")), *sorted((root / "book" / "guide").glob("*.md"))]
    for path in [*own, root / "README.md"]:
        if path.is_file():
            pages[path.relative_to(root).as_posix()] = path.read_text(encoding="utf-8")
    return pages


def citations(root: Path) -> list[Citation]:
    """Return every number cited by name, once per page, in the order of the prose."""
    return [
        Citation(page, name)
        for page, text in prose_pages(root).items()
        for name in dict.fromkeys(
            [*_GLUE.findall(text), *_SUBSTITUTION.findall(_FENCED.sub(" ", text))]
        )
    ]


def typed_numbers(text: str, page: str = "") -> Iterator[TypedNumber]:
    """Yield numbers that look like results and are typed: decimals and percentages.

    Left out: code, links, intervals' and tests' levels, versions, licences and section numbers.

    >>> [found.text for found in typed_numbers("It finds 54.1 % (95 % interval), `x=0.5`.")]
    ['54.1 %']
    """
    prose = _NO_PROSE.sub(" ", _without_header(text))
    prose = _NO_RESULT.sub(" ", prose)
    for match in _RESULT.finditer(prose):
        around = " ".join(prose[max(0, match.start() - 60) : match.end() + 40].split())
        yield TypedNumber(page, match.group().strip(), around)


def _without_header(text: str) -> str:
    return re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)


def _markdown_cells(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
