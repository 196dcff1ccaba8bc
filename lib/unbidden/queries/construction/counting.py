"""Counting the model calls of a step, the same whether they are made or replayed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unbidden.llm.base import LLM, Call

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unbidden.llm.outcome import Outcome


@dataclass(slots=True)
class PromptCalls:
    """The calls of one prompt that came to one end.

    Attributes
    ----------
    calls : int
        Distinct ones: two that send the same request are one.
    input_tokens, output_tokens : int
        As the endpoint counted them; calls it did not count add nothing.
    uncounted : int
        Calls without such a count.
    seconds : float
        As recorded, waits included.
    """

    prompt: str
    status: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    seconds: float = 0.0


class CountingLLM(LLM):
    """Passes calls on to another model and counts what comes back.

    Parameters
    ----------
    llm : LLM
        It stays open when this one is closed.
    """

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        self._seen: set[tuple[str, str]] = set()
        self._rows: dict[tuple[str, str], PromptCalls] = {}

    def ask_many(self, calls: Iterable[Call], *, label: str = "") -> list[Outcome[Any]]:
        """Return the other model's outcomes."""
        batch = list(calls)
        outcomes = self._llm.ask_many(batch, label=label)
        for number, (call, outcome) in enumerate(zip(batch, outcomes, strict=True)):
            self._count(call, outcome, number)
        return outcomes

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all calls so far."""
        return frozenset(key for _, key in self._seen)

    def rows(self) -> list[PromptCalls]:
        """Return the counts by prompt and status, sorted."""
        return [self._rows[key] for key in sorted(self._rows)]

    def _count(self, call: Call, outcome: Outcome[Any], number: int) -> None:
        # Without a key (nothing was sent) each call counts for itself.
        identity = (call.prompt_name, outcome.key or f"{len(self._seen)}.{number}")
        if identity in self._seen:
            return
        self._seen.add(identity)
        key = (call.prompt_name, str(outcome.status))
        row = self._rows.setdefault(key, PromptCalls(*key))
        usage = (outcome.usage.input_tokens, outcome.usage.output_tokens)
        row.calls += 1
        row.input_tokens += usage[0] or 0
        row.output_tokens += usage[1] or 0
        row.uncounted += None in usage
        row.seconds = round(row.seconds + outcome.seconds, 3)
