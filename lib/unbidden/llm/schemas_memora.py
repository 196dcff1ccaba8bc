"""The forms of Memora's structured replies."""

from __future__ import annotations

from typing import Annotated, Literal

from unbidden.llm.schemas import Output, most


class Episode(Output):
    """Messages about one topic, by number."""

    topic: str
    indices: Annotated[list[int], most(60)]


class Episodes(Output):
    """A session cut into episodes."""

    episodes: Annotated[list[Episode], most(24)]


class Entry(Output):
    """A memory: a short key, and the whole of what it stands for."""

    index: str
    value: str


class Entries(Output):
    """The facts of a segment; none is a valid answer."""

    entries: Annotated[list[Entry], most(40)]


class CitedEntry(Output):
    """A memory and the ids of the turns that say it."""

    index: str
    value: str
    turns: Annotated[list[str], most(12)]


class CitedEntries(Output):
    """The facts of a segment with their turns; none is a valid answer."""

    entries: Annotated[list[CitedEntry], most(40)]


class EntryCues(Output):
    """The cues of one memory, which is named by its key."""

    memory_index: str
    cue_indices: Annotated[list[str], most(6)]


class Cues(Output):
    """The cues of several memories."""

    results: Annotated[list[EntryCues], most(40)]


class UpdateDecision(Output):
    """Whether a new memory is to be merged into an old one, and how the result reads.

    Attributes
    ----------
    best_candidate_index : int or None
        Number of the old memory.
    """

    should_update: bool
    best_candidate_index: int | None
    updated_index: str | None
    updated_value: str | None


class PolicyStep(Output):
    """What to do next while collecting memories for a query.

    Attributes
    ----------
    frontier_ids : list of int
        Numbers of the neighbours to take in; of no meaning unless EXPAND.
    new_query : str or None
        Of no meaning unless RE_QUERY.
    """

    reason: str
    action: Literal["EXPAND", "RE_QUERY", "STOP"]
    frontier_ids: Annotated[list[int], most(12)]
    new_query: str | None
