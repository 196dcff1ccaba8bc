"""The forms of mem0's structured replies."""

from __future__ import annotations

from typing import Annotated, Literal

from unbidden.llm.schemas import Output, most


class FactTexts(Output):
    """Facts found in a batch of messages; none is a valid answer, and blank ones are dropped."""

    facts: Annotated[list[str], most(12)]


class MemoryAction(Output):
    """What is to be done about one memory.

    Attributes
    ----------
    id : str or int
        Label of a memory that was shown; of no meaning for ADD. Models write either type.
    old_memory : str or None
        The text before an UPDATE.
    """

    id: str | int
    text: str
    event: Literal["ADD", "UPDATE", "DELETE", "NONE"]
    old_memory: str | None


class MemoryActions(Output):
    """The update of a memory list by new facts."""

    memory: Annotated[list[MemoryAction], most(72)]


class FactOperation(Output):
    """What is to be done about one new fact.

    Attributes
    ----------
    id : str, int or None
        Label of the memory it concerns; None for ADD and NOOP.
    text : str
        The memory as it shall read; of no meaning for DELETE and NOOP.
    """

    operation: Literal["ADD", "UPDATE", "DELETE", "NOOP"]
    id: str | int | None
    text: str


class AddedMemory(Output):
    """A new memory, who said it, and the labels of related old ones."""

    text: str
    attributed_to: Literal["user", "assistant"]
    linked_memory_ids: Annotated[list[str | int], most(5)]


class AddedMemories(Output):
    """What a batch of messages adds; none is a valid answer."""

    memory: Annotated[list[AddedMemory], most(12)]
