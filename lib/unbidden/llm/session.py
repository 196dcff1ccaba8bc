"""The model calls of one chapter, opened from its parameters: replayed, recorded, live, planned."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbidden.atomic import write_text
from unbidden.config import project_root, run_folder
from unbidden.llm.base import LLM, AskedOf, Call, Prepared
from unbidden.llm.budget import Budget
from unbidden.llm.client import Client, connect
from unbidden.llm.outcome import Outcome
from unbidden.llm.plan import Plan, Tally
from unbidden.llm.settings import LLMSettings

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from unbidden.config import ModelConfig

PLAN_VARIABLE = "UNBIDDEN_PLAN"
"""Set by ``unbidden plan``: the file a chapter writes its plan to instead of making calls."""
PLANNED = "this run only plans"
"""Reason of an outcome that is not there because its call is not on record."""


def open_llm(config: ModelConfig) -> LLM:
    """Return what a chapter asks its models through; close it, or use it as a context.

    Prompts of the reader's own lie in the project's folder ``prompts``, recorded calls in
    ``results/ledger``. A run's own ledger lies beside its chapters and outlives a failed one,
    so that nothing is paid twice.

    Raises
    ------
    ConfigError, LLMError, DataError
        If the ledger or a recording cannot be used.
    """
    recordings = project_root() / "results" / "ledger"
    planning = os.environ.get(PLAN_VARIABLE, "").strip()
    client = connect(
        LLMSettings.of(
            config.answer_model,
            config.judge_model or None,
            memory=config.memory_model or None,
            rewriter=config.rewriter_model or None,
            systems=config.models_of_systems(),
            **_how_calls_are_made(config),
        ),
        "replay" if planning else config.llm_mode,
        ledger=run_folder(config.run, "ledger").with_suffix(".sqlite"),
        recorded=recordings if recordings.is_dir() else None,
        run=f"{config.chapter}, run {config.run}",
        prompt_folders=[own] if (own := project_root() / "prompts").is_dir() else [],
        budget=Budget(config.max_calls, config.max_tokens, config.max_money),
    )
    return PlanningLLM(client, Path(planning)) if planning else client


def _how_calls_are_made(config: ModelConfig) -> dict[str, Any]:
    """Return how calls are made: a local model has one slot and needs patience."""
    if config.local_model:
        patience = max(config.call_seconds, 900.0)
        return {"concurrency": 1, "timeout": patience, "serves": config.local_model}
    return {"concurrency": config.concurrency, "timeout": config.call_seconds}


class PlanningLLM(LLM):
    """Answers what is on record, and only counts the rest.

    A call that is not on record comes back as *planned*, so what would depend on its answer is not
    asked: the plan is exact for calls whose text is known, and a lower bound where calls build on
    each other.

    Parameters
    ----------
    client : Client
        For prompts, models, prices and known answers; it sends nothing.
    path : Path, optional
        Where the plan is written, after every batch.
    """

    def __init__(self, client: Client, path: Path | None = None) -> None:
        self.client, self._path = client, path
        self._tally = Tally(client)
        self._items: dict[Hashable, Prepared] = {}

    def ask_many(self, calls: Iterable[Call], *, label: str = "") -> list[Outcome[Any]]:
        """Return known outcomes, and "planned" for the rest."""
        batch = [self.client.prepare(call) for call in calls]
        self._items.update((item.identity, item) for item in batch)
        found = [self._tally.add(item) for item in batch]
        if self._path is not None:
            write_text(self._path, str(self.plan()) + "\n")
        return [outcome or Outcome("planned", PLANNED) for outcome in found]

    def for_system(self, name: str) -> LLM:
        """Return what a memory system asks: its own model, if the settings name one for it."""
        model = self.client.settings.systems.get(name)
        return AskedOf(self, model) if model else self

    def plan(self) -> Plan:
        """Return the plan of everything asked so far."""
        return self._tally.plan()

    def answered(self) -> list[tuple[Prepared, Outcome[Any]]]:
        """Return the different calls asked so far that are on record, with their outcomes."""
        found = ((item, self.client.known(item)) for item in self._items.values())
        return [(item, outcome) for item, outcome in found if outcome is not None]

    def close(self) -> None:
        """Close the files of the client."""
        self.client.close()


def known_only(llm: LLM) -> LLM:
    """Return a model that answers what is on record, call by call, and plans the rest.

    A client that replays stops at the first batch of which one call is missing; with this one a
    recording that is not complete yet can be shown as far as it goes. A model without a record is
    returned as it is.
    """
    return PlanningLLM(llm) if isinstance(llm, Client) else llm


def asking(config: ModelConfig, llm: LLM) -> LLM:
    """Return what replies and verdicts are asked of: a run that replays takes what is on record."""
    return known_only(llm) if config.llm_mode == "replay" else llm
