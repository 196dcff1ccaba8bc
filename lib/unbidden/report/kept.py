"""Tables of data a reader may not have: made now, or shown as they were recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.recorded import absent_table, recorded_tables
from unbidden.report.tables import NumberedTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import pandas as pd

    from unbidden.report.folder import RunFolder


class KeptTables:
    """Tables by name, and how a chapter shows one of them.

    Parameters
    ----------
    recorded : tuple of str
        Run and chapter under which they are recorded.

    Attributes
    ----------
    frames : dict of str to DataFrame
        Those at hand.
    """

    def __init__(self, folder: RunFolder, recorded: tuple[str, str]) -> None:
        self._folder, self._at = folder, recorded
        self.frames: dict[str, pd.DataFrame] = {}

    def add(self, frames: Mapping[str, pd.DataFrame]) -> None:
        """Write tables that were made now, and show them from here on."""
        for name, frame in frames.items():
            self._folder.table(name, frame)
            self.frames[name] = frame

    def take_recorded(self, names: Iterable[str]) -> None:
        """Show those of these tables that are on record."""
        self.frames.update(recorded_tables(*self._at, names))

    def table(
        self, source: str, show: Callable[[pd.DataFrame], pd.DataFrame], name: str, caption: str
    ) -> NumberedTable:
        """Return one of the tables as the chapter shows it, or a row that says it is absent."""
        frame = self.frames.get(source)
        shown = absent_table(*self._at) if frame is None else show(frame)
        return NumberedTable(shown, name, caption)
