"""Model calls of a memory system, counted by prompt from their outcomes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unbidden.errors import ConfigError
from unbidden.llm import Call
from unbidden.llm.reaching import reached
from unbidden.llm.schemas import full_lists
from unbidden.memory.protocol import CallCount

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.llm import LLM, Outcome

_MALFORMED = frozenset({"empty", "invalid_json", "schema_mismatch", "truncated"})
"""Failures another sample may not have. The others were retried by the client already, or would
come again."""


def required(llm: LLM | None, system: str) -> LLM:
    """Return the model a system was given.

    Raises
    ------
    ConfigError
        If it was given none.
    """
    if llm is None:
        raise ConfigError(
            f"memory system {system!r} needs a model to build its memories",
            expected="an `llm`: unbidden.llm.connect(settings, mode) for an endpoint or recorded "
            "calls, or ScriptedLLM in a test",
            got="none",
            next_step="give it as the option `llm`, or leave this system out",
        )
    return llm


class CountedCalls:
    """Asks a model and keeps count.

    Parameters
    ----------
    llm : LLM
        The model.
    attempts : int
        Times a call is made while its reply is malformed; each attempt has its own repeat index,
        so each is recorded and replayed by itself.
    """

    def __init__(self, llm: LLM, attempts: int = 1) -> None:
        if attempts < 1:
            raise ConfigError("`attempts` is out of range", expected="1 or more", got=str(attempts))
        self._llm, self._attempts = llm, attempts
        self._counts: dict[str, CallCount] = {}

    @property
    def counts(self) -> dict[str, CallCount]:
        """The counts up to now, by prompt name."""
        return dict(self._counts)

    def reset(self) -> None:
        """Forget the counts."""
        self._counts.clear()

    def ask(self, prompt_name: str, variables: Mapping[str, Any]) -> Outcome[Any]:
        """Return the outcome of a call, of its last attempt if it took several."""
        return self.ask_many([(prompt_name, variables)])[0]

    def ask_many(
        self,
        items: Sequence[tuple[str, Mapping[str, Any]]],
        *,
        label: str = "",
        attempts: int | None = None,
    ) -> list[Outcome[Any]]:
        """Return the outcomes of independent calls, given as prompt name and variables.

        Parameters
        ----------
        attempts : int, optional
            In place of the number of all calls.

        Raises
        ------
        LLMError
            If calls were made and none of them came to the endpoint.
        """
        outcomes: list[Outcome[Any] | None] = [None] * len(items)
        waiting = list(range(len(items)))
        for attempt in range(attempts or self._attempts):
            calls = [Call(*items[i], repeat=attempt) for i in waiting]
            for i, outcome in zip(waiting, self._llm.ask_many(calls, label=label), strict=True):
                outcomes[i] = outcome
                self._count(items[i][0], outcome)
            waiting = [i for i in waiting if _malformed(outcomes[i])]
            if not waiting:
                break
        found = [outcome for outcome in outcomes if outcome is not None]
        for (prompt_name, _), outcome in zip(items, found, strict=True):
            old = self._counts[prompt_name]
            self._counts[prompt_name] = replace(
                old,
                lost=old.lost + (not outcome.ok),
                full=old.full + (outcome.ok and full_lists(outcome.value) > 0),
            )
        return reached(found)

    def _count(self, prompt_name: str, outcome: Outcome[Any]) -> None:
        old, usage = self._counts.get(prompt_name, CallCount()), outcome.usage
        self._counts[prompt_name] = replace(
            old,
            calls=old.calls + 1,
            failed=old.failed + (not outcome.ok),
            input_tokens=old.input_tokens + (usage.input_tokens or 0),
            output_tokens=old.output_tokens + (usage.output_tokens or 0),
            uncounted=old.uncounted + (None in (usage.input_tokens, usage.output_tokens)),
            seconds=old.seconds + outcome.seconds,
        )


def _malformed(outcome: Outcome[Any] | None) -> bool:
    return outcome is not None and outcome.status in _MALFORMED
