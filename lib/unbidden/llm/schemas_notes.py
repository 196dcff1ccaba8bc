"""The forms of replies to the prompts of A-MEM, AnchorMem and Nemori."""

from __future__ import annotations

from typing import Annotated, Literal

from unbidden.llm.schemas import Output, Text, most


class NoteAnalysis(Output):
    """What a note is about (A-MEM, note construction); blank keywords and tags are dropped."""

    keywords: Annotated[list[str], most(8)]
    context: Text
    tags: Annotated[list[str], most(8)]


class NoteEvolution(Output):
    """How a new note changes itself and its neighbours (A-MEM, link generation and evolution).

    Blank tags are dropped.

    Attributes
    ----------
    suggested_connections : list of int
        Numbers of neighbours as shown; numbers that were not shown are dropped by the system.
    new_context_neighborhood, new_tags_neighborhood : list
        One entry for every neighbour, in the order shown.
    """

    should_evolve: bool
    actions: Annotated[list[Literal["strengthen", "update_neighbor"]], most(2)]
    suggested_connections: Annotated[list[int], most(5)]
    tags_to_update: Annotated[list[str], most(8)]
    new_context_neighborhood: Annotated[list[str], most(20)]
    new_tags_neighborhood: Annotated[list[Annotated[list[str], most(8)]], most(20)]


class QueryKeywords(Output):
    """A question as keywords, separated by commas (A-MEM, retrieval)."""

    keywords: Text


class AnchorFacts(Output):
    """The atomic facts of a chunk (AnchorMem); none is a valid answer."""

    facts: Annotated[list[str], most(12)]


class AnchorEvents(Output):
    """What happened, told from a group of facts and their chunks (AnchorMem)."""

    events: Annotated[list[str], most(12)]


class MessageGroup(Output):
    """Numbers of the messages of one episode, and its topic."""

    indices: Annotated[list[int], most(60)]
    topic: str


class Segmentation(Output):
    """A run of messages parted into episodes (Nemori)."""

    episodes: Annotated[list[MessageGroup], most(24)]


class EpisodeText(Output):
    """An episode told in the third person (Nemori).

    Attributes
    ----------
    timestamp : str
        ISO date and time, or anything else if unknown; the system checks it.
    """

    title: Text
    content: Text
    timestamp: str


class MergeDecision(Output):
    """Whether a new episode continues an old one (Nemori)."""

    decision: Literal["merge", "new"]
    merge_target_id: str | None
    reason: str


class Statements(Output):
    """Lasting statements (Nemori); none is a valid answer."""

    statements: Annotated[list[str], most(12)]
