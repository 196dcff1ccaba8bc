"""Sessions replayed turn by turn: the talk so far, who speaks next, and what they really said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from unbidden.corpus.models import Conversation, ConversationId, Session, Turn

SESSIONS = (3, 4, 5)
"""The sessions THEANINE evaluates (section 4); before them there is too little to remember."""


@dataclass(frozen=True, slots=True)
class NextTurn:
    """One point of a session at which a reply is wanted.

    Attributes
    ----------
    past : tuple of Session
        Sessions before this one: all that a memory may hold. (THEANINE's code searches later
        sessions too when it replays sessions 3 and 4; here the future is out of reach.)
    turn : int
        How many turns of the session have been said, from 1.
    dialogue : tuple of Turn
        Those turns.
    speaker : str
        Who really speaks next, which is not always the other one.
    gold : str
        What they say.
    """

    conversation: ConversationId
    session: int
    turn: int
    past: tuple[Session, ...]
    dialogue: tuple[Turn, ...]
    speaker: str
    gold: str

    @property
    def id(self) -> str:
        """Name inside a corpus, unique: conversation, session, turns said."""
        return f"{self.conversation}-s{self.session}-t{self.turn}"

    @property
    def tagged(self) -> str:
        """The talk so far, one line a turn, each with its speaker: THEANINE's query."""
        return "\n".join(f"{turn.speaker}: {turn.text}" for turn in self.dialogue)


def next_turns(
    conversation: Conversation, sessions: Collection[int] = SESSIONS
) -> Iterator[NextTurn]:
    """Yield every point of the given sessions after which someone speaks.

    The dialogue is the real one throughout: a reply never becomes part of the talk that follows.

    Parameters
    ----------
    sessions : collection of int
        Session numbers; those a conversation lacks give nothing.
    """
    for session in conversation.sessions:
        if session.number not in sessions:
            continue
        past = tuple(item for item in conversation.sessions if item.number < session.number)
        for said in range(1, len(session.turns)):
            following = session.turns[said]
            yield NextTurn(
                conversation.id,
                session.number,
                said,
                past,
                session.turns[:said],
                following.speaker,
                following.text,
            )
