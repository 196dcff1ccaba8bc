"""The one renderer: memories of every condition become lines of a prompt, within one limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from unbidden.memory.tokens import count_tokens, first_tokens, last_tokens
from unbidden.memory.units import turn_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unbidden.reply.material import Places, Shown
    from unbidden.reply.rules import ReplyRules

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
    chosen = dict(enumerate(line(memory, places, rules) for memory in memories))
    limits = [(rules.memory_tokens, _TOKENS)]
    if history:
        limits.append((rules.history_characters, _CHARACTERS))
    marker, notes = "", []
    for limit, measure in limits:
        if limit is None:
            continue
        found, note = _fit(list(chosen.values()), limit, keep, measure)
        room = limit - measure.size(MARKER)
        if note and rules.clip_marker and room > 0:
            marker = MARKER
            found, note = _fit(list(chosen.values()), room, keep, measure)
        places_left = list(chosen)
        chosen = {places_left[i]: text for i, text in found.items()}
        notes += [note] if note else []
    lines = list(chosen.values())
    if marker:
        lines = [*lines, marker] if keep == "start" else [marker, *lines]
    return Rendered(
        tuple(lines),
        tuple(memories[i] for i in chosen),
        sum(_counted(text) for text in lines),
        len(memories) - len(chosen),
        tuple(notes),
    )


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


def text_lines(texts: Sequence[str], limit: int | None) -> tuple[list[str], str | None]:
    r"""Return memories that are mere texts as lines of a prompt, within a limit of tokens.

    Each is put on one line, so that no memory can imitate the prompt, as the rules' `one_line` has
    it; the first ones are kept. The second value is a note if something was clipped.

    >>> text_lines(["one\n two", "three"], None)
    (['one two', 'three'], None)
    """
    return clip_texts([" ".join(text.split()) for text in texts], limit)


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
    if limit is None:
        return list(texts), None
    found, note = _fit(texts, limit, keep, _TOKENS)
    return list(found.values()), note


@dataclass(frozen=True, slots=True)
class _Measure:
    """How long texts are, and how one is cut to a length from either end."""

    unit: str
    size: Callable[[str], int]
    first: Callable[[str, int], str]
    last: Callable[[str, int], str]


# A whole conversation is counted for each of its queries.
_counted = lru_cache(maxsize=100_000)(count_tokens)
_TOKENS = _Measure("tokens", _counted, first_tokens, last_tokens)
# One more for the line break after each.
_CHARACTERS = _Measure(
    "characters",
    lambda text: len(text) + 1,
    lambda t, n: t[: n - 1],
    lambda t, n: t[len(t) - n + 1 :],
)


def _fit(
    texts: Sequence[str], limit: int, keep: End, measure: _Measure
) -> tuple[dict[int, str], str | None]:
    """Return the texts that fit, by position, and a note if some do not."""
    order = range(len(texts)) if keep == "start" else range(len(texts) - 1, -1, -1)
    chosen: dict[int, str] = {}
    used, cut = 0, False
    for i in order:
        cost = measure.size(texts[i])
        if used + cost > limit:
            if not chosen:
                part = measure.first if keep == "start" else measure.last
                if shown := part(texts[i], limit).strip():
                    chosen[i], cut = shown, True
            break
        chosen[i] = texts[i]
        used += cost
    left = len(texts) - len(chosen)
    note = f"clipped to {limit} {measure.unit}: {left} of {len(texts)} memories left out"
    note += ", one shown in part" if cut else ""
    return dict(sorted(chosen.items())), note if left or cut else None
