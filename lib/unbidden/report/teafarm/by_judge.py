"""The same replies by three judges: success by each, and how often two agree."""

from __future__ import annotations

import pandas as pd

from unbidden.report.summary import means
from unbidden.report.tables import points, with_interval
from unbidden.report.teafarm.tables import of_judge
from unbidden.stats import clustered_share, compare_paired

NAMES = {"repaired": "our rubric", "paper": "the paper's", "words": "word rule"}


def rates(talk: pd.DataFrame) -> pd.DataFrame:
    """Return each agent's success rate by judge; see `unbidden.report.summary.means`."""
    scored = talk[talk["value"].notna()]
    return means(scored, ["system", "judge"]) if len(scored) else pd.DataFrame()


def shown_rates(table: pd.DataFrame) -> pd.DataFrame:
    """Return `rates` as text, one row an agent."""
    rows = []
    for agent, group in table.groupby("system", sort=False) if len(table) else ():
        found = {
            NAMES[row["judge"]]: f"{with_interval(row['mean'], row['low'], row['high'])}"
            f" (n {row['n']})"
            for row in group.to_dict("records")
        }
        rows.append(
            {"agent": agent, **{name: found.get(name, "not run") for name in NAMES.values()}}
        )
    return pd.DataFrame(rows, dtype=object)


def judges_agree(talk: pd.DataFrame, first: str) -> pd.DataFrame:
    """Return how often two judges say the same about success, over replies both judged.

    Returns
    -------
    DataFrame
        Columns ``first, second, n, same, low, high, only_first, only_second, detectable``: numbers
        of replies that only one of them counts as a success, and the difference of their success
        rates that so many replies would show (see `unbidden.stats.Comparison`).
    """
    keys = ["source", "query_id", "system"]
    records = []
    one = of_judge(talk, first).set_index(keys)
    for second in dict.fromkeys(talk["judge"]):
        if second == first:
            continue
        both = one[["value", "conversation"]].join(
            of_judge(talk, second).set_index(keys)["value"].rename("other")
        )
        both = both[both["value"].notna() & both["other"].notna()]
        found = clustered_share(
            (both["value"] == both["other"]).to_numpy(float), list(both["conversation"])
        )
        records.append(
            {
                "first": first,
                "second": second,
                "n": found.n,
                "same": found.mean,
                "low": found.low,
                "high": found.high,
                "only_first": int((both["value"] > both["other"]).sum()),
                "only_second": int((both["value"] < both["other"]).sum()),
                "detectable": compare_paired(
                    both["value"], both["other"], list(both["conversation"])
                ).detectable,
            }
        )
    return pd.DataFrame(records)


def shown_judges_agree(table: pd.DataFrame) -> pd.DataFrame:
    """Return `judges_agree` as text."""
    return pd.DataFrame(
        {
            "judges": [
                f"{NAMES[a]} and {NAMES[b]}"
                for a, b in zip(table["first"], table["second"], strict=True)
            ],
            "n": table["n"],
            "same verdict": [
                with_interval(*triple) if n else "not run"
                for n, *triple in zip(
                    table["n"], table["same"], table["low"], table["high"], strict=True
                )
            ],
            "only the first accepts": table["only_first"],
            "only the second accepts": table["only_second"],
            "detectable": [points(value) for value in table["detectable"]],
        },
        dtype=object,
    )
