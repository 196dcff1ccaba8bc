"""The numbers a chapter's prose cites, formatted once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.llm.local.models import local_models
from unbidden.queries.audit import leak_items, leak_rates, query_items
from unbidden.queries.clusters import mine_pairs
from unbidden.report.paired import style_drop
from unbidden.report.retrieval.systems import model_of, models_by_system
from unbidden.report.summary import complete_conversations, means, select
from unbidden.report.tables import points, with_interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.config import RetrievalConfig
    from unbidden.corpus.audit import Audit
    from unbidden.corpus.models import Corpus
    from unbidden.queries.construction.building import Construction
    from unbidden.retrieval import Rankings


def retrieval_numbers(items: pd.DataFrame, k: int) -> dict[str, str]:
    """Return recall at K of every system and style, and the paired changes, as text.

    Names: ``k``; ``n_STYLE``; ``recall_STYLE_SYSTEM`` over all conversations; over those that have
    every style, ``same_STYLE_SYSTEM``, ``change_STYLE_SYSTEM`` and ``same_conversations``.
    """
    rows = select(items, "recall", k)
    numbers = {"k": str(k), "systems": str(rows["system"].nunique())}
    for _, row in means(rows, ["style", "system"]).iterrows():
        name = f"{row['style']}_{row['system']}"
        numbers[f"n_{row['style']}"] = f"{row['n']:,}"
        numbers[f"recall_{name}"] = points(row["mean"])
        numbers[f"interval_{name}"] = with_interval(row["mean"], row["low"], row["high"])
    same = complete_conversations(rows)
    numbers["same_conversations"] = str(same["conversation"].nunique())
    for _, row in means(same, ["style", "system"]).iterrows():
        numbers[f"same_{row['style']}_{row['system']}"] = points(row["mean"])
    for _, row in style_drop(same).iterrows():
        if pd.isna(row["difference"]):
            numbers[f"change_{row['style']}_{row['system']}"] = points(None)
            continue
        sign = "−" if row["difference"] < 0 else "+"
        change = sign + points(abs(row["difference"]))
        numbers[f"change_{row['style']}_{row['system']}"] = change
    return numbers


ONE_SHARED = (
    "Its intervals are over the queries of this one conversation and say nothing about others. "
)
SMALL_MODELS = "They are small local models that run on a laptop. "


def systems_numbers(
    config: RetrievalConfig,
    rankings: Sequence[Rankings],
    shared: Sequence[str],
    left_out: Sequence[str] = (),
) -> dict[str, str]:
    """Return what the text says of the model that built memories, and of what was not run.

    Parameters
    ----------
    shared : sequence of str
        Conversations of the table of shared ones.
    left_out : sequence of str
        Systems with a score that are not in it.
    """
    modelled = [ranking for ranking in rankings if ranking.info.needs_llm]
    gaps = {ranking.system: bool(ranking.ingests) for ranking in modelled if ranking.not_run}
    unrun = [name for name, partly in gaps.items() if not partly]
    partial = [name for name, partly in gaps.items() if partly]
    missing = [
        f"{what}: {', '.join(names)}."
        for what, names in (("Not run", unrun), ("Not run on every conversation", partial))
        if names
    ]
    names = {model_of(config, ranking.system) for ranking in modelled}
    local = names and names <= set(local_models())
    one = "It is a small local model that runs on a laptop. "
    small = (one if len(names) < 2 else SMALL_MODELS) if local else ""
    return {
        "memory_model": models_by_system(config, [ranking.system for ranking in modelled]),
        "model_note": small + (" ".join(missing) or "All of them were run.")
        if modelled
        else "No system of this run has one.",
        "shared_systems": ", ".join(shared) or "no conversation",
        "shared_note": ONE_SHARED if len(shared) == 1 else "",
        "left_out": f"Not in it: {', '.join(left_out)}." if left_out else "It has them all.",
        "max_failed": f"{config.max_failed:.0%}".replace("%", " %"),
    }


def dataset_numbers(found: Audit, pairs: dict[str, dict[str, int]]) -> dict[str, str]:
    """Return the counts of a corpus, as text."""
    numbers = {
        name: f"{getattr(found, name):,}"
        for name in ("conversations", "sessions", "turns", "captions", "questions", "clusters")
    }
    for policy, counts in pairs.items():
        numbers[f"pairs_{policy}"] = f"{sum(counts.values()):,}"
    for name, key in (
        ("answerable", "answerable"),
        ("scored", "answerable with evidence"),
        ("with_evidence", "with evidence"),
    ):
        numbers[name] = f"{found.denominators[key]:,}"
    numbers["evidence_changes"] = str(len(found.evidence_changes))
    numbers["irregularities"] = str(len(found.irregularities))
    return numbers


def leak_numbers(corpus: Corpus) -> dict[str, str]:
    """Return the share of composed queries that leak, by build, and of nested pairs, as text.

    A leak is more than a tenth of the answers' words by the repaired measure.
    """
    rates = leak_rates(leak_items(query_items(corpus)))
    chosen = rates[(rates["measure"] == "repaired") & (rates["style"] == "composed")]
    above = dict(zip(chosen["subset"], chosen["above"], strict=True))
    pairs = [pair for item in corpus.conversations for pair in mine_pairs(item)]
    nested = sum(pair.nested for pair in pairs) / len(pairs) if pairs else None
    return {
        "leak_first": points(above.get("first"), 0),
        "leak_extension": points(above.get("extension"), 0),
        "nested": points(nested, 0),
    }


_ATTEMPTS = {
    0: "no second attempt at a query",
    1: "one more attempt at a query that failed a check",
    2: "up to two more attempts at a query that failed a check",
    3: "up to three more attempts at a query that failed a check",
    None: "up to three more attempts at a query that failed a check",
}


def construction_numbers(
    made: Construction, facts: Mapping[str, Any], *, prefix: str = "construction"
) -> dict[str, str]:
    """Return what a recorded construction was of, as text.

    Parameters
    ----------
    facts : mapping
        Its ``run.json``.
    prefix : str
        Of the names.
    """
    rates = made.report.frame("rates").set_index("style")
    asked, kept = rates["asked"], rates["kept"]
    return {
        f"{prefix}_model": str(facts["model"]),
        f"{prefix}_questions": str(int(asked["dialog"])),
        f"{prefix}_groups": str(int(asked.get("composed", 0))),
        f"{prefix}_attempts": _ATTEMPTS[facts["regenerations"]],
        f"{prefix}_asked": str(int(asked["all"])),
        f"{prefix}_kept": str(int(kept["all"])),
    }
