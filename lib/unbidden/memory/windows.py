"""Chunks: windows of neighbouring turns of one session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unbidden.errors import ConfigError
from unbidden.memory.units import PROTOCOLS, Protocol, one_of, said_line, turn_text

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from unbidden.corpus.models import Session, Turn, TurnId


@dataclass(frozen=True, slots=True)
class Window:
    """Some neighbouring turns of a session."""

    ids: tuple[TurnId, ...]
    text: str
    time: dt.datetime | None


def session_windows(
    session: Session, *, size: int = 3, overlap: int = 1, protocol: Protocol = "paper"
) -> list[Window]:
    """Return the windows of a session, in time order; every turn is in at least one.

    A window begins every ``size - overlap`` turns, so the last one may be shorter and lie wholly
    inside the one before, as in AnchorMem's released code. With 3 and 1, n turns give ceil(n / 2).

    Parameters
    ----------
    protocol : {"paper", "repaired"}
        "paper": a line with the date, then a line for each turn. "repaired": the study's repaired
        form of each turn.

    Raises
    ------
    ConfigError
        If `overlap` is not below `size`, one of them is out of range, or the protocol is unknown.
    """
    one_of("protocol", protocol, PROTOCOLS)
    if not 0 <= overlap < size:
        raise ConfigError(
            "windows cannot be cut",
            expected="0 <= overlap < chunk size",
            got=f"size {size}, overlap {overlap}",
            next_step="AnchorMem uses a size of 3 and an overlap of 1",
        )
    turns = session.turns
    parts = [turns[start : start + size] for start in range(0, len(turns), size - overlap)]
    return [
        Window(tuple(t.id for t in part), _text(part, session, protocol), session.when)
        for part in parts
    ]


def _text(turns: Sequence[Turn], session: Session, protocol: Protocol) -> str:
    if protocol == "paper":
        return "\n".join([f"DATE: {session.date_text}", *map(said_line, turns)])
    return "\n".join(turn_text(turn, session, protocol) for turn in turns)
