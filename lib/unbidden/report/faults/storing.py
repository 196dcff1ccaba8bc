"""Switches of what is stored and how much of it counts: text form, captions, chunks, K."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from unbidden.report.faults.base import Context, Effect, Fault, answerable, by_style
from unbidden.retrieval.rewritten import fuse

if TYPE_CHECKING:
    from collections.abc import Callable

    from unbidden.corpus.models import Conversation, Corpus
    from unbidden.retrieval.rewritten import FusionKey

WINDOWS = "unbidden.retrieval.searches.windows:WindowSearch"


def _text_form(context: Context) -> list[Effect]:
    settings = ("paper", "repaired")
    values = [answerable(context.values(context.ranking(protocol=p))) for p in settings]
    return by_style(context, "text-form", context.recall, settings, *values)


def _captions(context: Context) -> list[Effect]:
    bare = context.ranking(corpus=_mapped(context.corpus, _without_captions))
    values = [answerable(context.values(one)) for one in (bare, context.ranking())]
    settings = ("without captions", "with captions")
    return by_style(context, "captions-in-turns", context.recall, settings, *values)


def _session_filter(context: Context) -> list[Effect]:
    cited = {
        talk.id: {turn for q in talk.questions for text in q.evidence for turn in text.split(";")}
        for talk in context.corpus.conversations
    }

    def kept(talk: Conversation) -> Conversation:
        sessions = [s for s in talk.sessions if any(t.id in cited[talk.id] for t in s.turns)]
        return replace(talk, sessions=tuple(sessions))

    filtered = context.ranking(corpus=_mapped(context.corpus, kept))
    values = [answerable(context.values(one)) for one in (context.ranking(), filtered)]
    settings = ("all sessions", "sessions that evidence cites")
    return by_style(context, "session-filter", context.recall, settings, *values)


def _chunks(context: Context) -> list[Effect]:
    """Compare K chunks of three turns with so many of them as cover K turns."""
    ranking, k = context.ranking(system=WINDOWS), context.k
    memories = answerable(context.values(ranking))
    turns = answerable(context.values(ranking, metric="recall_turns"))
    settings = (f"{k} turns", f"{k} chunks of three turns")
    return by_style(context, "k-meaning", "recall", settings, turns, memories)


def _default_k(context: Context) -> list[Effect]:
    ranking = context.ranking()
    values = [answerable(context.values(ranking, k=k)) for k in (10, 20)]
    settings = ("10 as in the paper", "20 as in its script for dense search")
    return by_style(context, "k-default", "recall of what is stored", settings, *values)


def _memory_limit(context: Context) -> list[Effect]:
    """Compare the first K memories with as many as fit the paper's room for a summary."""
    ranking, k = context.ranking(), context.k
    cut = answerable(context.values(ranking, k=LIMIT, metric="recall_tokens"))
    whole = answerable(context.values(ranking, k=k))
    settings = (f"first {k} memories", f"as many as fit {LIMIT} tokens")
    return by_style(context, "memory-tokens", "recall", settings, whole, cut)


LIMIT = 200
"""Tokens of the paper's compressed memories."""


def _fusion_key(context: Context) -> list[Effect]:
    """Fuse word search and dense search by id, and by text, which merges equal wordings."""
    words, vectors = (context.ranking(system=name) for name in ("bm25", "dense"))
    keys: tuple[FusionKey, ...] = ("id", "text")
    values = []
    for key in keys:
        hits = [
            fuse(two, key=key, keep=context.config.depth)
            for two in zip(words.hits, vectors.hits, strict=True)
        ]
        values.append(answerable(context.values(replace(words, hits=hits))))
    settings = ("turn id", "text")
    return by_style(context, "fusion-key", context.recall, settings, *values)


def _mapped(corpus: Corpus, change: Callable[[Conversation], Conversation]) -> Corpus:
    return replace(corpus, conversations=tuple(map(change, corpus.conversations)))


def _without_captions(talk: Conversation) -> Conversation:
    sessions = tuple(
        replace(session, turns=tuple(replace(turn, caption=None) for turn in session.turns))
        for session in talk.sessions
    )
    return replace(talk, sessions=sessions)


FAULTS = [
    Fault(
        "text-form",
        "Text form of a turn",
        "The clock time of the date line matches other numbers; captions read like speech.",
        "LoCoMo-Conv, code",
        "corpus",
        "02_retrieval: protocol",
        _text_form,
    ),
    Fault(
        "captions-in-turns",
        "Captions of images in turns",
        "mem0 is given no captions, the other systems are.",
        "LoCoMo-Conv, code",
        "corpus",
        "",
        _captions,
    ),
    Fault(
        "session-filter",
        "Sessions that are stored",
        "A session is indexed only if some question cites it, which looks at the key.",
        "LoCoMo-Conv, code",
        "corpus",
        "",
        _session_filter,
    ),
    Fault(
        "k-meaning",
        "What K counts",
        "Ten memories are ten turns in one system and thirty in another.",
        "LoCoMo-Conv, paper",
        "corpus",
        "02_retrieval: turn_budgets",
        _chunks,
    ),
    Fault(
        "k-default",
        "The default K",
        "Dense search stores 20 hits, the others 10, and one script scores all that is stored.",
        "LoCoMo-Conv, code",
        "corpus",
        "02_retrieval: top_k",
        _default_k,
    ),
    Fault(
        "memory-tokens",
        "Token limit of memories",
        "Compressed memories may have 200 tokens, listed ones any number.",
        "LoCoMo-Conv, code",
        "corpus",
        "02_retrieval: token_budgets",
        _memory_limit,
    ),
    Fault(
        "fusion-key",
        "Key of fusion by rank",
        "Rankings are fused by text, which merges turns of the same words.",
        "LoCoMo-Conv, code",
        "corpus",
        "retrieval.rewritten.fuse(key=)",
        _fusion_key,
    ),
]
