"""Messages rewritten into search queries: one, or several facets (LoCoMo-Conv, query rewriting).

Two switches. The *protocol* says what the rewriter is told: under "paper" the message alone, under
"repaired" also who speaks and when the last talk was, without which "my trip last year" cannot be
looked for. The *parser* says how its lines are read. The paper's strips any leading digits, so that
"2023 camping trip" becomes "camping trip", may leave an empty query, and takes the message itself
where there is no rewrite; the repaired one strips list marks only and gives a reason instead.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from unbidden.errors import ConfigError, closest
from unbidden.llm.base import Call
from unbidden.llm.reaching import reached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.llm.base import LLM
    from unbidden.llm.outcome import Outcome
    from unbidden.queries.build import Query

RewriteKind = Literal["convergent", "facets"]
KINDS: tuple[RewriteKind, ...] = get_args(RewriteKind)
ProtocolName = Literal["paper", "repaired"]
PROTOCOLS: tuple[ProtocolName, ...] = get_args(ProtocolName)
Told = Literal["both", "speaker", "date"]
TOLD: tuple[Told, ...] = get_args(Told)
"""What the repaired prompt tells beside the message: who speaks, when the last talk was."""

MOST_FACETS = 5
NO_REWRITE = "no rewrite"
"""How the reason of a failed rewriting begins."""

_PROMPTS: dict[tuple[RewriteKind, ProtocolName], str] = {
    ("convergent", "paper"): "rewrite_search.v1",
    ("convergent", "repaired"): "rewrite_search_repaired.v1",
    ("facets", "paper"): "rewrite_facets.v1",
    ("facets", "repaired"): "rewrite_facets_repaired.v1",
}
_QUOTES = "\"'“”‘’`"
_MARK = re.compile(r"^\s*(?:(?:[-*•–]|\(?\d{1,2}[.)])(?:\s+|$))+")
_BULLETS = "-*•– \t"


@dataclass(frozen=True, slots=True)
class SearchTexts:
    """What is searched for in place of a message.

    Attributes
    ----------
    texts : tuple of str
        One for "convergent", one to five for "facets"; none if unscored.
    fallback : bool
        Whether the message itself stands in for a rewrite (parser "paper").
    unscored : str or None
        Why there is no rewrite; begins with `NO_REWRITE`.
    """

    query: Query
    kind: RewriteKind
    texts: tuple[str, ...]
    fallback: bool = False
    unscored: str | None = None


def rewrite_for_search(
    llm: LLM,
    corpus: Corpus,
    queries: Sequence[Query],
    kind: RewriteKind,
    *,
    protocol: ProtocolName = "repaired",
    parser: ProtocolName | None = None,
    told: Told = "both",
) -> list[SearchTexts]:
    """Return the search texts of each query, in order; one call each, role "rewriter".

    Parameters
    ----------
    protocol : {"paper", "repaired"}
        What the rewriter is told.
    parser : {"paper", "repaired"}, optional
        How it is read; by default as the protocol. The same calls serve both.
    told : {"both", "speaker", "date"}
        What the repaired protocol tells beside the message; the paper's tells neither.

    Raises
    ------
    ConfigError
        If a name is unknown.
    LLMError, BudgetExceeded
        As `LLM.ask_many` and `reached`.
    """
    parser = parser or protocol
    _check("kind of rewriting", kind, KINDS)
    _check("protocol", protocol, PROTOCOLS)
    _check("parser", parser, PROTOCOLS)
    _check("value of `told`", told, TOLD)
    last = {talk.id: _last_date(corpus, talk.id) for talk in corpus.conversations}
    calls = [
        Call(_PROMPTS[kind, protocol], _variables(query, protocol, last[query.conversation], told))
        for query in queries
    ]
    outcomes = reached(llm.ask_many(calls, label=f"rewriting, {kind}"))
    return [
        _read(query, kind, outcome, parser)
        for query, outcome in zip(queries, outcomes, strict=True)
    ]


def paper_lines(text: str) -> list[str]:
    r"""Return the facets the paper's parser reads, its faults included.

    >>> paper_lines("1. 2023 camping trip\n- 'Rui'")
    ['camping trip', 'Rui']
    """
    found = []
    for line in text.splitlines():
        facet = line.strip().lstrip(_BULLETS).lstrip("0123456789. )").strip().strip(_QUOTES).strip()
        if len(facet) > 2:
            found.append(facet)
    return found[:MOST_FACETS]


def repaired_lines(text: str) -> list[str]:
    r"""Return at most five facets, without list marks, quotes, headings, blanks and repeats.

    >>> repaired_lines("Queries:\n1. 2023 camping trip\n2) 2023 Camping trip\n- 'Rui'\n林悦")
    ['2023 camping trip', 'Rui', '林悦']
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        facet = _MARK.sub("", line).strip().strip(_QUOTES).strip()
        if any(c.isalnum() for c in facet) and not facet.endswith((":", "：")):
            found.setdefault(facet.casefold(), facet)
    return list(found.values())[:MOST_FACETS]


def _read(
    query: Query, kind: RewriteKind, outcome: Outcome[Any], parser: ProtocolName
) -> SearchTexts:
    paper = parser == "paper"
    if not outcome.ok:
        if paper:
            return SearchTexts(query, kind, (query.text,), fallback=True)
        return SearchTexts(query, kind, (), unscored=f"{NO_REWRITE}: {outcome.unscored}")
    if kind == "convergent" and paper:
        # May be empty: the paper's script keeps and searches for whatever is between the quotes.
        return SearchTexts(query, kind, (outcome.text.strip().strip(_QUOTES).strip(),))
    texts = paper_lines(outcome.text) if paper else repaired_lines(outcome.text)
    if texts:
        return SearchTexts(query, kind, tuple(texts if kind == "facets" else texts[:1]))
    if paper:
        return SearchTexts(query, kind, (query.text,), fallback=True)
    reason = f"{NO_REWRITE}: no query in the reply {outcome.text[:60]!r}"
    return SearchTexts(query, kind, (), unscored=reason)


def _variables(query: Query, protocol: ProtocolName, date: str, told: Told) -> dict[str, Any]:
    message = " ".join(query.text.split())
    if protocol == "paper":
        return {"message": message}
    speaker = query.speaker if query.speaker and told != "date" else "somebody"
    return {"message": message, "speaker": speaker, "date": "" if told == "speaker" else date}


def _last_date(corpus: Corpus, conversation: str) -> str:
    sessions = [s for s in corpus.conversation(conversation).sessions if s.turns]
    last = sessions[-1] if sessions else None
    if last is None:
        return ""
    return last.when.date().isoformat() if last.when else last.date_text.strip()


def _check(parameter: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise ConfigError(
            f"unknown {parameter} {value!r}",
            expected=closest(value, known),
            next_step="correct the parameter",
        )
