"""The frozen records of the study: a corpus of conversations, and the questions about them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NewType, get_args

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Mapping

TurnId = NewType("TurnId", str)
"""A turn's id inside its conversation, in LoCoMo ``D<session>:<turn>``."""
ConversationId = NewType("ConversationId", str)
"""A conversation's ``sample_id``; with a turn id it names one turn of a corpus."""

Style = Literal["question", "dialog", "implicit", "counterfactual", "composed"]
STYLES: tuple[Style, ...] = get_args(Style)
"""LoCoMo's plain question and the four conversational styles of LoCoMo-Conv (section 3)."""

CATEGORIES: dict[int, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
"""LoCoMo's category numbers, as its evidence shows them.

Category 1 has evidence in more than one session for 269 of 282 questions, category 4 for 1 of
841. Several published tools use other names for the same numbers.
"""


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance.

    Attributes
    ----------
    id : TurnId
        Unique inside the conversation only.
    caption : str or None
        Text description of a shared image.
    """

    id: TurnId
    speaker: str
    text: str
    caption: str | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One sitting of a conversation: turns under one date.

    Attributes
    ----------
    when : datetime or None
        Naive local time; None if the file gives no readable date.
    date_text : str
        The date as the file writes it.
    """

    number: int
    when: dt.datetime | None
    date_text: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A question recast in one conversational style (LoCoMo-Conv section 3.1)."""

    text: str
    speaker: str | None = None
    expected_memory_use: str | None = None
    asserted_wrong: str | None = None
    naturalness: str | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a conversation, with its gold answer and evidence.

    Attributes
    ----------
    index : int
        Position in the file's ``qa`` list, from 0.
    answer : str or None
        Always None for category 5, which has a `trap` instead.
    evidence : tuple of str
        Evidence strings as the file writes them; `unbidden.corpus.evidence` reads them.
    rewrites : mapping of style to Rewrite
    """

    index: int
    text: str
    category: int
    evidence: tuple[str, ...]
    answer: str | None = None
    trap: str | None = None
    rewrites: Mapping[Style, Rewrite] = field(default_factory=dict)

    @property
    def answerable(self) -> bool:
        """Whether the conversation holds an answer (every category but 5)."""
        return self.category != 5


@dataclass(frozen=True)
class Conversation:
    """A conversation of two speakers in dated sessions, and the questions about it."""

    id: ConversationId
    speakers: tuple[str, str]
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...] = ()

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """All turns in time order."""
        return tuple(turn for session in self.sessions for turn in session.turns)

    @cached_property
    def turn_ids(self) -> frozenset[TurnId]:
        """The ids of all turns."""
        return frozenset(turn.id for turn in self.turns)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Questions of one conversation with overlapping evidence, and their composed query.

    Attributes
    ----------
    members : tuple of int
        Question indices, ascending.
    name : str
        The file's own name ("S0_C3"); positions in it mean nothing here.
    gold_in_file : tuple of str
        The union of evidence as the file writes it, kept for cross-checks.
    """

    conversation: ConversationId
    members: tuple[int, ...]
    query: Rewrite
    name: str
    gold_in_file: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Irregularity:
    """Something unusual in a file that was read all the same."""

    kind: str
    where: str
    detail: str


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file a corpus was read from; `name` holds no folder."""

    name: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Corpus:
    """Conversations, composed clusters, where they came from and what was odd about them."""

    name: str
    conversations: tuple[Conversation, ...]
    clusters: tuple[Cluster, ...] = ()
    sources: tuple[SourceFile, ...] = ()
    irregularities: tuple[Irregularity, ...] = ()

    def conversation(self, conversation_id: str) -> Conversation:
        """Return the conversation of that id.

        Raises
        ------
        KeyError
            If there is none.
        """
        for conversation in self.conversations:
            if conversation.id == conversation_id:
                return conversation
        raise KeyError(conversation_id)
