"""The tables of the chapter on implicit grounding: buckets and the decomposition, as text too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.corpus.models import STYLES
from unbidden.report.tables import points, with_interval
from unbidden.stats.buckets import BUCKETS, bucket_scores
from unbidden.stats.decomposition import by_full_recall, starvation, unweighted, weighted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unbidden.stats.intervals import Interval

NOT_RUN = "not run"
ALL = "all"
LOSSES = ("retrieval", "representation", "response")


def by_style(scored: pd.DataFrame) -> Iterator[tuple[str, str, str, pd.DataFrame]]:
    """Yield judge, style and way with their rows, each style after all of them together."""
    for judge in dict.fromkeys(scored["judge"]):
        own = scored[scored["judge"] == judge]
        for way in dict.fromkeys(own["way"]):
            rows = own[own["way"] == way]
            yield judge, ALL, way, rows
            for style in STYLES:
                if len(of_style := rows[rows["style"] == style]):
                    yield judge, style, way, of_style


def buckets_table(scored: pd.DataFrame) -> pd.DataFrame:
    """Return share and mean score of each recall bucket.

    Parameters
    ----------
    scored : DataFrame
        From `unbidden.grounding.scored.scored_replies`.

    Returns
    -------
    DataFrame
        Columns ``judge, style, way, bucket, share, mean, low, high, n, conversations, unscored``.
    """
    records = []
    for judge, style, way, rows in by_style(scored):
        found = bucket_scores(rows["recall"], rows["score"], list(rows["conversation"]))
        for bucket in BUCKETS:
            one = found[bucket]
            records.append(
                {
                    **{"judge": judge, "style": style, "way": way, "bucket": bucket},
                    "share": one.share,
                    **_interval(one.score),
                    "unscored": one.unscored,
                }
            )
    return pd.DataFrame(records)


def _interval(found: Interval, name: str = "mean") -> dict[str, Any]:
    low, high = ("low", "high") if name == "mean" else (f"{name}_low", f"{name}_high")
    found_n = {"n": found.n, "conversations": found.clusters} if name == "mean" else {}
    return {name: found.mean, low: found.low, high: found.high, **found_n}


def shown_buckets(table: pd.DataFrame) -> pd.DataFrame:
    """Return `buckets_table` as text, one row for each judge, style and way."""
    records = []
    for keys, group in _grouped(table, ["judge", "style", "way"]):
        record: dict[str, Any] = dict(keys)
        for row in group.to_dict("records"):
            name = f"{row['bucket']} ({_MEANING[row['bucket']]})"
            text = with_interval(row["mean"], row["low"], row["high"])
            record[name] = f"{text}, n {row['n']}" if row["n"] else _none(row["unscored"])
        record["shares A / B / C"] = " / ".join(points(share, 0) for share in group["share"])
        record["unscored"] = int(group["unscored"].sum())
        records.append(record)
    return pd.DataFrame(records, dtype=object)


_MEANING = {"A": "all found", "B": "some", "C": "none"}


def _none(unscored: int) -> str:
    return NOT_RUN if unscored else "no reply"


def decomposition_table(scored: pd.DataFrame) -> pd.DataFrame:
    """Return the weighted decomposition and the paper's two others, by judge, style and way.

    Returns
    -------
    DataFrame
        Columns ``judge, style, way, n, left_out``; ``score, retrieval, representation, response``
        with ``_low`` and ``_high`` and their ``total``; the paper's ``partly_found, not_found,
        representation_a, ceiling, unweighted_total``; and ``first_retrieval,
        first_representation, first_response`` of its first version.
    """
    records = []
    for judge, style, way, rows in by_style(scored):
        arrays = (rows["recall"], rows["score"], rows["oracle"])
        homes = list(rows["conversation"])
        one, other, first = weighted(*arrays, homes), unweighted(*arrays, homes), None
        first = by_full_recall(*arrays)
        record: dict[str, Any] = {"judge": judge, "style": style, "way": way, "n": one.score.n}
        record["left_out"] = one.left_out
        for name in ("score", *LOSSES):
            record.update(_interval(getattr(one, name), name))
        record["total"] = one.total
        record.update(
            partly_found=other.partly_found.mean,
            not_found=other.not_found.mean,
            representation_a=other.representation.mean,
            ceiling=other.ceiling.mean,
            unweighted_total=other.total,
            first_retrieval=first.retrieval,
            first_representation=first.representation,
            first_response=first.response,
        )
        records.append(record)
    return pd.DataFrame(records)


def shown_weighted(table: pd.DataFrame) -> pd.DataFrame:
    """Return the weighted decomposition as text, in points."""
    rows = table.to_dict("records")
    return pd.DataFrame(
        [
            {
                **{key: row[key] for key in ("judge", "style", "way")},
                "n": int(row["n"]),
                **{name: _triple(row, name) for name in ("score", *LOSSES)},
                "sum": points(row["total"]),
                "left out": int(row["left_out"]),
            }
            for row in rows
        ],
        dtype=object,
    )


def shown_unweighted(table: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's decompositions as text, in points."""
    names = {
        "score": "score",
        "partly_found": "retrieval, B",
        "not_found": "retrieval, C",
        "representation_a": "representation",
        "ceiling": "ceiling",
        "unweighted_total": "sum",
        "first_retrieval": "first version: retrieval",
        "first_representation": "representation, first version",
        "first_response": "response, first version",
    }
    return pd.DataFrame(
        [
            {
                **{key: row[key] for key in ("judge", "style", "way")},
                "n": int(row["n"]),
                **{shown: points(row[name]) for name, shown in names.items()},
            }
            for row in table.to_dict("records")
        ],
        dtype=object,
    )


def _triple(row: dict[Any, Any], name: str) -> str:
    if not row["n"]:
        return NOT_RUN
    return with_interval(row[name], row[f"{name}_low"], row[f"{name}_high"])


def starvation_table(facts: pd.DataFrame, context: str, *, seed: int = 0) -> pd.DataFrame:
    """Return what neighbouring turns change for the oracle's fact score, by judge.

    Parameters
    ----------
    facts : DataFrame
        Items of implicit replies with the columns ``judge`` and ``way``.
    context : str
        The way with neighbouring turns.

    Returns
    -------
    DataFrame
        Columns ``judge, n, oracle, with_context, difference, low, high, p, failed, rescued, hurt``.
    """
    records = []
    for judge in dict.fromkeys(facts["judge"]):
        own = facts[(facts["judge"] == judge) & (facts["metric"] == "fact_use")]
        wide = own.pivot(index="query_id", columns="way", values="value")
        homes = own.drop_duplicates("query_id").set_index("query_id")["conversation"]
        if "oracle" not in wide or context not in wide:
            continue
        found = starvation(wide["oracle"], wide[context], list(homes.loc[wide.index]), seed=seed)
        both = wide[["oracle", context]].dropna()
        change = found.change
        records.append(
            {
                "judge": judge,
                "n": change.difference.n,
                "oracle": _mean(both["oracle"]),
                "with_context": _mean(both[context]),
                "difference": change.difference.mean,
                "low": change.difference.low,
                "high": change.difference.high,
                "p": change.p_value,
                "failed": found.failed,
                "rescued": found.rescued,
                "hurt": found.hurt,
            }
        )
    return pd.DataFrame(records)


def shown_starvation(table: pd.DataFrame) -> pd.DataFrame:
    """Return `starvation_table` as text, in points."""
    return pd.DataFrame(
        [
            {
                "judge": row["judge"],
                "n": int(row["n"]),
                "gold turns": points(row["oracle"]) if row["n"] else NOT_RUN,
                "with neighbours": points(row["with_context"]) if row["n"] else NOT_RUN,
                "difference": with_interval(row["difference"], row["low"], row["high"]),
                "0 with gold turns": int(row["failed"]),
                "of them more with neighbours": int(row["rescued"]),
                "0 with neighbours alone": int(row["hurt"]),
            }
            for row in table.to_dict("records")
        ],
        dtype=object,
    )


def _mean(values: pd.Series[float]) -> float | None:
    return float(values.mean()) if len(values) else None


def _grouped(
    table: pd.DataFrame, keys: list[str]
) -> Iterator[tuple[list[tuple[str, Any]], pd.DataFrame]]:
    if table.empty:
        return
    for values, group in table.groupby(keys, sort=False):
        yield list(zip(keys, values, strict=True)), group
