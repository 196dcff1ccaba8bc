"""What a memory condition is: which memories a reply may draw on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    from unbidden.reply.material import Material, Shown
    from unbidden.reply.render import End

Thinking = Literal["none", "think", "select"]
"""A plain reply, one after a thought, or one after a thought and a choice of memories."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a condition gives for one query.

    Attributes
    ----------
    memories : tuple of Shown
        In the order in which they are shown; none is a valid answer.
    unscored : str or None
        Why there is nothing to reply from.
    keep : {"start", "end"}
        Which end survives if they exceed the limit.
    history : bool
        Whether they are a whole conversation.
    hint : bool
        Whether the message gets the paper's hint.
    notes : tuple of str
        What a reader should know.
    said : str or None
        The reply itself, where no model is asked for one.
    """

    memories: tuple[Shown, ...] = ()
    unscored: str | None = None
    keep: End = "start"
    history: bool = False
    hint: bool = False
    notes: tuple[str, ...] = ()
    said: str | None = None


@runtime_checkable
class Condition(Protocol):
    """A memory condition; a user's own has to have these.

    Attributes
    ----------
    name : str
        What tables call it.
    k : int or None
        Memories asked for, where that has a meaning.
    rankings : str or None
        Name of the rankings it draws on; None if it needs no memory system.
    thinking : {"none", "think", "select"}
    gold : bool
        Whether it shows gold turns because they are gold.
    """

    @property
    def name(self) -> str:
        """What tables call it."""
        ...

    @property
    def k(self) -> int | None:
        """Memories asked for, where that has a meaning."""
        ...

    @property
    def rankings(self) -> str | None:
        """Name of the rankings it draws on, or None."""
        ...

    @property
    def thinking(self) -> Thinking:
        """How a model thinks before it replies."""
        ...

    @property
    def gold(self) -> bool:
        """Whether it shows gold turns because they are gold."""
        ...

    def remember(self, material: Material) -> list[Remembered]:
        """Return what is remembered for each query of the material, in order."""
        ...
