"""What a memory system is: it takes in a conversation, and answers a search."""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping, Sequence

    from unbidden.corpus.models import Conversation, TurnId

Provenance = Literal["exact", "batch", "cited", "none"]
"""How a system knows the source turns of a memory.

exact: the memory is made of those turns; batch: it was made while those turns were read; cited:
a model named them; none: it cannot say, and its recall is "not available".
"""


@dataclass(frozen=True, slots=True)
class SystemInfo:
    """What a table says about a system.

    Attributes
    ----------
    paper : str
        Where its algorithm is described.
    needs_llm : bool
        Whether building or searching it calls a language model.
    provenance : str
        Of the memories its search is built around; its docstring says where others differ.
    licence : str
        That of its authors' code; where none is known, that of ours.
    """

    name: str
    paper: str
    needs_llm: bool
    provenance: Provenance
    licence: str


@dataclass(frozen=True, slots=True)
class Retrieved:
    """One memory brought to mind.

    Attributes
    ----------
    text : str
        What a reply would be given to read.
    sources : tuple of TurnId
        Turns it comes from, without repeats; empty if the system cannot say.
    score : float
        Higher is better; comparable inside one search only.
    time : datetime or None
        When what it tells was said.
    via : str or None
        Id of the memory through whose link it was found; None if the search itself found it.
    """

    text: str
    sources: tuple[TurnId, ...]
    score: float
    time: dt.datetime | None = None
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A piece of conversation that was not, or not wholly, stored.

    Attributes
    ----------
    unit : str
        Which one, for people ("session 3, messages 5-6").
    reason : str
        One line, as the column ``unscored`` gives it.
    turns : tuple of TurnId
        What was said in it.
    """

    unit: str
    reason: str
    turns: tuple[TurnId, ...] = ()


@dataclass(frozen=True, slots=True)
class CallCount:
    """Model calls of one prompt.

    Attributes
    ----------
    failed : int
        Calls without a usable answer.
    lost : int
        Those of them that were not made again, so that nothing came of what was asked.
    full : int
        Answers with a list as long as the prompt's schema allows: more may have been left unsaid.
    input_tokens, output_tokens : int
        Of the calls whose endpoint counted them.
    uncounted : int
        Calls whose endpoint did not count tokens.
    seconds : float
        Time in calls, as recorded if replayed.
    """

    calls: int = 0
    failed: int = 0
    lost: int = 0
    full: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    uncounted: int = 0
    seconds: float = 0.0

    @property
    def asked(self) -> int:
        """What was asked; calls made again because their answer was malformed count once."""
        return self.calls - (self.failed - self.lost)

    def __add__(self, other: CallCount) -> CallCount:
        """Return the counts of both."""
        return CallCount(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: CallCount) -> CallCount:
        """Return what this has more than an earlier count."""
        return CallCount(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What was stored: units taken in, memories held, and units lost to failures.

    Attributes
    ----------
    failed : int
        Units in `failures`; a unit with two failures counts once.
    failures : tuple of Failure
        Each loss, in the order in which it happened.
    calls : mapping of str to CallCount
        By prompt name.
    events : mapping of str to int
        What else a reader should know, by name ("updated", "unknown_id", "duplicate", ...).
    """

    units: int
    memories: int
    failed: int = 0
    failures: tuple[Failure, ...] = ()
    calls: Mapping[str, CallCount] = field(default_factory=dict)
    events: Mapping[str, int] = field(default_factory=dict)


class MemorySystem(Protocol):
    """The interface every system implements.

    `ingest` is called once per conversation and replaces what was held before, so that no
    conversation sees another's memories.
    """

    info: SystemInfo

    def ingest(self, conversation: Conversation) -> IngestReport:
        """Take in a conversation, forgetting any other."""
        ...

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return at most `k` memories, best first.

        Parameters
        ----------
        speaker : str, optional
            Name of the person who says the query.
        """
        ...


@runtime_checkable
class PreparesTexts(Protocol):
    """A system that is quicker when it sees many texts at once, as embedders are.

    The run calls `prepare` with every conversation and query text before anything is searched.
    It must not change any result.
    """

    def prepare(self, conversations: Sequence[Conversation], queries: Sequence[str]) -> None:
        """Do slow work for these texts in one go."""
        ...


@runtime_checkable
class CountsSearches(Protocol):
    """A system whose searches can go another way than meant, and say how often they did."""

    @property
    def search_events(self) -> Mapping[str, int]:
        """Counts since the system was made, by what happened ("keywords failed, ...")."""
        ...


@runtime_checkable
class ExplainsFailures(Protocol):
    """A system whose search can fail where another way to find anything is lacking.

    What a failed search returns is no measurement: the query is unscored with this reason.
    """

    @property
    def search_failure(self) -> str | None:
        """Why the last search could not be made, in one line; None if it was made."""
        ...


@runtime_checkable
class AsksWhileSearching(Protocol):
    """A system that may ask a model while it searches, and counts those calls."""

    @property
    def search_calls(self) -> Mapping[str, CallCount]:
        """Counts by prompt name since the system was made, without those of storing."""
        ...
