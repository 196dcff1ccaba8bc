"""Composed queries: one message that needs several memories at once (LoCoMo-Conv section 3.2).

Groups of questions come from `unbidden.queries.clusters`. The gold of a composed query is the union
of its members' evidence, its answers are all of theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unbidden.corpus.evidence import read_evidence
from unbidden.corpus.models import Cluster
from unbidden.errors import ConfigError
from unbidden.queries.clusters import cap_groups, mine_groups
from unbidden.queries.construction.drafting import Draft, Task, draft
from unbidden.queries.construction.rewriting import (
    REPAIRED_KINDS,
    Written,
    evidence_lines,
    known_answer,
    written,
)
from unbidden.queries.construction.rules import Rules, default_rules
from unbidden.queries.leaks import MAX_FORBIDDEN, THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation
    from unbidden.llm.base import LLM
    from unbidden.queries.clusters import Group
    from unbidden.queries.construction.rules import Protocol
    from unbidden.queries.leaks import LeakMeasure


def sample_groups(
    conversation: Conversation,
    *,
    protocol: Protocol = "repaired",
    size: int = 2,
    most: int | None = None,
    seed: int = 0,
) -> list[Group]:
    """Return the groups of a conversation, or a random sample of them, in the order of indices.

    Parameters
    ----------
    protocol : {"paper", "repaired"}
        How evidence is read.
    size : int
        Questions in a group: 2 as in the paper's release, or 3.
    most : int, optional
        The most groups to keep; the paper's second build took all.

    Raises
    ------
    ConfigError
        If `size` or `most` is out of range.
    """
    groups = mine_groups(conversation, size, protocol)
    return groups if most is None else cap_groups(groups, most, seed=seed)


def compose(
    llm: LLM,
    conversation: Conversation,
    groups: Sequence[Group],
    *,
    protocol: Protocol = "repaired",
    rules: Rules | None = None,
) -> list[Written]:
    """Return the composed queries of groups, in their order, mended while they leak.

    Raises
    ------
    ConfigError, LLMError, BudgetExceeded
        See `LLM.ask_many`.
    """
    chosen = rules or default_rules(protocol)["composed"]
    ready = [group for group in groups if all(_answers(conversation, group))]
    tasks = [_task(conversation, group, protocol) for group in ready]
    done = draft(llm, tasks, chosen, label=f"composed, {conversation.id}")
    drafts = dict(zip((group.members for group in ready), done, strict=True))
    return [
        written(
            conversation, group.members, "composed", protocol, drafts.get(group.members), chosen
        )
        for group in groups
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
        As `unbidden.queries.construction.drafting.draft` returns them, all of one style.
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
        item.rewrite,
        f"{conversation.id}_C{number}",
        tuple(sorted(gold)),
    )


def _answers(conversation: Conversation, group: Group) -> list[str]:
    return [known_answer(conversation.questions[member]) for member in group.members]


def _task(conversation: Conversation, group: Group, protocol: Protocol) -> Task:
    questions = [conversation.questions[member] for member in group.members]
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
        f"{conversation.id}#{'+'.join(map(str, group.members))}",
        "composed",
        "compose_query.v1" if protocol == "paper" else "compose_query_repaired.v1",
        {
            "speaker_a": conversation.speakers[0],
            "speaker_b": conversation.speakers[1],
            "members": members,
        },
        tuple(_answers(conversation, group)),
        " ".join(question.text for question in questions),
        conversation.speakers,
    )
