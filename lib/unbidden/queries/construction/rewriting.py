"""Rewriting plain questions into LoCoMo-Conv's three single-memory styles (section 3.1).

Under the protocol "paper" the model sees what the paper's rewriter saw: names, a gloss of the
category, question and answer. Under "repaired" it also sees the dates and the lines the answer
comes from, LoCoMo's right category names, and an adversarial question's wrong answer; a rewrite
that fails a check is written again. The paper's script writes at temperature 0.3; here the role's
settings decide, 0 by default.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unbidden.corpus.evidence import read_evidence
from unbidden.corpus.models import CATEGORIES, Rewrite
from unbidden.queries.construction.drafting import Draft, Task, draft, failures
from unbidden.queries.construction.rules import Rules, default_rules

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from unbidden.corpus.models import Conversation, ConversationId, Question, Style
    from unbidden.llm.base import LLM
    from unbidden.queries.construction.checking import Problem
    from unbidden.queries.construction.rules import Protocol

SINGLE_STYLES: tuple[Style, ...] = ("dialog", "implicit", "counterfactual")

PAPER_KINDS: Mapping[int, str] = {
    1: "a single fact",
    2: "a time",
    3: "a conclusion about the person",
    4: "several facts, open-ended",
    5: "cannot be answered",
}
"""What the paper's rewriter was told of a category: numbers 1 and 4 are swapped."""

REPAIRED_KINDS: Mapping[int, str] = {
    number: f"{CATEGORIES[number]}, {gloss}"
    for number, gloss in (
        (1, "several facts"),
        (2, "a time"),
        (3, "a conclusion"),
        (4, "a single fact"),
        (5, "true of somebody else or of nobody"),
    )
}


@dataclass(frozen=True, slots=True)
class Written:
    """One query as the model wrote it, with what it took and what is still wrong with it.

    Attributes
    ----------
    id : str
        As in `unbidden.queries.build.Query`.
    members : tuple of int
        Question indices.
    category : int or None
        None for composed queries.
    rewrite : Rewrite or None
        The best attempt; None if no call gave one.
    reason : str
        The model's own.
    problems : tuple of Problem
        Left in the best attempt.
    first_problems : tuple of Problem
        In the first attempt that gave a text.
    leak : float or None
        Of the best attempt, under the rules' measure; None if no answer has a word to leak.
    first_leak : float or None
        Of the first attempt that gave a text.
    attempts : int
        Calls made for it.
    failures : mapping of str to int
        Failed calls by status.
    unscored : str or None
        Why there is no rewrite.
    """

    id: str
    conversation: ConversationId
    members: tuple[int, ...]
    style: Style
    protocol: Protocol
    category: int | None
    rewrite: Rewrite | None = None
    reason: str = ""
    problems: tuple[Problem, ...] = ()
    first_problems: tuple[Problem, ...] = ()
    leak: float | None = None
    first_leak: float | None = None
    attempts: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    unscored: str | None = None


def rewrite_questions(
    llm: LLM,
    conversation: Conversation,
    style: Style,
    *,
    protocol: Protocol = "repaired",
    rules: Rules | None = None,
    notes: Mapping[int, str] | None = None,
    only: Collection[int] | None = None,
) -> list[Written]:
    """Return the rewrites of all questions of a conversation in one style, in their order.

    Category 5 has no counterfactual. A question of another category without an answer in the file
    is not asked and comes back unscored.

    Parameters
    ----------
    style : {"dialog", "implicit", "counterfactual"}
    rules : Rules, optional
        When to try again; default those of the protocol.
    notes : mapping of int to str, optional
        By question index, what the paper's implicit rewriter is told from the dialog step.
    only : collection of int, optional
        Indices of the questions to rewrite; default all.

    Raises
    ------
    ConfigError, LLMError, BudgetExceeded
        See `LLM.ask_many`.
    """
    chosen = rules or default_rules(protocol)[style]
    questions = [
        q
        for q in conversation.questions
        if asked_in(q, style) and (only is None or q.index in only)
    ]
    tasks = {
        question.index: _task(conversation, question, style, protocol, (notes or {}))
        for question in questions
        if known_answer(question) or not question.answerable
    }
    label = f"{style}, {conversation.id}"
    drafts = dict(zip(tasks, draft(llm, list(tasks.values()), chosen, label=label), strict=True))
    return [
        written(conversation, (q.index,), style, protocol, drafts.get(q.index), chosen)
        for q in questions
    ]


def asked_in(question: Question, style: Style) -> bool:
    """Return whether a style is made of a question at all."""
    return bool(question.text.strip()) and (style != "counterfactual" or question.answerable)


def known_answer(question: Question) -> str:
    """Return what must not be given away: the answer, or an adversarial question's wrong one."""
    return ((question.answer if question.answerable else question.trap) or "").strip()


def _task(
    conversation: Conversation,
    question: Question,
    style: Style,
    protocol: Protocol,
    notes: Mapping[int, str],
) -> Task:
    answer = (question.answer or "").strip()
    hidden = known_answer(question) if protocol == "repaired" else answer
    variables: dict[str, Any] = {
        "speaker_a": conversation.speakers[0],
        "speaker_b": conversation.speakers[1],
        "question": question.text,
        "answer": answer,
    }
    if protocol == "paper":
        variables["kind"] = PAPER_KINDS[question.category]
        if style == "implicit":
            variables["note"] = notes.get(question.index, "")
        prompt = f"rewrite_{style}.v1"
    else:
        variables["kind"] = REPAIRED_KINDS[question.category]
        variables["turns"] = evidence_lines(conversation, question)
        if style != "counterfactual":
            variables["trap"] = question.trap or ""
        prompt = f"rewrite_{style}_repaired.v1"
    answers = (hidden,) if hidden else ()
    name = f"{conversation.id}#{question.index}"
    return Task(name, style, prompt, variables, answers, question.text, conversation.speakers)


def evidence_lines(conversation: Conversation, question: Question) -> list[dict[str, str]]:
    """Return the evidence turns in time order, with date, speaker, text and caption."""
    cited = set(read_evidence(question, conversation, "repaired").ids)
    return [
        {
            "date": session.date_text or "no date",
            "speaker": turn.speaker,
            "text": turn.text.strip() + (f" (shows {turn.caption})" if turn.caption else ""),
        }
        for session in conversation.sessions
        for turn in session.turns
        if turn.id in cited
    ]


def written(
    conversation: Conversation,
    members: Sequence[int],
    style: Style,
    protocol: Protocol,
    one: Draft | None,
    rules: Rules,
) -> Written:
    """Return the record of one draft; without a draft, of a question that has no answer."""
    name = f"{conversation.id}#{'+'.join(map(str, members))}"
    category = conversation.questions[members[0]].category if len(members) == 1 else None
    head = (name, conversation.id, tuple(members), style, protocol, category)
    if one is None:
        return Written(*head, unscored="no answer in the file")
    best = one.best(rules)
    attempts, failed = len(one.attempts), failures(one)
    if best is None:
        return Written(*head, attempts=attempts, failures=failed, unscored=one.unscored())
    first = next(attempt for attempt in one.attempts if attempt.ok)
    return Written(
        *head,
        rewrite=Rewrite(
            best.text,
            best.speaker,
            getattr(best.value, "expected_memory_use", None),
            getattr(best.value, "asserted_wrong", None),
            getattr(best.value, "naturalness", None),
        ),
        reason=best.value.reason,
        problems=one.problems(best, rules),
        first_problems=one.problems(first, rules),
        leak=one.leak(best, rules),
        first_leak=one.leak(first, rules),
        attempts=attempts,
        failures=failed,
    )
