"""Asking what may not be on record: the result, or what it would take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from unbidden.errors import NotRecorded
from unbidden.llm.client import Client
from unbidden.llm.session import PlanningLLM

if TYPE_CHECKING:
    from collections.abc import Callable

    from unbidden.llm.base import LLM
    from unbidden.llm.plan import Plan

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Attempt(Generic[T]):
    """What was asked for, or the plan of the calls that are not on record.

    Attributes
    ----------
    value : T or None
        None if a call is not on record.
    calls, input_tokens : int
        Still to be made then; tokens are estimated. A lower bound where calls build on each other.
    """

    value: T | None
    calls: int = 0
    input_tokens: int = 0


def attempt(llm: LLM, ask: Callable[[LLM], T]) -> Attempt[T]:
    """Return what `ask` returns, or what it would take where a call is not on record.

    Raises
    ------
    NotRecorded
        If the model is no client that could plan.
    """
    try:
        return Attempt(ask(llm))
    except NotRecorded:
        if not isinstance(llm, Client):
            raise
        planning = PlanningLLM(llm)
        ask(planning)
        return Attempt(None, *planned(planning.plan()))


def planned(plan: Plan) -> tuple[int, int]:
    """Return the calls of a plan that are to be made, and their input tokens."""
    return plan.to_ask, sum(row.input_tokens for row in plan.rows)
