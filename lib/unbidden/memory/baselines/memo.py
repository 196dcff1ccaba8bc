"""MemoChat's memo: a dialogue cut into blocks of lines, and its topics as ranges of lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unbidden.memory.batches import said
from unbidden.memory.tokens import count_words

if TYPE_CHECKING:
    import datetime as dt
    from collections import Counter
    from collections.abc import Sequence

    from unbidden.corpus.models import Session, TurnId
    from unbidden.llm.schemas_baselines import MemoTopic

NOTO = "NOTO"
"""MemoChat's word for what is in no topic."""


@dataclass(frozen=True, slots=True)
class Line:
    """A turn as MemoChat reads it."""

    turn: TurnId
    speaker: str
    text: str
    session: int
    time: dt.datetime | None

    @property
    def shown(self) -> str:
        """The line as evidence."""
        return f"{self.speaker}: {self.text}"


@dataclass(frozen=True, slots=True)
class Entry:
    """A topic with its lines; `topic` is `NOTO` for lines in none."""

    topic: str
    summary: str
    lines: tuple[Line, ...]

    @property
    def option(self) -> str:
        """What a choice is shown of it, and what is embedded."""
        return f"{self.topic}. {self.summary}"

    @property
    def evidence(self) -> str:
        """What a reply is given to read: topic, summary, and what was really said."""
        return "\n".join([f"{self.topic}: {self.summary}", *(line.shown for line in self.lines)])


def session_lines(session: Session, *, captions: bool) -> list[Line]:
    """Return the turns of a session as lines."""
    return [
        Line(turn.id, turn.speaker, said(turn, captions=captions), session.number, session.when)
        for turn in session.turns
    ]


def blocks(
    lines: Sequence[Line], *, size: int | None, max_words: int | None, cross_session: bool
) -> list[list[Line]]:
    """Return the lines in the blocks in which they are written; every line is in one.

    Parameters
    ----------
    size, max_words : int or None
        A block ends with the line that brings it to so many lines, or over so many words.
    cross_session : bool
        Whether a block may go on over the end of a session.
    """
    found: list[list[Line]] = []
    words = 0
    for line in lines:
        last = found[-1] if found else []
        full = (
            not last
            or (size is not None and len(last) >= size)
            or (max_words is not None and words > max_words)
            or (not cross_session and last[-1].session != line.session)
        )
        if full:
            found.append([])
            words = 0
        found[-1].append(line)
        words += count_words(line.text)
    return found


def block_name(lines: Sequence[Line]) -> str:
    """Return what a report calls a block."""
    return f"lines {lines[0].turn} to {lines[-1].turn}"


def entries(
    topics: Sequence[MemoTopic], lines: Sequence[Line], events: Counter[str]
) -> list[Entry]:
    """Return the topics of a block with their lines; what no topic holds comes last, as `NOTO`.

    Ranges are turned round where they are reversed and cut to the block. A line may be in two
    topics, as in the original. Counted: ``ranges_repaired``, ``ranges_outside`` (no line of the
    block, dropped), ``blank_topics`` (dropped), ``lines_in_two_topics``, ``lines_in_no_topic``.
    """
    count = len(lines)
    found: list[Entry] = []
    taken: list[int] = []
    for item in topics:
        first, last = sorted((item.start, item.end))
        start, end = max(first, 1), min(last, count)
        topic, summary = " ".join(item.topic.split()), " ".join(item.summary.split())
        if start > end:
            events["ranges_outside"] += 1
        elif not summary and not topic:
            events["blank_topics"] += 1
        else:
            events["ranges_repaired"] += (start, end) != (item.start, item.end)
            if topic.upper() != NOTO:
                taken += range(start, end + 1)
                found.append(Entry(topic, summary, tuple(lines[start - 1 : end])))
    rest = tuple(line for n, line in enumerate(lines, start=1) if n not in set(taken))
    events["lines_in_two_topics"] += len(taken) - len(set(taken))
    events["lines_in_no_topic"] += len(rest)
    return [*found, Entry(NOTO, "", rest)] if rest else found
