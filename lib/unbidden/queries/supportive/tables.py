"""The supportive layer in numbers: its size, who agrees with whom, and recall when it counts."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pandas as pd

from unbidden.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from unbidden.corpus.models import TurnId
    from unbidden.queries.build import Query
    from unbidden.queries.supportive.layer import Layer

NO_GOLD = "no evidence is cited for this question"
NO_SUPPORTIVE = "no supportive turn is known for this question"


def layer_size(layers: Mapping[str, Layer]) -> pd.DataFrame:
    """Return one row per named layer.

    Returns
    -------
    DataFrame
        Columns ``layer, held_out, questions, turns, per_question, median, most, one_system,
        two_or_more``: questions with a turn; question-turn pairs; pairs per such question (mean,
        median, largest); pairs by the number of systems that vote for them.
    """
    records = []
    for name, layer in layers.items():
        counts = pd.Series([len(items) for items in layer.turns.values() if items], dtype=float)
        voters = [len(item.systems) for _, item in layer]
        records.append(
            {
                "layer": name,
                "held_out": ", ".join(layer.held_out),
                "questions": len(counts),
                "turns": int(counts.sum()),
                "per_question": counts.mean(),
                "median": counts.median(),
                "most": counts.max(),
                "one_system": sum(n == 1 for n in voters),
                "two_or_more": sum(n > 1 for n in voters),
            }
        )
    return pd.DataFrame(records)


def layer_overlap(layer: Layer) -> pd.DataFrame:
    """Return how far the systems' votes agree, one row per pair of systems.

    Returns
    -------
    DataFrame
        Columns ``a, b, turns_a, turns_b, both, jaccard``, over question-turn pairs; `a` equals
        `b` in the rows that give one system's own votes, and `alone` those only it cast.
    """
    votes = {
        name: {(key, item.turn) for key, item in layer if name in item.systems}
        for name in layer.systems
    }
    pairs = [*((name, name) for name in votes), *combinations(votes, 2)]
    records = []
    for a, b in pairs:
        others = set().union(*(turns for name, turns in votes.items() if name != a))
        records.append(
            {
                "a": a,
                "b": b,
                "turns_a": len(votes[a]),
                "turns_b": len(votes[b]),
                "both": len(votes[a] & votes[b]),
                "jaccard": len(votes[a] & votes[b]) / len(votes[a] | votes[b]),
                "alone": len(votes[a] - others) if a == b else pd.NA,
            }
        )
    columns = ["a", "b", "turns_a", "turns_b", "both", "jaccard", "alone"]
    return pd.DataFrame(records, columns=columns).astype({"alone": "Int64"})


def layer_recall(
    queries: Sequence[Query],
    turns: Sequence[Collection[TurnId]],
    layer: Layer,
) -> pd.DataFrame:
    """Return each query's recall of gold, of supportive turns, and of both together.

    Gold turns never count as supportive. A query without gold, or without a supportive turn, is
    unscored where that is asked for; "both" asks for both.

    Parameters
    ----------
    queries : sequence of Query
        Of one question each; the layer is made for implicit ones.
    turns : sequence of collection of TurnId
        The source turns of the first K memories found for each query.

    Returns
    -------
    DataFrame
        Columns ``conversation, query_id, style, category, metric, value, unscored``; metrics
        ``recall`` (gold), ``recall_supportive``, ``recall_both``, and ``recall_same``: gold alone
        over the very queries that have a supportive turn, to compare ``recall_both`` with.

    Raises
    ------
    ConfigError
        If a query joins several questions, or the lengths differ.
    """
    if len(queries) != len(turns):
        raise ConfigError(
            "rankings do not fit the queries", expected=str(len(queries)), got=str(len(turns))
        )
    records = []
    for query, found in zip(queries, turns, strict=True):
        if len(query.members) != 1:
            raise ConfigError(
                "the supportive layer knows single questions only",
                expected="queries of one question",
                got=query.id,
            )
        helpful = layer.ids((query.conversation, query.members[0])) - query.gold
        unscored = NO_GOLD if not query.gold else None
        missing = unscored or (NO_SUPPORTIVE if not helpful else None)
        for metric, wanted, reason in (
            ("recall", query.gold, unscored),
            ("recall_supportive", helpful, None if helpful else NO_SUPPORTIVE),
            ("recall_both", query.gold | helpful, missing),
            ("recall_same", query.gold, missing),
        ):
            value = float("nan") if reason else len(wanted & set(found)) / len(wanted)
            records.append(
                (query.conversation, query.id, query.style, query.category, metric, value, reason)
            )
    columns = ["conversation", "query_id", "style", "category", "metric", "value", "unscored"]
    return pd.DataFrame(records, columns=columns).astype({"category": "Int8"})
