"""Validating written queries: a judge's yes or no, then words and lengths (LoCoMo-Conv 3.3).

The paper only annotates; here what does not pass is left out by default, and counted. A verdict
that could not be had is unscored, where the paper's script takes it for a no.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unbidden.llm.base import Call
from unbidden.queries.construction.rewriting import known_answer
from unbidden.queries.construction.wordcheck import stage_b

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.corpus.models import Conversation
    from unbidden.llm.base import LLM
    from unbidden.llm.outcome import Outcome
    from unbidden.queries.construction.rewriting import Written
    from unbidden.queries.construction.wordcheck import StageB

NOT_APPLICABLE = "not applicable"

_REQUIREMENTS: Mapping[str, str] = {
    "dialog": "the writer wants back exactly what is known above, about himself or herself.",
    "implicit": "a reply that takes what is known above into account is clearly better than one "
    "that does not.",
    "implicit_adversarial": "what is called known above is untrue of the writer, but the message "
    "makes it easy to believe.",
    "counterfactual": "the writer believes something that what is known above proves wrong, it is "
    "clear what it is about, and the right version does not occur in the message.",
    "composed": "no single known thing above could be dropped without spoiling the reply.",
}
"""The second judge's questions, in other words than the first judge's."""


@dataclass(frozen=True, slots=True)
class StageA:
    """A judge's verdict on one query.

    Attributes
    ----------
    passed : bool or None
        None if there is no verdict.
    extras : mapping of str to bool
        The style's further answers.
    consistent : bool
        Whether the verdict agrees with them.
    unscored : str or None
        Why there is no verdict: `NOT_APPLICABLE` and the reason, or the failure of the call.
    """

    passed: bool | None
    extras: Mapping[str, bool] = field(default_factory=dict)
    consistent: bool = True
    reason: str = ""
    unscored: str | None = None

    @property
    def applicable(self) -> bool:
        """Whether the question could be put at all."""
        return self.unscored is None or not self.unscored.startswith(NOT_APPLICABLE)


@dataclass(frozen=True, slots=True)
class Validated:
    """A written query with its verdicts.

    Attributes
    ----------
    stage_a : StageA
        Of the first judge.
    stage_b : StageB or None
        None if there is no text.
    second : StageA or None
        Of the second judge, if there was one.
    """

    written: Written
    stage_a: StageA
    stage_b: StageB | None
    second: StageA | None = None

    @classmethod
    def unjudged(cls, conversation: Conversation, written: Written) -> Validated:
        """Return a written query that no judge was asked about."""
        return cls(written, StageA(None, unscored="not judged"), stage_b(conversation, written))

    @property
    def overall_pass(self) -> bool | None:
        """Whether the query is good: a yes and no flag; None where the verdict is missing.

        Under the protocol "repaired" no check may have been left failing, and the verdict must
        agree with the judge's further answers.
        """
        if self.stage_b is None:
            return None
        strict = self.written.protocol == "repaired"
        if not self.stage_b.passed or (strict and self.written.problems):
            return False
        if self.stage_a.passed is None:
            return None
        return self.stage_a.passed and (self.stage_a.consistent or not strict)

    @property
    def kept(self) -> bool:
        """Whether a filtered corpus keeps it: passed, or no verdict applies and nothing fails."""
        return bool(self.overall_pass) or (
            self.overall_pass is None and self.stage_b is not None and not self.stage_a.applicable
        )


def validate(
    llm: LLM, conversation: Conversation, items: Sequence[Written], *, second: LLM | None = None
) -> list[Validated]:
    """Return written queries of one conversation with their verdicts, in their order.

    Parameters
    ----------
    llm : LLM
        The first judge.
    second : LLM, optional
        The second judge, who gets the same question in other words; it may be the same model.

    Raises
    ------
    ConfigError, LLMError, BudgetExceeded
        See `LLM.ask_many`.
    """
    first = judge(llm, conversation, items)
    other = judge(second, conversation, items, brief=True) if second is not None else None
    return [
        Validated(item, first[n], stage_b(conversation, item), other[n] if other else None)
        for n, item in enumerate(items)
    ]


def judge(
    llm: LLM, conversation: Conversation, items: Sequence[Written], *, brief: bool = False
) -> list[StageA]:
    """Return a judge's verdicts on written queries, one for each.

    Parameters
    ----------
    brief : bool
        Ask in the second judge's words.
    """
    missing = [_not_judged(conversation, item) for item in items]
    open_ = [n for n, why in enumerate(missing) if why is None]
    # Calls of one prompt together: a server can reuse what they share.
    open_.sort(key=lambda n: _prompt(items[n]))
    calls = [_call(conversation, items[n], brief=brief) for n in open_]
    name = "second judge" if brief else "judge"
    outcomes = llm.ask_many(calls, label=f"{name}, {conversation.id}")
    found = dict(zip(open_, map(_verdict, outcomes), strict=True))
    return [
        found[n] if why is None else StageA(None, unscored=why) for n, why in enumerate(missing)
    ]


def _not_judged(conversation: Conversation, item: Written) -> str | None:
    """Return why a query cannot be judged, or None."""
    if item.rewrite is None:
        return f"{NOT_APPLICABLE}: there is no text ({item.unscored})"
    if item.category == 5 and item.style == "dialog":
        return f"{NOT_APPLICABLE}: an adversarial question has no gold answer to recall"
    questions = [conversation.questions[member] for member in item.members]
    if not all(map(known_answer, questions)):
        return f"{NOT_APPLICABLE}: the file gives no answer to judge by"
    return None


def _prompt(item: Written) -> str:
    adversarial = item.category == 5 and item.style == "implicit"
    return f"{item.style}_adversarial" if adversarial else item.style


def _call(conversation: Conversation, item: Written, *, brief: bool) -> Call:
    assert item.rewrite is not None  # only queries with a text are judged
    facts = [
        {"question": question.text, "answer": known_answer(question)}
        for question in (conversation.questions[member] for member in item.members)
    ]
    shown: dict[str, Any] = {
        "speaker": item.rewrite.speaker or "The user",
        "message": item.rewrite.text,
    }
    if brief:
        requirement = _REQUIREMENTS[_prompt(item)]
        return Call("validate_brief.v1", shown | {"members": facts, "requirement": requirement})
    more = {"members": facts} if item.style == "composed" else facts[0]
    return Call(f"validate_{_prompt(item)}.v1", shown | more)


def _verdict(outcome: Outcome[Any]) -> StageA:
    if not outcome.ok or outcome.value is None:
        return StageA(None, unscored=outcome.unscored)
    value = outcome.value
    return StageA(value.passed, value.extras, value.consistent, value.reason)
