"""Switches measured on the public audit of LoCoMo: its answer key, its citations, its judge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.corpus import load_corpus
from unbidden.corpus.jsonfile import read_json
from unbidden.corpus.sources import locate
from unbidden.judge.floors import judge_by_words
from unbidden.judge.votes import KEY_FAULTS, faulty_keys, load_answers
from unbidden.memory.tokens import first_tokens
from unbidden.report.faults.base import Context, Effect, Fault, from_interval, metric_values
from unbidden.retrieval import retrieve
from unbidden.stats import difference_of_means

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from unbidden.corpus.models import Corpus, TurnId
    from unbidden.judge.votes import Answer
    from unbidden.queries.build import Query

REAL = ("real: gpt-4.1-mini", "real: gpt-4o-mini")
LIMITS = (800, 300)
"""Tokens of a reply in two of the paper's conditions, and in all others."""


def _answer_key(context: Context) -> list[Effect]:
    folder, corpus = _audit()
    faulty = faulty_keys(folder, corpus)
    found = []
    for source in REAL:
        answers = load_answers(folder, corpus, sources=[source])
        first = [_majority(answer) for answer in answers]
        second = [
            float("nan") if answer.question_id in faulty else value
            for answer, value in zip(answers, first, strict=True)
        ]
        measure = f"answers accepted by votes, {source.removeprefix('real: ')}"
        settings = ("all questions", "sound gold answers only")
        found.append(_effect("answer-key", measure, settings, first, second, answers))
    return found


def _citations(context: Context) -> list[Effect]:
    """Compare recall against the cited turns with recall against the audit's corrections."""
    folder, corpus = _audit()
    queries = _questions(corpus)
    corrected = _corrected(folder, corpus, queries)
    ranking = _ranked(context, corpus, queries)
    first = metric_values("locomo", ranking, context.k)
    second = metric_values("locomo", replace(ranking, queries=corrected), context.k)
    settings = ("cited", "corrected")
    found = difference_of_means(first["value"], second["value"], list(first["conversation"]))
    means = (first["value"].mean(), second["value"].mean())
    measure = f"{context.recall}, question"
    return [from_interval("citations", "locomo", measure, settings, means, found)]


def _votes(context: Context) -> list[Effect]:
    folder, corpus = _audit()
    answers = load_answers(folder, corpus, sources=["wrong: vague"])
    first = [float(answer.votes[0]) for answer in answers]
    second = [_majority(answer) for answer in answers]
    settings = ("first vote", "majority of three")
    measure = "vague wrong answers accepted"
    return [_effect("judge-votes", measure, settings, first, second, answers)]


def _answer_tokens(context: Context) -> list[Effect]:
    folder, corpus = _audit()
    answers = load_answers(folder, corpus, sources=REAL[:1])
    first, second = (
        _by_words([replace(a, answer=first_tokens(a.answer, limit)) for a in answers])
        for limit in LIMITS
    )
    settings = (f"{LIMITS[0]} tokens", f"{LIMITS[1]} tokens")
    measure = "answers accepted by the word rule, gpt-4.1-mini"
    return [_effect("answer-tokens", measure, settings, first, second, answers)]


def _judged_text(context: Context) -> list[Effect]:
    """Judge the reply alone, and with the memories quoted before it as thoughts would quote them.

    The released outputs hold no thoughts, so this is a bound: what quoting every memory shown
    would gain a reply.
    """
    folder, corpus = _audit()
    answers = load_answers(folder, corpus, sources=REAL[1:])
    queries = _questions(corpus)
    hits = dict(zip((q.id for q in queries), _ranked(context, corpus, queries).hits, strict=True))
    quoted = [
        replace(
            a, answer="\n".join([*(h.text for h in hits[a.question_id][: context.k]), a.answer])
        )
        for a in answers
    ]
    settings = ("reply alone", f"{context.k} memories quoted before it")
    measure = "answers accepted by the word rule, gpt-4o-mini"
    return [
        _effect("judged-text", measure, settings, _by_words(answers), _by_words(quoted), answers)
    ]


def _audit() -> tuple[Path, Corpus]:
    return locate("locomo-audit")[0].parent, load_corpus("locomo")


def _questions(corpus: Corpus) -> list[Query]:
    from unbidden.queries.build import build_queries

    found = build_queries(corpus, styles=["question"], evidence="repaired")
    return [query for query in found if query.category != 5]


def _ranked(context: Context, corpus: Corpus, queries: Sequence[Query]) -> Any:
    [ranking] = retrieve(
        corpus,
        queries,
        [context.config.fault_system],
        depth=context.k,
        embedder=context.config.embedder,
    )
    return ranking


def _corrected(folder: Path, corpus: Corpus, queries: Sequence[Query]) -> list[Query]:
    value, _ = read_json(folder / KEY_FAULTS)
    right: dict[str, frozenset[TurnId]] = {}
    for item in value:
        number, _, index = item["question_id"].removeprefix("locomo_").partition("_qa")
        talk = corpus.conversations[int(number)]
        turns = frozenset(turn for turn in item["correct_evidence"] if turn in talk.turn_ids)
        if item["error_type"] == "WRONG_CITATION" and turns:
            right[f"{talk.id}#{index}"] = turns
    return [replace(query, gold=right.get(query.id, query.gold)) for query in queries]


def _majority(answer: Answer) -> float:
    return float(sum(answer.votes) > len(answer.votes) / 2)


def _by_words(answers: Sequence[Answer]) -> list[float]:
    verdicts = judge_by_words("fact_use", [answer.case for answer in answers])
    return [float("nan") if v.score is None else float(v.score == 1) for v in verdicts]


def _effect(
    fault: str,
    measure: str,
    settings: tuple[str, str],
    first: Sequence[float],
    second: Sequence[float],
    answers: Sequence[Answer],
) -> Effect:
    found = difference_of_means(first, second, [answer.conversation for answer in answers])
    means = (pd.Series(first).mean(), pd.Series(second).mean())
    return from_interval(fault, "locomo-audit", measure, settings, means, found)


FAULTS = [
    Fault(
        "answer-key",
        "Errors of the answer key",
        "The audit holds 99 gold answers to be wrong.",
        "LoCoMo, data",
        "audit",
        "08_judges: votes",
        _answer_key,
    ),
    Fault(
        "citations",
        "Wrong citations",
        "The audit holds the answers of 57 questions right and their cited turns wrong.",
        "LoCoMo, data",
        "audit",
        "",
        _citations,
    ),
    Fault(
        "judge-votes",
        "Votes of a judge",
        "A judge that is asked once is taken at its word.",
        "LoCoMo-Conv, code",
        "audit",
        "",
        _votes,
    ),
    Fault(
        "answer-tokens",
        "Token limit of replies",
        "Two conditions may write 800 tokens, all others 300.",
        "LoCoMo-Conv, code",
        "audit",
        "reply.rules: answer_tokens, own_budgets",
        _answer_tokens,
    ),
    Fault(
        "judged-text",
        "Text that is judged",
        "Where a model thinks first, the judge reads its thoughts with the memories they quote.",
        "LoCoMo-Conv, code",
        "audit",
        "reply.rules: cut_replies, thinking_form",
        _judged_text,
    ),
]
