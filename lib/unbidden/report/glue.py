"""Numbers for the prose: shown by the notebook, cited by the text, kept in the run's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.display import display

if TYPE_CHECKING:
    from unbidden.report.folder import RunFolder

MIME_PREFIX = "application/papermill.record/"
"""Of the outputs that hold a number; the form of a scrapbook record."""
_MIME = f"{MIME_PREFIX}text/plain"


def glue(folder: RunFolder, numbers: dict[str, str]) -> None:
    """Keep formatted numbers in the run's ``numbers.json`` and let the chapter's text cite them.

    Parameters
    ----------
    numbers : dict of str to str
        Name to text, formatted as the prose shows it.
    """
    folder.numbers.update(numbers)
    cite(numbers)


def cite(numbers: dict[str, str]) -> None:
    """Let the chapter's text cite numbers of another run, without keeping them as this run's."""
    for name, text in numbers.items():
        # The form of a scrapbook record, which the book's `glue` role reads.
        display(  # type: ignore[no-untyped-call]
            {_MIME: repr(text)},  # a literal, or "5,882" would be read as two numbers
            raw=True,
            metadata={"scrapbook": {"name": name, "mime_prefix": MIME_PREFIX}},
        )
