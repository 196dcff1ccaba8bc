"""What each session tells, in sentences: the memories THEANINE and its baselines are made of.

One call for each session, long ones too (THEANINE, arXiv 2406.10996, section 3.1 and its released
code). Where we differ: the reply is a JSON list and not a numbered one; blank lines, which the
released code keeps as memories, are dropped, and so are repeats; where a session has a date the
prompt gives it. A call sees nothing of other sessions, so all are asked at once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from unbidden.corpus.models import Session, Turn, TurnId
from unbidden.llm.schemas_summaries import CitedFacts, SessionFacts
from unbidden.memory.batches import observation_date, said
from unbidden.memory.modelled import checked
from unbidden.memory.units import one_of

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Sequence

    from unbidden.llm import Outcome
    from unbidden.memory.calls import CountedCalls
    from unbidden.memory.modelled import IngestLog

SummarySources = Literal["batch", "cited"]
SUMMARY_SOURCES: tuple[SummarySources, ...] = get_args(SummarySources)

_PROMPTS = {"batch": "summarise_session.v1", "cited": "summarise_session_cited.v1"}
_NUMBER = re.compile(r"^\s*(?:\d{1,2}[.)]|[-*•])\s+")


@dataclass(frozen=True, slots=True)
class SummaryMemory:
    """One sentence about the speakers.

    Attributes
    ----------
    id : str
        ``s{session}-m{i}``, i from 1 among the session's sentences.
    session : int
        Number of the session it was drawn from.
    time : datetime or None
        When that session took place.
    sources : tuple of TurnId
        All turns of the session ("batch"), or those the model named ("cited").
    """

    id: str
    text: str
    session: int
    time: dt.datetime | None
    sources: tuple[TurnId, ...]


def summarise(
    sessions: Sequence[Session],
    calls: CountedCalls,
    log: IngestLog,
    *,
    sources: SummarySources = "batch",
    captions: bool = True,
    dates: bool = True,
) -> list[SummaryMemory]:
    """Return the memories of all sessions, in order of time.

    Each session is a unit of `log`; a failed call loses its session and is a failed unit of it.
    Events: ``empty_session`` (no turns, no call), ``no_facts``, ``blank_facts``,
    ``repeated_facts`` and, with "cited", ``uncited`` (facts that name no line of the session and
    get all its turns) and ``unknown_line`` (numbers that name none).

    Parameters
    ----------
    sessions : sequence of Session
        Of a conversation, or from `dialogue_sessions`.
    calls : CountedCalls
        Of a `ModelledSystem`, or ``CountedCalls(llm)``.
    log : IngestLog
        Of a `ModelledSystem`, or ``IngestLog()``.
    sources : {"batch", "cited"}
        Whether a memory comes from all turns of its session or from those the model names.
    captions : bool
        Whether captions of shared images are read.
    dates : bool
        Whether the prompt gives a session's date; the paper's prompt does not.

    Raises
    ------
    ConfigError
        If `sources` is unknown, or a prompt of the reader's own has another schema.
    """
    one_of("sources", sources, SUMMARY_SOURCES)
    log.units += len(sessions)
    told = [session for session in sessions if session.turns]
    log.events["empty_session"] += len(sessions) - len(told)
    name = _PROMPTS[sources]
    items = [(name, _variables(session, captions=captions, dates=dates)) for session in told]
    outcomes = calls.ask_many(items, label="session summaries") if items else []
    return [
        memory
        for session, outcome in zip(told, outcomes, strict=True)
        for memory in _memories(session, outcome, name, log)
    ]


def dialogue_sessions(dialogues: Sequence[Sequence[tuple[str, str]]]) -> tuple[Session, ...]:
    """Return plain dialogues as sessions 1, 2, ... without dates, with turn ids as in LoCoMo.

    Parameters
    ----------
    dialogues : sequence of sequence of (speaker, text)
        As Multi-Session Chat and Conversation Chronicles have them.

    >>> dialogue_sessions([[("Ana", "Hi!")], [("Ben", "Back again.")]])[1].turns[0].id
    'D2:1'
    """
    return tuple(
        Session(
            number,
            None,
            "",
            tuple(
                Turn(TurnId(f"D{number}:{i}"), speaker, text)
                for i, (speaker, text) in enumerate(dialogue, start=1)
            ),
        )
        for number, dialogue in enumerate(dialogues, start=1)
    )


def date_line(session: Session, *, dates: bool = True) -> str:
    """Return the date a prompt gives of a session; empty if it has none or shall give none."""
    known = session.when is not None or session.date_text.strip()
    return observation_date(session) if dates and known else ""


def turn_lines(session: Session, *, captions: bool = True) -> list[dict[str, str]]:
    """Return the turns of a session as a prompt needs them."""
    return [
        {"speaker": turn.speaker, "text": said(turn, captions=captions)} for turn in session.turns
    ]


def _variables(session: Session, *, captions: bool, dates: bool) -> dict[str, Any]:
    return {
        "date": date_line(session, dates=dates),
        "turns": turn_lines(session, captions=captions),
    }


def _memories(
    session: Session, outcome: Outcome[Any], name: str, log: IngestLog
) -> list[SummaryMemory]:
    """Return the memories of one session, none after noting its loss."""
    every = tuple(turn.id for turn in session.turns)
    if not outcome.ok:
        log.fail(f"session {session.number}", outcome, every)
        return []
    if name == _PROMPTS["batch"]:
        facts = [(text, every) for text in checked(outcome.value, SessionFacts, name).facts]
    else:
        cited = checked(outcome.value, CitedFacts, name).facts
        facts = [(fact.text, _cited(fact.lines, every, log)) for fact in cited]
    clean: dict[str, tuple[TurnId, ...]] = {}
    for raw, turns in facts:
        text = _NUMBER.sub("", raw).strip()
        log.events["blank_facts"] += not text
        log.events["repeated_facts"] += text in clean
        if text:
            # The first mention keeps its place; its turns are those of all mentions.
            named = {*clean.get(text, ()), *turns}
            clean[text] = tuple(turn for turn in every if turn in named)
    log.events["no_facts"] += not clean
    return [
        SummaryMemory(f"s{session.number}-m{i}", text, session.number, session.when, turns)
        for i, (text, turns) in enumerate(clean.items(), start=1)
    ]


def _cited(lines: Sequence[int], every: tuple[TurnId, ...], log: IngestLog) -> tuple[TurnId, ...]:
    """Return the turns of the lines named, in order; all if none of them exists."""
    named = set(lines)
    known = tuple(turn for number, turn in enumerate(every, start=1) if number in named)
    log.events["unknown_line"] += len(named) - len(known)
    log.events["uncited"] += not known
    return known or every
