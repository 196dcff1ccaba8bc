"""Having a model write queries: all first attempts together, then those that must be mended.

Every attempt is a call of its own in the ledger, told apart by its repeat index, so a stopped run
goes on where it ended. A call that fails is an attempt too; an item that never got a text is kept
as unscored.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unbidden.llm.base import Call
from unbidden.queries.construction.checking import problems_of, told
from unbidden.queries.leaks import forbidden_words, leak

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.corpus.models import Style
    from unbidden.llm.base import LLM
    from unbidden.llm.outcome import Outcome
    from unbidden.queries.construction.checking import Problem
    from unbidden.queries.construction.rules import Rules

_CONTENT_FAILURES = frozenset(
    {
        *("refused", "filtered", "truncated", "empty"),
        *("invalid_json", "schema_mismatch", "bad_response"),
    }
)
"""Failures another attempt may mend. Of the others, the connection's, the same call is made again
when the run is resumed."""


@dataclass(frozen=True, slots=True)
class Task:
    """One query to be written.

    Attributes
    ----------
    id : str
        The query's id, see `unbidden.queries.build.Query`.
    variables : mapping
        Those of the prompt, without what is told about earlier attempts.
    answers : tuple of str
        What must not be given away.
    topic : str
        The plain questions.
    """

    id: str
    style: Style
    prompt: str
    variables: Mapping[str, Any]
    answers: tuple[str, ...]
    topic: str
    speakers: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One reply of the model: a text, or the failure of the call."""

    text: str = ""
    speaker: str | None = None
    value: Any = None
    failure: str = ""
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is a text to check."""
        return not self.failure


@dataclass(frozen=True, slots=True)
class Draft:
    """All attempts at one task, oldest first."""

    task: Task
    attempts: tuple[Attempt, ...] = ()

    def best(self, rules: Rules) -> Attempt | None:
        """Return the attempt with the fewest gating problems, then the least leak, the earliest."""
        written = [attempt for attempt in self.attempts if attempt.ok]
        return min(written, key=lambda attempt: self._badness(attempt, rules), default=None)

    def problems(self, attempt: Attempt, rules: Rules) -> tuple[Problem, ...]:
        """Return what is wrong with an attempt, gating or not."""
        return problems_of(
            self.task.style,
            attempt.text,
            answers=self.task.answers,
            topic=self.task.topic,
            speaker=attempt.speaker,
            measure=rules.measure,
            threshold=rules.threshold,
        )

    def leak(self, attempt: Attempt, rules: Rules) -> float | None:
        """Return the share of answer words in an attempt, None where no answer has any."""
        return leak(attempt.text, self.task.answers, rules.measure, self.task.topic).answer_share

    def unscored(self) -> str | None:
        """Return why there is no text at all, or None."""
        if any(attempt.ok for attempt in self.attempts):
            return None
        if not self.attempts:
            return "not asked"
        last = self.attempts[-1]
        return f"{last.failure}: {last.reason}"

    def _badness(self, attempt: Attempt, rules: Rules) -> tuple[bool, bool, int, float]:
        left = rules.gates.intersection(self.problems(attempt, rules))
        share = self.leak(attempt, rules) or 0.0
        return "empty" in left, "gold" in left, len(left), share


def draft(
    llm: LLM, tasks: Sequence[Task], rules: Rules, *, label: str = "", drafts: Sequence[Draft] = ()
) -> list[Draft]:
    """Return the drafts of tasks of one style, attempted until good enough.

    Parameters
    ----------
    drafts : sequence of Draft
        Attempts made before, one entry for each task; then only those not good enough go on, with
        `rules.regenerations` further attempts.

    Raises
    ------
    ConfigError, LLMError, BudgetExceeded
        See `LLM.ask_many`; what was answered is in the ledger.
    """
    found = list(drafts) or [Draft(task) for task in tasks]
    limits = [len(one.attempts) + rules.regenerations + (not one.attempts) for one in found]
    while True:
        waiting = [n for n, one in enumerate(found) if _goes_on(one, rules, limits[n])]
        if not waiting:
            return found
        calls = [_call(found[n], rules) for n in waiting]
        for n, outcome in zip(waiting, llm.ask_many(calls, label=label), strict=True):
            attempt = _attempt(found[n].task, outcome)
            found[n] = replace(found[n], attempts=(*found[n].attempts, attempt))


def _goes_on(one: Draft, rules: Rules, limit: int) -> bool:
    if not one.attempts:
        return True
    last = one.attempts[-1]
    if len(one.attempts) >= limit or (last.failure and last.failure not in _CONTENT_FAILURES):
        return False
    best = one.best(rules)
    return best is None or bool(rules.gates.intersection(one.problems(best, rules)))


def _call(one: Draft, rules: Rules) -> Call:
    """Return the next call for a task; what it is told depends on the attempts before."""
    best, variables = one.best(rules), dict(one.task.variables)
    last = one.attempts[-1] if one.attempts else None
    # As in the paper, words are forbidden by the best attempt so far.
    leaking = best is not None and "leak" in one.problems(best, rules)
    forbidden = (
        forbidden_words(best.text, one.task.answers, rules.measure, one.task.topic)
        if best is not None and leaking
        else ()
    )
    variables["forbidden"] = list(forbidden[: rules.words])
    if rules.tells:
        variables["last"] = last.text if last else ""
        variables["problems"] = _told(one, last, rules) if last else []
    return Call(one.task.prompt, variables, repeat=len(one.attempts))


def _told(one: Draft, last: Attempt, rules: Rules) -> list[str]:
    if last.ok:
        gating = [p for p in one.problems(last, rules) if p in rules.gates]
        # Otherwise a model without randomness gets the same prompt and gives the same once more.
        repeated = sum(attempt.text == last.text for attempt in one.attempts) > 1
        again = ["it is the same message as before. Write quite another one."] if repeated else []
        return told(gating, one.task.style) + again
    if last.failure == "truncated":
        return ["it was too long and was cut off. Be brief."]
    return ["it was not a complete reply of the form asked for."]


def _attempt(task: Task, outcome: Outcome[Any]) -> Attempt:
    if not outcome.ok or outcome.value is None:
        return Attempt(failure=outcome.status, reason=outcome.reason)
    value = outcome.value
    text = str(getattr(value, f"{task.style}_query")).strip()
    speaker = task.speakers[0 if value.subject_speaker == "speaker_a" else 1]
    return Attempt(text, speaker, value)


def failures(one: Draft) -> dict[str, int]:
    """Return how many calls of a draft failed, by status."""
    return dict(Counter(attempt.failure for attempt in one.attempts if not attempt.ok))
