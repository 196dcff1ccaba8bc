"""The forms of verdicts on rewritten queries, one class for each question put to the judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from unbidden.llm.schemas import Output

YesNo = Literal["yes", "no"]


class _Verdict(Output):
    """What the forms share. Each has the field `verdict` in its own place: fields come in order."""

    if TYPE_CHECKING:
        verdict: YesNo

    @property
    def passed(self) -> bool:
        """Whether the verdict is yes."""
        return self.verdict == "yes"

    @property
    def extras(self) -> dict[str, bool]:
        """The further answers of this form, by name."""
        return {}

    @property
    def consistent(self) -> bool:
        """Whether the verdict agrees with the further answers."""
        return True


class RewriteVerdict(_Verdict):
    """Whether a dialog or implicit rewrite leads to its memory.

    >>> RewriteVerdict(verdict="yes", reason="").passed
    True
    """

    verdict: YesNo
    reason: str


class CounterfactualVerdict(_Verdict):
    """Whether a counterfactual rewrite says something wrong, in context, without the truth.

    >>> odd = CounterfactualVerdict(contains_wrong_assertion="yes", preserves_context="yes",
    ...     leaks_correct_answer="yes", verdict="yes", reason="")
    >>> odd.passed, odd.consistent
    (True, False)
    """

    contains_wrong_assertion: YesNo
    preserves_context: YesNo
    leaks_correct_answer: YesNo
    verdict: YesNo
    reason: str

    @property
    def extras(self) -> dict[str, bool]:
        """The further answers of this form, by name."""
        names = ("contains_wrong_assertion", "preserves_context", "leaks_correct_answer")
        return {name: getattr(self, name) == "yes" for name in names}

    @property
    def consistent(self) -> bool:
        """Whether the verdict agrees with the further answers."""
        wrong, context, leaks = self.extras.values()
        return self.passed == (wrong and context and not leaks)


class ComposedVerdict(_Verdict):
    """Whether a composed query needs every one of its memories."""

    uniquely_needs_all: YesNo
    verdict: YesNo
    reason: str

    @property
    def extras(self) -> dict[str, bool]:
        """The further answers of this form, by name."""
        return {"uniquely_needs_all": self.uniquely_needs_all == "yes"}

    @property
    def consistent(self) -> bool:
        """Whether the verdict agrees with the further answers."""
        return self.passed == (self.uniquely_needs_all == "yes")


class BriefVerdict(_Verdict):
    """A bare yes or no of a second judge."""

    verdict: YesNo

    @property
    def reason(self) -> str:
        """Always empty."""
        return ""
