"""Composed queries: one message that needs two memories at once (LoCoMo-Conv section 3.2).

Pairs of questions come from `unbidden.queries.clusters`. The gold of a composed query is the union
of its members' evidence, its answers are all of theirs.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unbidden.corpus.evidence import read_evidence
from unbidden.corpus.models import Cluster
from unbidden.errors import ConfigError
from unbidden.queries.clusters import mine_pairs
from unbidden.queries.drafting import Draft, Rules, Task, default_rules, draft
from unbidden.queries.leaks import MAX_FORBIDDEN, THRESHOLD
from unbidden.queries.rewriting import (
    REPAIRED_KINDS,
    Written,
    evidence_lines,
    known_answer,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation
    from unbidden.llm.base import LLM
    from unbidden.queries.clusters import Pair
    from unbidden.queries.drafting import Protocol
    from unbidden.queries.leaks import LeakMeasure


def sample_pairs(
    conversation: Conversation,
    *,
    protocol: Protocol = "repaired",
    most: int | None = None,
    seed: int = 0,
) -> list[Pair]:
    """Return the pairs of a conversation, or a random sample of them, in the order of indices.

    The paper's first build took the first thirty pairs, which share few questions; a sample does
    not (`most` None takes all, as the paper's second build did).

    Parameters
    ----------
    most : int, optional
        The most pairs to keep.
    seed : int
        Of the sample, together with the conversation's id.

    Raises
    ------
    ConfigError
        If `most` is negative.
    """
    pairs = mine_pairs(conversation, protocol)
    if most is None or most >= len(pairs):
        return pairs
    if most < 0:
        raise ConfigError(
            "`pairs` is out of range",
            expected="0 or more, or none for all",
            got=str(most),
            next_step="correct the parameter",
        )
    # A shuffled prefix: a larger sample of the same seed holds the smaller one.
    order = list(range(len(pairs)))
    random.Random(f"{seed}:{conversation.id}").shuffle(order)
    return [pairs[n] for n in sorted(order[:most])]


def compose(
    llm: LLM,
    conversation: Conversation,
    pairs: Sequence[Pair],
    *,
    protocol: Protocol = "repaired",
    rules: Rules | None = None,
) -> list[Written]:
    """Return the composed queries of pairs, in their order, mended while they leak.

    Raises
    ------
    ConfigError, LLMError, BudgetExceeded
        See `LLM.ask_many`.
    """
    chosen = rules or default_rules(protocol)["composed"]
    ready = [pair for pair in pairs if all(_answers(conversation, pair))]
    tasks = [_task(conversation, pair, protocol) for pair in ready]
    done = draft(llm, tasks, chosen, label=f"composed, {conversation.id}")
    drafts = dict(zip((pair.members for pair in ready), done, strict=True))
    return [
        written(conversation, pair.members, "composed", protocol, drafts.get(pair.members), chosen)
        for pair in pairs
    ]


def repair_leaks(
    llm: LLM,
    drafts: Sequence[Draft],
    *,
    measure: LeakMeasure = "paper",
    threshold: float = THRESHOLD,
    rounds: int = 3,
    words: int = MAX_FORBIDDEN,
    tells: bool = False,
    label: str = "leak repair",
) -> tuple[list[Draft], Rules]:
    """Return drafts of any style with further attempts at those that leak, and the rules used.

    Each round forbids the answer words of the best attempt so far; the attempt with the least leak
    stays the best one. A draft without a text is tried again as well.

    Parameters
    ----------
    drafts : sequence of Draft
        As `unbidden.queries.drafting.draft` returns them, all of one style.
    measure, threshold, rounds, words :
        The paper's by default: 0.10, three rounds, sixty forbidden words.
    tells : bool
        True for prompts of the protocol "repaired", which are told what was wrong.
    """
    rules = Rules(measure, threshold, rounds, frozenset({"leak"}), tells, words)
    return draft(llm, [], rules, label=label, drafts=drafts) if drafts else [], rules


def to_cluster(
    conversation: Conversation, item: Written, number: int, protocol: Protocol
) -> Cluster:
    """Return a written composed query as a cluster of a corpus.

    Raises
    ------
    ConfigError
        If it has no text.
    """
    if item.rewrite is None:
        raise ConfigError(f"the composed query {item.id} has no text", got=str(item.unscored))
    gold = {
        turn
        for member in item.members
        for turn in read_evidence(conversation.questions[member], conversation, protocol).ids
    }
    return Cluster(
        conversation.id,
        item.members,
        replace(item.rewrite),
        f"{conversation.id}_C{number}",
        tuple(sorted(gold)),
    )


def _answers(conversation: Conversation, pair: Pair) -> list[str]:
    return [known_answer(conversation.questions[member]) for member in pair.members]


def _task(conversation: Conversation, pair: Pair, protocol: Protocol) -> Task:
    questions = [conversation.questions[member] for member in pair.members]
    members: list[dict[str, Any]] = [
        {"question": question.text, "answer": known_answer(question)} for question in questions
    ]
    for member, question in zip(members, questions, strict=True):
        if protocol == "paper":
            member["evidence"] = list(read_evidence(question, conversation, "paper").ids)
        else:
            member["kind"] = REPAIRED_KINDS[question.category]
            member["turns"] = evidence_lines(conversation, question)
    return Task(
        f"{conversation.id}#{'+'.join(map(str, pair.members))}",
        "composed",
        "compose_query.v1" if protocol == "paper" else "compose_query_repaired.v1",
        {
            "speaker_a": conversation.speakers[0],
            "speaker_b": conversation.speakers[1],
            "members": members,
        },
        tuple(_answers(conversation, pair)),
        " ".join(question.text for question in questions),
        conversation.speakers,
    )
