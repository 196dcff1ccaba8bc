"""The book's pages of reference, made from the results: claims, two runs compared, schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.errors import DataError
from unbidden.report.comparing import Choice, compare_runs, comparison_page, known_runs
from unbidden.report.pages.schemas import schema_page, schemas_of
from unbidden.report.provenance import claims_page, failing, register, write_register

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_EXAMPLE = ("recorded/locomo", "recorded/subset")
_INTRO = (
    "`unbidden compare A B` prints this page for any two runs, and `--out FILE.md` writes it with "
    "its tables as CSV. It answers what changed between them, and whether the change is more than "
    "chance. Shown here: "
)


def reference_pages(
    root: Path, run: str, *, against: str = "", check: bool = True
) -> Iterator[tuple[str, str]]:
    """Yield name and text of each page, and write the register of claims beside them.

    Parameters
    ----------
    run : str
        The run the book is made from.
    against : str
        A run to compare it with; empty means the default run, or an example for the default run.

    check : bool
        False takes claims that do not hold; the page of claims says which.

    Raises
    ------
    DataError
        If a number of the prose is not what the table that is named for it holds.
    """
    claims = register(root, run)
    write_register(claims, root / "book" / "_generated")
    wrong = failing(claim for claim in claims if claim.contradicted)
    if wrong and check:
        raise DataError(
            f"{len(wrong)} numbers of the prose are not what their tables hold",
            got="; ".join(wrong[:5]),
            next_step="execute the chapter again, or correct its file in report/provenance/sources",
        )
    yield "claims.md", claims_page(claims)
    yield "compare.md", _compare(run, against)
    yield "schemas.md", schema_page(schemas_of(run))


def _compare(run: str, against: str) -> str:
    known = known_runs()
    if against:
        pair = (against, run)
    elif run != "default" and "default" in known:
        pair = ("default", run)
    elif set(_EXAMPLE) <= set(known):
        pair = _EXAMPLE
    else:
        return f"# Compare runs\n\n{_INTRO}nothing, as there is only one run here.\n"
    try:
        page = comparison_page(compare_runs(*pair, Choice()), title="Compare runs")
    except DataError as error:
        if against:
            raise
        return f"# Compare runs\n\n{_INTRO}nothing: {error.what}.\n"
    head, _, rest = page.partition("\n")
    return f"{head}\n\n{_INTRO}*{pair[0]}* and *{pair[1]}*.\n{rest}"
