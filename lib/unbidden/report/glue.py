"""Numbers for the prose: shown by the notebook, cited by the text, kept in the run's files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from IPython.display import display

if TYPE_CHECKING:
    from unbidden.report.folder import RunFolder

_MIME = "application/papermill.record/text/plain"


def glue(folder: RunFolder, numbers: dict[str, str]) -> None:
    """Record formatted numbers under names the chapter's text cites.

    Parameters
    ----------
    numbers : dict of str to str
        Name to text, formatted as the prose shows it.
    """
    for name, text in numbers.items():
        folder.numbers[name] = text
        # The form of a scrapbook record, which the book's `glue` role reads.
        display(  # type: ignore[no-untyped-call]
            {_MIME: text},
            raw=True,
            metadata={"scrapbook": {"name": name, "mime_prefix": "application/papermill.record/"}},
        )
