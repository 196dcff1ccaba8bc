"""Cues by a model: for which later situations each turn would matter, and what caused it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unbidden.llm.schemas_cues import WindowCues
from unbidden.memory.batches import batches, check_size
from unbidden.memory.cued.store import Cue
from unbidden.memory.modelled import checked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unbidden.corpus.models import Conversation, TurnId
    from unbidden.llm.schemas_cues import LineCues
    from unbidden.memory.batches import Batch, Message
    from unbidden.memory.calls import CountedCalls
    from unbidden.memory.modelled import IngestLog

PROMPT = "unbidden_cues.v1"
FACETS = ("occasion", "consequence", "need")
"""The texts of a line that become cues, each with the person's name before it."""


@dataclass(slots=True)
class Written:
    """All cues of a conversation, and pairs of a cause and what came of it."""

    cues: list[Cue] = field(default_factory=list)
    causes: list[tuple[TurnId, TurnId]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Window:
    """Lines for which cues are asked, and those before them in their session."""

    batch: Batch
    earlier: tuple[Message, ...]

    def numbered(self) -> dict[int, Message]:
        """Return the lines by the number under which they are shown."""
        return dict(enumerate((*self.earlier, *self.batch.messages), start=1))

    def variables(self) -> dict[str, Any]:
        """Return what the prompt needs."""
        lines = [
            {"number": str(number), "speaker": message.name, "text": message.text}
            for number, message in self.numbered().items()
        ]
        old = len(self.earlier)
        return {"date": self.batch.date, "earlier": lines[:old], "lines": lines[old:]}


def windows(conversation: Conversation, size: int, context: int) -> Iterator[Window]:
    """Yield the windows of a conversation; each turn is new in exactly one.

    Parameters
    ----------
    size : int
        New lines in a window.
    context : int
        Most lines shown before them, of the same session.
    """
    earlier: tuple[Message, ...] = ()
    for batch in batches(conversation, None, size=size, captions=True):
        yield Window(batch, earlier)
        known = (*earlier, *batch.messages)
        earlier = () if batch.last or not context else known[-context:]


def write_cues(
    conversation: Conversation, calls: CountedCalls, log: IngestLog, *, size: int, context: int
) -> Written:
    """Ask for the cues of all windows; a call sees no other window's answer.

    Each window is a unit of `log`. A failed call is a failed unit: its turns have no cue, and can
    be found by their own words only. Events: ``cues``, ``causes``, ``turns_without_cues``,
    ``blank_cues``, ``unknown_line`` (a number that is no new line), ``unknown_cause`` (one that is
    no other line shown) and ``repeated_line``.
    """
    check_size(size, "window")
    found = Written()
    asked = list(windows(conversation, size, context))
    outcomes = calls.ask_many(
        [(PROMPT, window.variables()) for window in asked], label="situations"
    )
    for window, outcome in zip(asked, outcomes, strict=True):
        log.units += 1
        if not outcome.ok:
            log.fail(window.batch.label, outcome, window.batch.turns)
            log.events["turns_without_cues"] += len(window.batch.turns)
            continue
        _read(checked(outcome.value, WindowCues, PROMPT), window, found, log)
    log.events["cues"] += len(found.cues)
    log.events["causes"] += len(found.causes)
    return found


def _read(reply: WindowCues, window: Window, found: Written, log: IngestLog) -> None:
    lines = window.numbered()
    new = set(window.batch.turns)
    cued: set[TurnId] = set()
    for item in reply.lines:
        message = lines.get(item.line)
        if message is None or message.turn not in new:
            log.events["unknown_line"] += 1
        elif message.turn in cued:
            log.events["repeated_line"] += 1
        else:
            cued.add(message.turn)
            found.cues += _cues(item, message, log)
            _cause(item, message, lines, found, log)
    log.events["turns_without_cues"] += len(new - cued)


def _cues(item: LineCues, message: Message, log: IngestLog) -> list[Cue]:
    texts = [" ".join(getattr(item, name).split()) for name in FACETS]
    log.events["blank_cues"] += sum(not text for text in texts)
    who = " ".join(item.who.split()) or message.name
    return [Cue(message.turn, f"{who}: {text}") for text in dict.fromkeys(texts) if text]


def _cause(
    item: LineCues, message: Message, lines: dict[int, Message], found: Written, log: IngestLog
) -> None:
    if item.because_of is None:
        return
    cause = lines.get(item.because_of)
    if cause is None or cause.turn == message.turn:
        log.events["unknown_cause"] += 1
    else:
        found.causes.append((cause.turn, message.turn))
