"""The recorded construction of queries, as the dataset chapter shows it."""

from __future__ import annotations

import pandas as pd

from unbidden.config import project_root
from unbidden.queries.construction.record import RECORDED, replayed
from unbidden.recorded import has_recorded, recorded_facts, recorded_folder
from unbidden.report.dataset.tables import shown_construction
from unbidden.report.headline import construction_numbers
from unbidden.report.tables import NumberedTable

_ABSENT = pd.DataFrame([{"": "no construction is recorded in this installation"}])


class ConstructionReport:
    """A construction built again from its recorded calls, where they are at hand.

    Parameters
    ----------
    name : str
        Its folder under ``results/recorded/construction``.
    prefix : str
        Of the numbers' names.

    Attributes
    ----------
    numbers : dict of str to str
        For the chapter's prose; empty without a recording.
    rates : DataFrame or None
        What became of the queries, by style.
    """

    def __init__(self, name: str, prefix: str = "construction") -> None:
        self.numbers: dict[str, str] = {}
        self.rates: pd.DataFrame | None = None
        if has_recorded(RECORDED, name):
            made = replayed(recorded_folder(RECORDED, name), project_root() / "results" / "ledger")
            self.rates = made.report.frame("rates")
            self.numbers = construction_numbers(made, recorded_facts(RECORDED, name), prefix=prefix)

    def table(self, name: str, caption: str) -> NumberedTable:
        """Return what became of the queries, by style."""
        shown = None if self.rates is None else shown_construction(self.rates)
        return NumberedTable(_ABSENT if shown is None else shown, name, caption)
