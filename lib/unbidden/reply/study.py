"""Replies to one sample of queries by many ways to remember, in an order that spares work.

A need is replied to under every condition before the next need, so that a run that was stopped has
whole rows; the styles of a need stand together, since the oracle shows them the same memories and a
server can reuse that beginning of the prompt.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, cast

from unbidden.errors import ConfigError
from unbidden.queries.facets import RewriteKind, SearchTexts, rewrite_for_search
from unbidden.reply.answer import NO_SYSTEM, answer
from unbidden.reply.conditions import TopK, condition
from unbidden.reply.material import ORIGINAL, Material
from unbidden.retrieval.rewritten import retrieve_rewritten
from unbidden.retrieval.run import Rankings, Rules, retrieve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.llm import LLM
    from unbidden.queries.build import Query
    from unbidden.reply.answer import Answer
    from unbidden.reply.conditions import Condition
    from unbidden.reply.rules import ReplyRules

OF_A_SYSTEM = {
    "compressed": ORIGINAL,
    "cot_select": ORIGINAL,
    "cot_noselect": ORIGINAL,
    "rewrite_convergent": "convergent",
    "rewrite_facets": "facets",
}
"""Conditions that need a system, and the rankings each draws on."""
TOP_K = "top_k"
_RANDOM = "random"


@dataclass(frozen=True, slots=True)
class Way:
    """One way to remember: a row of the tables.

    Attributes
    ----------
    system : str or None
        None where no memory system takes part.
    """

    system: str | None
    condition: Condition

    @property
    def name(self) -> str:
        """What tables call it."""
        return way_name(self.system or NO_SYSTEM, self.condition.name)

    @property
    def rankings(self) -> str:
        """Name of the rankings it draws on."""
        return self.condition.rankings or ORIGINAL


def way_name(system: str, condition: str) -> str:
    """Return what tables call a system's memories under a condition.

    >>> way_name("bm25", "top_k"), way_name("none", "no_memory"), way_name("rrf", "compressed")
    ('bm25', 'no memory', 'rrf, compressed')
    """
    words = condition.replace("_", " ")
    if system == NO_SYSTEM:
        return words
    return system if condition == TOP_K else f"{system}, {words}"


def ways(
    systems: Sequence[str], conditions: Sequence[str], *, k: int, of: str, seed: int = 0
) -> list[Way]:
    """Return the ways to remember: systems first, then the conditions in their order.

    Parameters
    ----------
    k : int
        Memories asked for, and random turns drawn.
    of : str
        System of the conditions that need one.
    seed : int
        Of the random turns.

    Raises
    ------
    ConfigError
        If a name is unknown or named twice.
    """
    found = [Way(name, TopK(k)) for name in systems]
    for name in conditions:
        if name == TOP_K:
            raise ConfigError(
                "`conditions` names top_k", expected="other conditions", next_step="use `systems`"
            )
        options: dict[str, Any] = {"k": k} if name in OF_A_SYSTEM else {}
        if name == _RANDOM:
            options = {"k": k, "seed": seed}
        made = condition(name, **options)
        found.append(Way(of if made.rankings is not None else None, made))
    names = [way.name for way in found]
    if len(set(names)) < len(names) or not names:
        raise ConfigError(
            "`systems` and `conditions` name nothing, or something twice",
            expected="different names",
            got=", ".join(names),
        )
    return found


def search(
    corpus: Corpus,
    queries: Sequence[Query],
    chosen: Sequence[Way],
    llm: LLM,
    *,
    depth: int,
    rules: Rules,
    per_system: Mapping[str, Mapping[str, object]] | None = None,
    **options: object,
) -> dict[str, dict[str, Rankings]]:
    """Return what each system finds for the queries, by system and name of the rankings.

    Raises as `retrieve` and `retrieve_rewritten`, but messages that could not be rewritten are
    queries without memories.
    """
    ordered = sorted(queries, key=lambda query: str(query.conversation))
    shared: dict[str, Any] = {
        **options, "depth": depth, "rules": rules, "per_system": per_system, "llm": llm
    }  # fmt: skip
    systems = list(dict.fromkeys(way.system for way in chosen if way.system))
    found: dict[str, dict[str, Rankings]] = {}
    if systems:
        for ranking in retrieve(corpus, ordered, systems, **shared):
            found[ranking.system] = {ORIGINAL: ranking}
    for way in chosen:
        if way.system is None or way.rankings in found[way.system]:
            continue
        kind = cast("RewriteKind", way.rankings)
        rewrites = rewrite_for_search(llm, corpus, ordered, kind)
        found[way.system][kind] = _rewritten(corpus, rewrites, found[way.system][ORIGINAL], shared)
    return found


def _rewritten(
    corpus: Corpus, rewrites: Sequence[SearchTexts], plain: Rankings, shared: dict[str, Any]
) -> Rankings:
    failures = {i: one.unscored for i, one in enumerate(rewrites) if one.unscored is not None}
    if len(failures) < len(rewrites):
        (ranking,) = retrieve_rewritten(corpus, rewrites, [plain.system], **shared)
        return ranking
    return replace(plain, hits=[[] for _ in rewrites], failures=failures)


def reply_all(
    corpus: Corpus,
    queries: Sequence[Query],
    chosen: Sequence[Way],
    found: Mapping[str, Mapping[str, Rankings]],
    llm: LLM,
    rules: ReplyRules,
) -> list[Answer]:
    """Return the replies of every way to every query, sorted by query, then way.

    Parameters
    ----------
    queries : sequence of Query
        The styles of a need side by side, as `balanced_sample` returns them.
    found : mapping
        From `search`.

    Raises
    ------
    LLMError, BudgetExceeded
        As `answer`; what was answered is kept.
    """
    materials = {
        way.name: Material(corpus, queries, found[way.system] if way.system else {}, llm, rules)
        for way in chosen
    }
    answers: list[Answer] = []
    for group in needs(queries):
        replies = [
            answer(replace(materials[way.name], queries=group), way.condition, llm)
            for way in chosen
        ]
        # By query and not by way: a judge then sees one message and fact after the other.
        answers += [one for of_query in zip(*replies, strict=True) for one in of_query]
    return answers


def needs(queries: Iterable[Query]) -> list[list[Query]]:
    """Return the queries that put one need, side by side."""
    return [list(group) for _, group in groupby(queries, key=lambda query: query.id)]
