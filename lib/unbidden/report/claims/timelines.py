"""Evidence on THEANINE's claims: released replies scored again, counted costs, printed shares."""

from __future__ import annotations

from typing import Any

import pandas as pd

from unbidden.report.claims.rule import Measured
from unbidden.stats.proportions import difference_of_shares

CHAPTER = "06_timelines"
RELEASED = "gpt-3.5-turbo (released replies)"
PRINTED = "gpt-4 as judge (as printed)"
LENGTHS = "the replies with updated memories are longer, by another prompt perhaps"
METRICS = {"bleu4": "BLEU-4", "rouge_l": "ROUGE-L"}
_SETS = {"msc": "Multi-Session Chat", "cc": "Conversation Chronicles"}


def released_evidence(frame: pd.DataFrame, claim: str, *, sign: int, table: str) -> list[Measured]:
    """Return the differences between memory retrieval and another system's released replies.

    Parameters
    ----------
    frame : DataFrame
        From `compare_released`: second minus first, first being memory retrieval.
    sign : {1, -1}
        -1 turns the difference round, for a claim that memory retrieval is better.
    """
    rows: list[dict[Any, Any]] = frame[frame["first"] == "msc-retrieval"].to_dict("records")
    return [
        Measured(
            claim,
            METRICS[row["metric"]],
            _SETS[row["dataset"]],
            RELEASED,
            sign * row["difference"],
            sign * (row["low"] if sign > 0 else row["high"]),
            sign * (row["high"] if sign > 0 else row["low"]),
            int(row["n"]),
            int(row["episodes"]),
            CHAPTER,
            table,
            unit="points",
            note=LENGTHS if claim == "merging_hurts" else "",
        )
        for row in rows
        if row["metric"] in METRICS
    ]


def cost_evidence(costs: pd.DataFrame, *, dataset: str, model: str) -> list[Measured]:
    """Return what THEANINE's tokens are above retrieval's, and below those of updating.

    Both are counts. Where answers that other calls build on are not on record the count of the
    update is an upper bound, and no difference to it is known.
    """
    by_arm = costs.set_index("arm")
    if not {"theanine", "msc-retrieval", "memory-update"} <= set(by_arm.index):
        return []
    tokens = by_arm["input_tokens"].astype(float)
    open_ends = by_arm["bound"].fillna("") if "bound" in by_arm else pd.Series("", by_arm.index)
    base = tokens["theanine"]
    found = []
    for claim, more, less in (
        ("cost_over_retrieval", "theanine", "msc-retrieval"),
        ("cost_under_update", "memory-update", "theanine"),
    ):
        bound = next((open_ends[arm] for arm in (more, less) if open_ends[arm]), "")
        difference = (tokens[more] - tokens[less]) / base
        known = not bound
        found.append(
            Measured(
                claim,
                f"{more} − {less}",
                dataset,
                model,
                float(difference),
                None,
                None,
                1,
                1,
                CHAPTER,
                "tab-costs",
                exact=known,
                note="" if known else f"a bound: {bound}",
            )
        )
    return found


def linking_evidence(graphs: pd.DataFrame, *, dataset: str, model: str) -> list[Measured]:
    """Return the share of relation calls that stopping early spared, over all conversations."""
    pairs = graphs["pairs"].astype(float).sum() if "pairs" in graphs else 0.0
    if not pairs:
        return []
    spared = float(graphs["saved"].astype(float).sum() / pairs)
    table = "tab-graphs-msc" if dataset == _SETS["msc"] else "tab-graphs"
    return [
        Measured(
            "linking_saving",
            f"{int(pairs)} pairs",
            dataset,
            model,
            spared,
            None,
            None,
            len(graphs),
            len(graphs),
            CHAPTER,
            table,
            exact=True,
        )
    ]


def printed_evidence(published: pd.DataFrame) -> list[Measured]:
    """Return what the paper's own printed shares can tell, from the numbers of questions behind.

    Table 4 (TeaFarm, 100 questions a data set) and Table 3 (50 turns chosen and judged by hand).
    """
    found = []
    tea = published[published["metric"] == "teafarm_success"]
    for dataset in _SETS:
        own = tea[tea["dataset"] == dataset].set_index("system")["value"]
        found.append(_shares("teafarm", own, 100, 1.0, _SETS[dataset], PRINTED, "Table 4"))
    golden = published[published["metric"] == "golden_memory_retrieved"].set_index("system")
    found.append(
        _shares(
            "golden_memory",
            golden["value"],
            50,
            0.01,
            "turns chosen by hand",
            "people (as printed)",
            "Table 3",
        )
    )
    return found


def _shares(
    claim: str, values: pd.Series[Any], n: int, scale: float, dataset: str, model: str, where: str
) -> Measured:
    first, second = (
        round(float(values[system]) * scale * n) for system in ("theanine", "msc-retrieval")
    )
    found = difference_of_shares(first, n, second, n)
    return Measured(
        claim,
        f"{first} and {second} of {n}",
        dataset,
        model,
        found.mean,
        found.low,
        found.high,
        2 * n,
        0,
        "published",
        where,
        note="from printed shares, as if the samples were independent",
    )
