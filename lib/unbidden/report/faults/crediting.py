"""Switches of credit: which turns a memory is credited with, and how a turn is recognised."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from unbidden.report.faults.base import Context, Effect, Fault, answerable, by_style
from unbidden.report.faults.graphs import searched
from unbidden.retrieval.score import turn_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from unbidden.corpus.models import TurnId
    from unbidden.memory.protocol import Retrieved
    from unbidden.retrieval import Rankings


def _credit(context: Context) -> list[Effect]:
    """Credit the same hits with their own turn, with a batch of two, with the whole session."""
    ranking = context.ranking()
    exact = answerable(context.values(ranking))
    found = []
    for name, size in (("whole session", None), ("batch of two turns", 2)):
        wider = answerable(context.values(_credited(context, ranking, size)))
        settings = ("own turn", name)
        found += by_style(context, "provenance-credit", context.recall, settings, exact, wider)
    return found


def _credited(context: Context, ranking: Rankings, size: int | None) -> Rankings:
    groups: dict[str, dict[TurnId, tuple[TurnId, ...]]] = {}
    for talk in context.corpus.conversations:
        own = groups.setdefault(talk.id, {})
        for session in talk.sessions:
            ids = [turn.id for turn in session.turns]
            for start in range(0, len(ids), size or max(1, len(ids))):
                batch = tuple(ids[start : start + (size or len(ids))])
                own.update(dict.fromkeys(batch, batch))
    hits = [
        [_widened(hit, groups[query.conversation]) for hit in found]
        for query, found in zip(ranking.queries, ranking.hits, strict=True)
    ]
    return replace(ranking, hits=hits)


def _widened(hit: Retrieved, groups: dict[TurnId, tuple[TurnId, ...]]) -> Retrieved:
    return replace(hit, sources=tuple(dict.fromkeys(t for s in hit.sources for t in groups[s])))


def _text_credit(context: Context) -> list[Effect]:
    """Compare precision by turn ids with the paper's matching of wordings."""
    ranking, k = context.ranking(), context.k
    said = {
        talk.id: {turn.id: turn.text.strip().lower() for turn in talk.turns}
        for talk in context.corpus.conversations
    }
    held: dict[tuple[str, str], frozenset[TurnId]] = {}
    by_text = []
    for query, hits in zip(ranking.queries, ranking.hits, strict=True):
        turns: set[TurnId] = set()
        for hit in hits[:k]:
            key = (query.conversation, hit.text)
            if key not in held:
                low = hit.text.lower()
                held[key] = frozenset(t for t, s in said[query.conversation].items() if s in low)
            turns |= held[key]
        by_text.append(turns)
    by_id = [set(turn_order(hits[:k])) for hits in ranking.hits]
    base = answerable(context.values(ranking))
    scored = base["value"].notna()
    found = []
    for name, over_gold in (("precision", False), ("recall", True)):
        tables = [
            base.assign(value=pd.Series(_share(ranking, turns, over_gold=over_gold)).where(scored))
            for turns in (by_id, by_text)
        ]
        settings = ("by turn id", "by wording")
        measure = f"{name}@{k}"
        found += by_style(context, "provenance-by-wording", measure, settings, *tables)
    return found


def _share(ranking: Rankings, turns: list[set[TurnId]], *, over_gold: bool) -> NDArray[np.float64]:
    values = []
    for query, found in zip(ranking.queries, turns, strict=True):
        whole = len(query.gold) if over_gold else len(found)
        values.append(len(found & query.gold) / whole if whole else np.nan if over_gold else 0.0)
    return np.array(values, dtype=float)


def _cited(context: Context) -> list[Effect]:
    values = []
    for sources in ("batch", "cited"):
        ranking = searched(context, "msc-retrieval", {"sources": sources}, depth=context.k)
        values.append(answerable(context.values(ranking)))
    settings = ("the whole session", "the turns the model cites")
    return by_style(context, "provenance-cited", context.recall, settings, *values)


FAULTS = [
    Fault(
        "provenance-credit",
        "Turns credited to a memory",
        "mem0's memories are credited with two turns, Memora's with a session.",
        "LoCoMo-Conv, code",
        "corpus",
        "memory option: sources",
        _credit,
    ),
    Fault(
        "provenance-by-wording",
        "How a turn is recognised",
        "A turn counts as found if its wording occurs in a memory, and “Thanks!” occurs in many.",
        "LoCoMo-Conv, paper",
        "corpus",
        "",
        _text_credit,
    ),
    Fault(
        "provenance-cited",
        "Turns credited to a summary",
        "The whole session it was made of, or the turns the model names.",
        "LoCoMo-Conv, code",
        "graph",
        "msc-retrieval: sources",
        _cited,
    ),
]
