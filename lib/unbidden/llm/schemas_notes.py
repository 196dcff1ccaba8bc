"""The forms of replies to the prompts of A-MEM, AnchorMem and Nemori."""

from __future__ import annotations

from typing import Literal

from unbidden.llm.schemas import Output, Text


class NoteAnalysis(Output):
    """What a note is about (A-MEM, note construction)."""

    keywords: list[Text]
    context: Text
    tags: list[Text]


class NoteEvolution(Output):
    """How a new note changes itself and its neighbours (A-MEM, link generation and evolution).

    Attributes
    ----------
    suggested_connections : list of int
        Numbers of neighbours as shown; numbers that were not shown are dropped by the system.
    new_context_neighborhood, new_tags_neighborhood : list
        One entry for every neighbour, in the order shown.
    """

    should_evolve: bool
    actions: list[Literal["strengthen", "update_neighbor"]]
    suggested_connections: list[int]
    tags_to_update: list[Text]
    new_context_neighborhood: list[str]
    new_tags_neighborhood: list[list[Text]]


class QueryKeywords(Output):
    """A question as keywords, separated by commas (A-MEM, retrieval)."""

    keywords: Text


class AnchorFacts(Output):
    """The atomic facts of a chunk (AnchorMem); none is a valid answer."""

    facts: list[str]


class AnchorEvents(Output):
    """What happened, told from a group of facts and their chunks (AnchorMem)."""

    events: list[str]


class MessageGroup(Output):
    """Numbers of the messages of one episode, and its topic."""

    indices: list[int]
    topic: str


class Segmentation(Output):
    """A run of messages parted into episodes (Nemori)."""

    episodes: list[MessageGroup]


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

    statements: list[str]
