"""One item of the explorer: a query, what it should bring to mind, what it did, and what was said.

Texts here are those of conversations and of models. They are data: nothing turns them into markup,
a path or a name.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory a system returned.

    Attributes
    ----------
    sources : tuple of str
        Turn ids, as far as the system can say.
    gold : bool
        Whether a gold turn is among them.
    """

    text: str
    sources: tuple[str, ...] = ()
    gold: bool = False


@dataclass(frozen=True, slots=True)
class Returned:
    """What one system returned, best first; or why it is not scored."""

    system: str
    memories: tuple[Memory, ...] = ()
    unscored: str | None = None

    @property
    def first(self) -> int | None:
        """The rank of the first memory with a gold turn, from 1; None if there is none."""
        ranks = (rank for rank, memory in enumerate(self.memories, 1) if memory.gold)
        return next(ranks, None)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge says of a reply by one rubric; `label` is None where it is unscored."""

    judge: str
    rubric: str
    label: str | None
    reason: str = ""
    unscored: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply, or why there is none.

    Attributes
    ----------
    by : str
        What it was given to remember, or where it comes from.
    """

    by: str
    text: str | None
    unscored: str | None = None
    judgements: tuple[Judgement, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One query in one style, with all that a run knows of it.

    Attributes
    ----------
    answers : tuple of (str, str)
        Questions behind the query, with their gold answers.
    gold : tuple of (str, str)
        Ids and texts of the gold turns.
    """

    id: str
    conversation: str
    style: str
    query: str
    category: str = ""
    speaker: str = ""
    answers: tuple[tuple[str, str], ...] = ()
    gold: tuple[tuple[str, str], ...] = ()
    returned: tuple[Returned, ...] = ()
    replies: tuple[Reply, ...] = ()
