"""Recall against K, and against what K costs a prompt: distinct turns and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.memory.presets import needs_model
from unbidden.report import figures
from unbidden.report.summary import means, scored_systems, select, shared_conversations
from unbidden.report.tables import spread
from unbidden.retrieval import Rules, retrieve, score_rankings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from unbidden.config import AblationsConfig
    from unbidden.corpus.models import Corpus
    from unbidden.llm.base import LLM
    from unbidden.queries.build import Query

UNITS = {"recall": "memories", "recall_turns": "turns", "recall_tokens": "tokens"}
DRAWN = ("question", "implicit", "composed")


def curve_items(
    corpus: Corpus, queries: Sequence[Query], llm: LLM, config: AblationsConfig
) -> pd.DataFrame:
    """Return recall of every system at every K and budget, in the columns of the items table.

    A system whose calls are not on record is unscored there, with the reason.
    """
    rankings = retrieve(
        corpus,
        queries,
        config.systems,
        depth=config.depth,
        rules=Rules(unrecorded="unscored"),
        per_system={name: config.system_options.get(name, {}) for name in config.systems},
        protocol=config.protocol,
        embedder=config.embedder,
        llm=llm,
    )
    items = score_rankings(
        corpus.name,
        rankings,
        ks=config.all_ks,
        turn_budgets=config.turn_budgets,
        token_budgets=config.token_budgets,
        condition=config.protocol,
    )
    return items[items["metric"].isin(UNITS)].reset_index(drop=True)


def curve_means(items: pd.DataFrame) -> pd.DataFrame:
    """Return mean recall by style, system, unit and budget, with intervals."""
    rows = pd.concat([select(items, metric).assign(unit=unit) for metric, unit in UNITS.items()])
    found = means(rows, ["unit", "style", "system", "k"])
    order = list(UNITS.values())
    return found.sort_values("unit", key=lambda s: s.map(order.index), kind="stable")


def curves_figure(summary: pd.DataFrame) -> Figure:
    """Return recall of systems without a model against each unit, for three styles."""
    kept = summary.loc[[not needs_model(name) for name in summary["system"]]]
    if kept["mean"].isna().all():
        return figures.nothing_to_draw("No system without a model has a score by turn ids.")
    styles = [style for style in DRAWN if style in set(kept["style"])] or list(
        dict.fromkeys(kept["style"])
    )
    return figures.budget_curves(kept[kept["style"].isin(styles)])


def shared_budgets(items: pd.DataFrame) -> pd.DataFrame:
    """Return mean recall at token budgets over the conversations all systems that ran have."""
    rows = scored_systems(select(items, "recall_tokens"))
    return means(shared_conversations(rows), ["style", "k", "system"])


def shown_budgets(found: pd.DataFrame) -> pd.DataFrame:
    """Return `shared_budgets` as a grid, one row for each style and budget."""
    if found.empty:
        return found
    named = found.assign(
        put=[f"{s}, {k} tokens" for s, k in zip(found["style"], found["k"], strict=True)]
    )
    shown = spread(named, "put", "system", extra={"n": "n", "conversations": "conv."})
    return shown.rename(columns={"put": "style, budget"})


def unrun(items: pd.DataFrame) -> list[str]:
    """Return the systems without any value: their calls are not on record."""
    scored = items.groupby("system", sort=False)["value"].apply(lambda v: v.notna().any())
    return [str(name) for name, any_value in scored.items() if not any_value]


def curve_numbers(items: pd.DataFrame) -> dict[str, str]:
    """Return what the text says of systems that were not run."""
    absent = unrun(items)
    note = f"Not run: {', '.join(absent)}." if absent else "All systems of the table were run."
    return {"unrun_note": note}
