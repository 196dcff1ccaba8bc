"""All switches by name, measured one after the other; a row without a value says why."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import pandas as pd

from unbidden.errors import ConfigError, NotRecorded, closest
from unbidden.report.faults import (
    asked,
    audit,
    averaging,
    crediting,
    graph,
    release,
    replying,
    scoring,
    storing,
    timelines,
)
from unbidden.report.faults.base import Context, Effect, Fault, not_measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.config import AblationsConfig
    from unbidden.corpus.models import Corpus
    from unbidden.llm.base import LLM

MODULES = (
    *(scoring, crediting, averaging, storing, replying),
    *(asked, graph, timelines, release, audit),
)
FAULTS: dict[str, Fault] = {fault.name: fault for module in MODULES for fault in module.FAULTS}
"""In the order of the table."""

COLUMNS = [field for field in Effect.__dataclass_fields__]
NOT_RECORDED = "not run: its model calls are not on record"
NOT_NOW = "measured on real data only; see the recorded rows"


def measure_faults(corpus: Corpus, llm: LLM, config: AblationsConfig) -> pd.DataFrame:
    """Return the effects of every switch the config names, all if it names none.

    Switches of the conversations are measured on `corpus`. Those of released replies and of the
    audit are measured if `config.real` says so; else their rows are left to the recorded run.

    Returns
    -------
    DataFrame
        The fields of `Effect`; one row or more for each switch, the headline first. A row whose
        `unscored` is not empty is not measured.

    Raises
    ------
    ConfigError
        If a name is unknown.
    DataError
        If real data are to be measured and are not there.
    """
    context = Context(corpus, config, llm)
    rows: list[Effect] = []
    for name in config.faults or FAULTS:
        if name not in FAULTS:
            raise ConfigError(
                f"unknown switch {name!r}",
                expected=closest(name, FAULTS),
                next_step="correct the parameter `faults`",
            )
        rows += _measured(context, FAULTS[name])
    return pd.DataFrame([asdict(row) for row in rows], columns=COLUMNS)


def _measured(context: Context, fault: Fault) -> list[Effect]:
    if fault.data in ("release", "audit") and context.config.real == "recorded":
        return [not_measured(fault, "–", NOT_NOW)]
    try:
        return fault.measure(context)
    except NotRecorded:
        return [not_measured(fault, context.corpus.name, NOT_RECORDED)]


def is_measured(effects: pd.DataFrame) -> pd.Series[bool]:
    """Return which rows have a value."""
    return effects["unscored"].fillna("").eq("") & effects["difference"].notna()


def measured_switches(effects: pd.DataFrame) -> list[str]:
    """Return the names of the switches with at least one measured row, in the table's order."""
    measured = set(effects.loc[is_measured(effects), "fault"])
    return [name for name in FAULTS if name in measured]


def with_recorded(live: pd.DataFrame, recorded: pd.DataFrame | None) -> pd.DataFrame:
    """Return live effects and, after them, recorded ones of other data; told apart by ``when``.

    A recorded row gives way to a live one of the same switch, data set and measure.
    """
    now = live.assign(when="this run")
    if recorded is None or recorded.empty:
        return now
    key = ["fault", "dataset", "measure", "first", "second"]
    measured = now[is_measured(now)]
    have = set(measured[key].itertuples(index=False, name=None))
    kept = [row not in have for row in recorded[key].itertuples(index=False, name=None)]
    older = recorded[kept].assign(when="recorded")
    older = older[is_measured(older)]
    # A row that only says "see the recorded rows" has done so once they are here.
    answered = set(older["fault"])
    stays = is_measured(now) | ~now["fault"].isin(answered)
    both = pd.concat([now[stays], older], ignore_index=True)
    order = {name: i for i, name in enumerate(FAULTS)}
    return both.sort_values("fault", key=lambda s: s.map(order), kind="stable", ignore_index=True)


def headlines(effects: pd.DataFrame, names: Sequence[str] = ()) -> pd.DataFrame:
    """Return the first row of each switch and data set."""
    rows = effects[effects["fault"].isin(names)] if names else effects
    return rows.drop_duplicates(["fault", "dataset"]).reset_index(drop=True)


def measured_headlines(effects: pd.DataFrame) -> pd.DataFrame:
    """Return the first measured row of each switch and data set."""
    return headlines(effects[is_measured(effects)])
