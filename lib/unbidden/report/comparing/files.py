"""A comparison kept in files: the page, and every table behind it as CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.atomic import replacing, write_text
from unbidden.errors import ConfigError
from unbidden.report.comparing.page import comparison_page

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from unbidden.report.comparing.together import Comparison


def write_comparison(found: Comparison, path: Path) -> list[Path]:
    """Write the page to `path`, and its tables beside it as ``STEM.CHAPTER.TABLE.csv``.

    Raises
    ------
    ConfigError
        If `path` does not end in ``.md``.
    """
    if path.suffix != ".md":
        raise ConfigError(
            "the page of a comparison is Markdown",
            expected="a path that ends in .md",
            got=path.name,
            next_step="correct `--out`",
        )
    write_text(path, comparison_page(found) + "\n")
    written = [path]
    for chapter in found.chapters:
        frames = {"changed": chapter.changed, "tables": chapter.tables, "numbers": chapter.numbers}
        frames |= {f"paired-{name}": paired.table for name, paired in chapter.items.items()}
        for name, frame in frames.items():
            target = path.with_name(f"{path.stem}.{chapter.chapter}.{name}.csv")
            _write_csv(frame, target)
            written.append(target)
    return written


def _write_csv(frame: pd.DataFrame, path: Path) -> None:
    with replacing(path) as partial:
        frame.to_csv(partial, index=False, lineterminator="\n")
