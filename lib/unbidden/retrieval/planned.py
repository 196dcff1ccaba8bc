"""What the systems that were not run would take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.llm.client import Client
from unbidden.llm.session import PlanningLLM
from unbidden.memory.registry import create_system

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from unbidden.corpus.models import Corpus
    from unbidden.llm.base import LLM
    from unbidden.retrieval.run import Rankings

COLUMNS = ["system", "conversations", "calls", "input_tokens"]


def plan_unrecorded(
    corpus: Corpus,
    rankings: Iterable[Rankings],
    *,
    llm: LLM,
    per_system: Mapping[str, Mapping[str, object]],
    **options: object,
) -> pd.DataFrame:
    """Return, for each system that lacks recorded calls, how many calls are still to be made.

    Nothing is asked. Where a call builds on the answer to another, only the first is known: then
    `calls` is a lower bound, as it is for every system that changes memories it has made.

    Returns
    -------
    DataFrame
        Columns `COLUMNS`: one row for each system, with the number of conversations that wait,
        and the calls and input tokens (estimated) of storing them.
    """
    rows = []
    for ranking in rankings:
        waiting = ranking.not_run
        if not waiting or not isinstance(llm, Client):
            continue
        planning = PlanningLLM(llm)
        own = per_system.get(ranking.system, {})
        system = create_system(ranking.system, own=own, llm=planning, **options)
        for key in waiting:
            system.ingest(corpus.conversation(key))
        plan = planning.plan()
        tokens = sum(row.input_tokens for row in plan.rows)
        rows.append((ranking.system, len(waiting), plan.to_ask, tokens))
    return pd.DataFrame(rows, columns=COLUMNS)
