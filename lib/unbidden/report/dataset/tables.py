"""The audit tables of the dataset chapter, formatted; their frames may come from a CSV."""

from __future__ import annotations

from typing import Any

import pandas as pd

from unbidden.corpus.models import CATEGORIES
from unbidden.report.tables import points, spread


def shown_leaks(rates: pd.DataFrame) -> pd.DataFrame:
    """Return leak rates as a grid: mean share of answer words, and queries above the threshold.

    Parameters
    ----------
    rates : DataFrame
        From `unbidden.queries.audit.leak_rates`, by style and subset or nesting.
    """
    by = [name for name in ("style", "subset", "nested") if name in rates]
    records = []
    if "subset" in rates:
        # A corpus built at one go has no first build to set apart.
        whole = rates.groupby("style")["subset"].transform("nunique").eq(1)
        rates = rates.assign(subset=rates["subset"].mask(whole, "all"))
    for key, group in rates.groupby(by, sort=False, dropna=False):
        values = dict(zip(by, key, strict=True))
        record: dict[str, Any] = {"queries": _label(values), "n": int(group["n"].iloc[0])}
        for _, row in group.iterrows():
            record[f"{row['measure']}: mean"] = points(row["mean"])
            record[f"{row['measure']}: above 10 %"] = points(row["above"], 0)
        records.append(record)
    return pd.DataFrame(records, dtype=object)


def _label(values: dict[str, Any]) -> str:
    text = str(values["style"])
    if "nested" in values:
        return f"{text}, {'nested' if str(values['nested']) == 'True' else 'not nested'}"
    return text if values["subset"] == "all" else f"{text}, {values['subset']}"


def shown_lengths(lengths: pd.DataFrame, cues: pd.DataFrame) -> pd.DataFrame:
    """Return words per query, and the share that asks for a memory outright, by style."""
    asked = cues[cues["cue"] == "any"].set_index("style")["share"]
    return pd.DataFrame(
        {
            "style": lengths["style"].astype(str),
            "queries": lengths["n"],
            "words: median": [f"{value:.0f}" for value in lengths["median"]],
            "quartiles": [
                f"{low:.0f} to {high:.0f}"
                for low, high in zip(lengths["q1"], lengths["q3"], strict=True)
            ],
            "longest": [f"{value:.0f}" for value in lengths["longest"]],
            "asks for a memory, %": [points(asked[style]) for style in lengths["style"]],
        },
        dtype=object,
    )


def shown_premises(premises: pd.DataFrame) -> pd.DataFrame:
    """Return whether counterfactual queries state their wrong value, by category."""
    names = [
        "all" if pd.isna(number) else CATEGORIES[int(number)] for number in premises["category"]
    ]
    return pd.DataFrame(
        {
            "category": names,
            "queries": premises["queries"],
            "state it": premises["stated"],
            "do not": premises["not_stated"],
            "words cannot tell": premises["untold"],
            "hold a word of the right answer": premises["gives_gold"],
        },
        dtype=object,
    )


def shown_naturalness(counts: pd.DataFrame) -> pd.DataFrame:
    """Return how naturally each category's facts can be asked for, as the rewriter judged."""
    named = counts.assign(
        category=[
            "all" if pd.isna(number) else CATEGORIES[int(number)] for number in counts["category"]
        ]
    )
    grid = named.pivot(index="category", columns="naturalness", values="n").fillna(0).astype(int)
    order = [name for name in [*CATEGORIES.values(), "all"] if name in grid.index]
    columns = [name for name in ("high", "medium", "low", "not given") if name in grid.columns]
    return grid.loc[order, columns].reset_index().astype(object)


def shown_leaky(leaks: pd.DataFrame, items: pd.DataFrame, *, most: int = 6) -> pd.DataFrame:
    """Return the composed queries that give most of their answers away, by the repaired measure."""
    worst = leaks[(leaks["measure"] == "repaired") & (leaks["style"] == "composed")]
    worst = worst[worst["answer_share"] > 0].sort_values(
        ["answer_share", "query_id"], ascending=[False, True]
    )
    texts = items[items["style"] == "composed"].set_index("query_id")["text"]
    return pd.DataFrame(
        {
            "query": worst["query_id"],
            "gives away, %": [points(share, 0) for share in worst["answer_share"]],
            "words": [", ".join(words) for words in worst["words"]],
            "text": [texts[query] for query in worst["query_id"]],
        },
        dtype=object,
    ).head(most)


def shown_supportive(sizes: pd.DataFrame) -> pd.DataFrame:
    """Return the size of supportive layers, one row each."""
    return pd.DataFrame(
        {
            "layer": sizes["layer"],
            "questions": sizes["questions"],
            "turns": sizes["turns"],
            "turns a question": [f"{value:.1f}" for value in sizes["per_question"]],
            "of one system": sizes["one_system"],
            "of two or more": sizes["two_or_more"],
        },
        dtype=object,
    )


def shown_supportive_recall(means: pd.DataFrame) -> pd.DataFrame:
    """Return recall of gold, of supportive turns and of both, by system."""
    names = {
        "recall_same": "gold alone, same questions",
        "recall_supportive": "supportive",
        "recall_both": "gold and supportive",
    }
    rows = means[means["metric"].isin(names)].assign(
        target=lambda frame: frame["metric"].map(names)
    )
    return spread(rows, "target", "system", extra={"n": "n"})


def shown_construction(rates: pd.DataFrame) -> pd.DataFrame:
    """Return what became of the queries of a construction, by style; counts, not shares."""
    return pd.DataFrame(
        {
            "style": rates["style"],
            "asked": rates["asked"],
            "unscored": rates["unscored"],
            "no problem at first": rates["first_clean"],
            "at the end": rates["clean"],
            "judged": rates["judged"],
            "judge says yes": rates["yes"],
            "passed": rates["passed"],
            "kept": rates["kept"],
        },
        dtype=object,
    )
