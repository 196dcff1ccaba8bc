"""Replies that chose their memories while thinking, against the oracle's; and what they vote for.

A turn that such a reply cites, though it is no gold evidence, supports it if the reply is judged no
worse than the one given the gold turns (LoCoMo-Conv 3.3).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.grounding.silent import ORACLE, TOTAL
from unbidden.queries.supportive.layer import Citation, Verdict, Winner, build_layer
from unbidden.queries.supportive.tables import layer_recall
from unbidden.retrieval.score import turn_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from unbidden.corpus.models import TurnId
    from unbidden.queries.build import Query
    from unbidden.queries.supportive.layer import Layer, QuestionKey
    from unbidden.reply.answer import Answer
    from unbidden.retrieval.run import Rankings

_WINNER: Mapping[float, Winner] = {1.0: "cot", 0.0: "tie", -1.0: "oracle"}
POOLS = ("all", "both without the fact", "both with the fact")


def cited_only(table: pd.DataFrame) -> pd.DataFrame:
    """Return replies with the memories they cite as their memories.

    Against these the paper grades them: evidence the reply chose for itself.
    """
    chosen = [
        [memories[number - 1] for number in cited]
        for memories, cited in zip(table["memories"], table["cited"], strict=True)
    ]
    return table.assign(memories=pd.Series(chosen, index=table.index, dtype=object))


def pool_of(items: pd.DataFrame, way: str, pool: str) -> set[str]:
    """Return the ids of implicit queries of a pool, by the fact scores of both replies.

    Parameters
    ----------
    items : DataFrame
        Verdicts of one judge, with the column ``way``.
    pool : str
        One of `POOLS`: the paper's script has each of them.
    """
    facts = items[(items["metric"] == "fact_use") & (items["style"] == "implicit")]
    wide = facts.pivot(index="query_id", columns="way", values="value")
    if way not in wide or ORACLE not in wide:
        return set()
    if pool == POOLS[0]:
        return set(wide.index)
    wanted = 0.0 if pool == POOLS[1] else 1.0
    return set(wide.index[(wide[way] == wanted) & (wide[ORACLE] == wanted)])


def votes(
    answers: Iterable[Answer],
    ranking: Rankings,
    results: pd.DataFrame,
    *,
    held_out: Sequence[str] = (),
) -> Layer:
    """Return the supportive turns that replies vote for.

    Parameters
    ----------
    answers : iterable of Answer
        The replies that thought first, of one system.
    ranking : Rankings
        What that system found; its memories in order are those the replies were shown.
    results : DataFrame
        From `contests`, these replies first and the oracle's second.

    Raises
    ------
    DataError
        As `build_layer`.
    """
    places = {(query.style, query.id): i for i, query in enumerate(ranking.queries)}
    citations: list[Citation] = []
    gold: dict[QuestionKey, frozenset[TurnId]] = {}
    known: dict[str, Query] = {}
    for one in answers:
        if one.text is None:
            continue
        query = one.query
        hits = ranking.hits[places[query.style, query.id]][: len(one.memories)]
        shown = tuple(tuple(hit.sources) for hit in hits)
        key = (query.conversation, query.members[0])
        gold[key], known[query.id] = query.gold, query
        citations.append(Citation(*key, ranking.system, shown, one.cited))
    total = results[(results["part"] == TOTAL) & (results["second"] == ORACLE)]
    verdicts = [
        Verdict(found.conversation, found.members[0], ranking.system, _WINNER[row["result"]])
        for row in total.to_dict("records")
        if (found := known.get(row["query_id"])) is not None and not pd.isna(row["result"])
    ]
    return build_layer(citations, verdicts, gold, held_out=held_out)


def recall_with(
    layer: Layer, rankings: Mapping[str, Rankings], queries: Sequence[Query], *, k: int
) -> pd.DataFrame:
    """Return recall of gold, of supportive turns, and of both, for each system.

    Returns
    -------
    DataFrame
        As `layer_recall`, with the columns ``system`` and ``voted`` (whether the system's own
        replies made the layer, so that its recall is circular).
    """
    voters = set(layer.systems)
    frames: list[Any] = []
    for system, ranking in rankings.items():
        places = {(query.style, query.id): i for i, query in enumerate(ranking.queries)}
        turns = [turn_order(ranking.hits[places[query.style, query.id]][:k]) for query in queries]
        frame = layer_recall(queries, turns, layer)
        frames.append(frame.assign(system=system, voted=system in voters))
    return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
