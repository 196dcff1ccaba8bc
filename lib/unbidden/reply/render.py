"""The one renderer: memories of every condition become lines of a prompt, within one limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeVar

from unbidden.memory.tokens import count_tokens, first_tokens, last_tokens
from unbidden.memory.units import turn_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.reply.material import Places, Shown
    from unbidden.reply.rules import ReplyRules

T = TypeVar("T")
End = Literal["start", "end"]
MARKER = "[earlier or further memories are left out]"


@dataclass(frozen=True, slots=True)
class Rendered:
    """Memories as a model sees them.

    Attributes
    ----------
    lines : tuple of str
        One a memory, in the order given.
    shown : tuple of Shown
        The memories of these lines; a marker has none.
    tokens : int
        Of the lines, by `count_tokens`; the marks of a list are not counted.
    left_out : int
        Memories that did not fit.
    notes : tuple of str
        What was clipped.
    """

    lines: tuple[str, ...]
    shown: tuple[Shown, ...]
    tokens: int
    left_out: int = 0
    notes: tuple[str, ...] = ()


def render(
    memories: Sequence[Shown],
    places: Places,
    rules: ReplyRules,
    *,
    keep: End = "start",
    history: bool = False,
) -> Rendered:
    """Return the lines of a prompt.

    Memories are taken whole from one end while they fit. If not even the first of them fits, the
    part of it at that end is shown.

    Parameters
    ----------
    keep : {"start", "end"}
        The end that is kept: the best of a ranking stand first, the latest turns last.
    history : bool
        Whether it is a whole conversation, to which the rules' limit in characters applies.
    """
    texts = [line(memory, places, rules) for memory in memories]
    lines, kept, note = _fit_tokens(texts, list(memories), rules.memory_tokens, keep)
    notes = [note] if note else []
    if history and rules.history_characters is not None:
        lines, kept, note = _fit_characters(lines, kept, rules.history_characters, keep)
        notes += [note] if note else []
    if notes and rules.clip_marker:
        lines = [*lines, MARKER] if keep == "start" else [MARKER, *lines]
    tokens = sum(count_tokens(text) for text in lines)
    return Rendered(tuple(lines), tuple(kept), tokens, len(memories) - len(kept), tuple(notes))


def line(memory: Shown, places: Places, rules: ReplyRules) -> str:
    r"""Return the text of one memory under the rules.

    >>> from unbidden.corpus.models import Session, Turn
    >>> from unbidden.reply.material import Shown
    >>> from unbidden.reply.rules import PAPER, REPAIRED
    >>> turn = Turn("D1:1", "Ana", "Look!", "a boat")
    >>> found = {"D1:1": (Session(1, None, "3 May", (turn,)), turn)}
    >>> line(Shown.of_turn("D1:1"), found, REPAIRED)
    'Ana: Look! [image: a boat]'
    >>> line(Shown.of_turn("D1:1"), found, PAPER)
    '[D1:1 | 3 May] Ana: Look!'
    """
    if memory.text is None and memory.turn is not None:
        session, turn = places[memory.turn]
        if not rules.turn_captions:
            turn = replace(turn, caption=None)
        if rules.turn_lines == "own":
            image = f" [image: {turn.caption}]" if turn.caption else ""
            text = f"[{turn.id} | {session.date_text}] {turn.speaker}: {turn.text.strip()}{image}"
        else:
            text = turn_text(turn, session, "repaired")
    elif memory.turn is not None and rules.turn_lines == "same":
        session, turn = places[memory.turn]
        text = turn_text(turn, session, "repaired")
    else:
        text = memory.text or ""
    return " ".join(text.split()) if rules.one_line else text.strip()


def clip_texts(
    texts: Sequence[str], limit: int | None, *, keep: End = "start"
) -> tuple[list[str], str | None]:
    """Return texts within a limit of tokens, and a note if something was clipped.

    For memories that are mere texts, as in a replay of sessions.

    >>> clip_texts(["one two", "three four"], 3)
    (['one two'], 'clipped to 3 tokens: 1 of 2 memories left out')
    >>> clip_texts(["one two three"], 2, keep="end")[0]
    ['two three']
    """
    lines, _, note = _fit_tokens(texts, list(range(len(texts))), limit, keep)
    return lines, note


def _fit_tokens(
    texts: Sequence[str], items: Sequence[T], limit: int | None, keep: End
) -> tuple[list[str], list[T], str | None]:
    if limit is None:
        return list(texts), list(items), None
    order = range(len(texts)) if keep == "start" else range(len(texts) - 1, -1, -1)
    chosen: list[int] = []
    lines: dict[int, str] = {}
    used, cut = 0, False
    for i in order:
        cost = count_tokens(texts[i])
        if used + cost > limit:
            if not chosen:
                part = first_tokens if keep == "start" else last_tokens
                lines[i], cut = part(texts[i], limit).strip(), True
                chosen.append(i)
            break
        chosen.append(i)
        lines[i] = texts[i]
        used += cost
    chosen.sort()
    left = len(texts) - len(chosen)
    note = f"clipped to {limit} tokens: {left} of {len(texts)} memories left out"
    note += ", one shown in part" if cut else ""
    return [lines[i] for i in chosen], [items[i] for i in chosen], note if left or cut else None


def _fit_characters(
    texts: Sequence[str], items: Sequence[T], limit: int, keep: End
) -> tuple[list[str], list[T], str | None]:
    order = range(len(texts)) if keep == "start" else range(len(texts) - 1, -1, -1)
    chosen: list[int] = []
    used = 0
    for i in order:
        used += len(texts[i]) + 1
        if used > limit:
            break
        chosen.append(i)
    chosen.sort()
    left = len(texts) - len(chosen)
    note = f"clipped to {limit} characters: {left} of {len(texts)} memories left out"
    return [texts[i] for i in chosen], [items[i] for i in chosen], note if left else None
