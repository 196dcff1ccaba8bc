"""Claims: what a page says, the cell it comes from, and whether that cell says the same."""

from __future__ import annotations

import ast
import csv
import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from unbidden.atomic import replacing, write_text
from unbidden.errors import DataError
from unbidden.report.comparing.runs import RECORDED, ChapterResults, open_run
from unbidden.report.glue import MIME_PREFIX
from unbidden.report.provenance.cited import Citation, citations
from unbidden.report.provenance.sources import sources_of
from unbidden.report.provenance.trace import Found, sentence, trace
from unbidden.report.tables import escape_markdown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

HOLDS, WORDS = "holds", "no number of a result"
"""States of a claim that is as it should be."""
UNDECLARED = "no source is declared"
"""Beginning of the state of a claim whose table nobody named."""
ABSENT = "no run here has a number of this name"
"""State of a claim whose run is not at hand; a page that shows it cannot be built either."""
_OF_THE_BOOK = {"run", "explorer_note", "chapter_links"}
"""Texts that the book's maker gives its pages, which are no numbers of a run."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A number of the prose.

    Attributes
    ----------
    page, name, text : str
        Where it is said, by which name, and how it reads.
    run, chapter : str
        What it was measured in.
    table, row, column, form : str
        The cell, and how the prose writes it.
    state : str
        `HOLDS`, `WORDS`, or what is wrong.
    """

    page: str
    name: str
    text: str
    run: str
    chapter: str
    table: str = ""
    row: str = ""
    column: str = ""
    form: str = ""
    state: str = ""

    @property
    def contradicted(self) -> bool:
        """Whether its declared source does not say what the prose says."""
        return not self.good and not self.state.startswith((UNDECLARED, ABSENT))

    @property
    def good(self) -> bool:
        """Whether its cell says what the prose says."""
        return self.state in {HOLDS, WORDS}


def register(root: Path, run: str) -> list[Claim]:
    """Return every claim of the book's pages, made from a run and the recorded runs.

    Parameters
    ----------
    run : str
        The run the live parts are of; chapters it lacks are the default run's, as in the book.
    """
    runs = _Runs(run)
    return [
        _claim(citation, runs) for citation in citations(root) if citation.name not in _OF_THE_BOOK
    ]


def claims_of_run(results: ChapterResults) -> list[Claim]:
    """Return a claim for each number a chapter glued, cited or not."""
    return [
        _checked(Citation("", name), name, text, results) for name, text in results.numbers.items()
    ]


def failing(claims: Iterable[Claim]) -> list[str]:
    """Return a line for each claim whose cell does not say the same."""
    return [
        f"{claim.page}: {claim.name} = {claim.text!r} ({claim.run}/{claim.chapter}): {claim.state}"
        for claim in claims
        if not claim.good
    ]


class _Runs:
    """The runs a name may be of."""

    def __init__(self, run: str) -> None:
        self.live = dict(_opened("default")) | dict(_opened(run))
        self._kept: dict[str, dict[str, ChapterResults]] = {}

    def kept(self, name: str) -> dict[str, ChapterResults]:
        if name not in self._kept:
            self._kept[name] = dict(_opened(RECORDED + name.removeprefix(RECORDED)))
        return self._kept[name]

    def places(self, citation: Citation) -> Iterator[tuple[ChapterResults, str]]:
        """Yield where a cited number may lie, the likeliest first: chapter and its name there."""
        page = Path(citation.page)
        if page.suffix == ".ipynb":
            if page.stem in self.live:
                yield self.live[page.stem], citation.name
            for source, _ in sources_of(page.stem, citation.name):
                if source.run and page.stem in (kept := self.kept(source.run)):
                    yield kept[page.stem], citation.name
        prefix, _, name = citation.name.partition("_")
        chapters = self.live if prefix == "run" else self.kept(prefix)
        order = sorted(chapters, key=lambda chapter: (chapter == page.stem, chapter), reverse=True)
        for chapter in order:
            yield chapters[chapter], name


def _opened(name: str) -> Iterator[tuple[str, ChapterResults]]:
    try:
        yield from open_run(name).items()
    except DataError:
        return  # a name that is no run; the number is then looked for elsewhere


def _claim(citation: Citation, runs: _Runs) -> Claim:
    page = Path(citation.page)
    shown = _shown(runs.live[page.stem]) if page.stem in runs.live else {}
    for results, name in runs.places(citation):
        if name in results.numbers:
            return _checked(citation, name, results.numbers[name], results)
    if citation.name in shown:
        return _checked(citation, citation.name, shown[citation.name], runs.live[page.stem])
    return Claim(citation.page, citation.name, "", "", "", state=ABSENT)


def _shown(results: ChapterResults) -> dict[str, str]:
    """Return what the executed chapter's glue calls showed, those it cites from elsewhere too."""
    path = results.path / f"{results.chapter}.ipynb"
    if not path.is_file():
        return {}
    found = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            name = output.get("metadata", {}).get("scrapbook", {}).get("name")
            if name is not None:
                text = output["data"][f"{MIME_PREFIX}text/plain"]
                found[name] = str(ast.literal_eval("".join(text)))
    return found


def _checked(citation: Citation, name: str, text: str, results: ChapterResults) -> Claim:
    claim = Claim(citation.page, citation.name, text, results.run, results.chapter)
    if not any(character.isdigit() for character in text):
        return dataclasses.replace(claim, state=WORDS)
    problems = []
    for source, given in sources_of(results.chapter, name):
        if source.words:
            return dataclasses.replace(claim, column=source.words, state=WORDS)
        place = _other(source.run, results)
        found = sentence(source, text, place) if source.sentence else trace(source, given, place)
        form = next((form for form, shown in found.texts.items() if shown == text), "")
        if form:
            return _placed(claim, found, form)
        problems.append(found.problem or _disagreement(found))
    nothing = f"{UNDECLARED} in lib/unbidden/report/provenance/sources/{results.chapter}.yaml"
    return dataclasses.replace(claim, state="; ".join(problems) or nothing)


def _other(run: str, results: ChapterResults) -> ChapterResults:
    if not run or run == results.run:
        return results
    return dict(_opened(run)).get(results.chapter, results)


def _placed(claim: Claim, found: Found, form: str) -> Claim:
    return dataclasses.replace(
        claim, table=found.table, row=found.row, column=found.column, form=form, state=HOLDS
    )


def _disagreement(found: Found) -> str:
    texts = list(dict.fromkeys(found.texts.values()))
    return f"{found.table} ({found.row}), {found.column}, reads {' or '.join(texts[:6])}"


def write_register(claims: Sequence[Claim], folder: Path) -> None:
    """Write ``claims.csv`` and ``claims.json``: one row per claim, the fields of `Claim`."""
    fields = [field.name for field in dataclasses.fields(Claim)]
    with replacing(folder / "claims.csv") as partial, partial.open("w", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        writer.writeheader()
        writer.writerows(dataclasses.asdict(claim) for claim in claims)
    rows = [dataclasses.asdict(claim) for claim in claims]
    write_text(folder / "claims.json", json.dumps(rows, indent=1, ensure_ascii=False) + "\n")


def claims_page(claims: Sequence[Claim]) -> str:
    """Return the register as a page of Markdown, a table for each page of the book."""
    parts = [
        "# Claims\n",
        "Every number in the text of this book, with the run, table and cell it comes from. A test "
        "reads each cell again and fails where it says something else. Texts that hold no number "
        "of a result (names, notes) are left out.\n",
    ]
    counted = [claim for claim in claims if claim.state != WORDS]
    for page in dict.fromkeys(claim.page for claim in counted):
        parts.append(f"## {escape_markdown(Path(page).stem)}\n")
        parts.append("| text | name | run | table | row | column | form |")
        parts.append("| --- | --- | --- | --- | --- | --- | --- |")
        parts += [_row(claim) for claim in counted if claim.page == page]
        parts.append("")
    return "\n".join(parts)


def _row(claim: Claim) -> str:
    place = claim.table if claim.good else f"not found: {claim.state}"
    cells = [claim.text, claim.name, f"{claim.run}/{claim.chapter}"]
    cells += [place, claim.row, claim.column, claim.form]
    return "| " + " | ".join(escape_markdown(cell) or " " for cell in cells) + " |"
