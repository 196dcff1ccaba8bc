"""Conditions in which nothing is looked at and no model is asked: the same words to everything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unbidden.reply.conditions.base import Remembered, Thinking
from unbidden.reply.fixed import fixed_text

if TYPE_CHECKING:
    from unbidden.reply.material import Material


@dataclass(frozen=True, slots=True)
class FixedReply:
    """One of the agents of `unbidden.reply.fixed`, beside replies of a model.

    Parameters
    ----------
    agent : str
    """

    agent: str
    k: int | None = None
    rankings: str | None = None
    thinking: Thinking = "none"
    gold: bool = False

    def __post_init__(self) -> None:
        fixed_text(self.agent)

    @property
    def name(self) -> str:
        """The condition's name."""
        return self.agent.replace("-", "_")

    def remember(self, material: Material) -> list[Remembered]:
        """Return what is said, for each query."""
        return [Remembered(said=fixed_text(self.agent)) for _ in material.queries]
