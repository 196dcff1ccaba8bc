"""Making TeaFarm items of a conversation (THEANINE, section 4).

Each session is summarised; from the summaries in order of time a model writes, as each of the two
speakers in turn, a question that takes something false for granted, and its answer; then it writes
a further session that ends in the question, knowing the last session alone.

Where we differ: the model names the summaries that show the truth, so that their turns are known as
evidence; the question is appended to the session by us, so that it always is its last line, by the
right speaker; sampling follows the settings of the role "rewriter", not a temperature of 0.75; and
where a session could not be summarised nothing is asked, as the latest state is unknown.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from unbidden.corpus.models import Turn, TurnId
from unbidden.errors import ConfigError
from unbidden.llm.schemas_teafarm import FurtherSession, MisleadingQuestion
from unbidden.memory.calls import CountedCalls
from unbidden.memory.modelled import IngestLog, checked
from unbidden.memory.summaries import summarise, turn_lines
from unbidden.reply.teafarm.items import TeaItem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation
    from unbidden.llm import LLM, Outcome
    from unbidden.memory.summaries import SummaryMemory, SummarySources

QUESTION = "teafarm_question.v1"
SESSION = "teafarm_session.v1"
UTTERANCES = (10, 15)
"""Length of the further session in the paper, the question included."""


def make_items(
    llm: LLM,
    conversation: Conversation,
    *,
    sources: SummarySources = "batch",
    utterances: tuple[int, int] = UTTERANCES,
    attempts: int = 1,
) -> list[TeaItem]:
    """Return two items of a conversation, one asked by each speaker; some may be unscored.

    Calls: one of role "memory" a session, then two of role "rewriter" an item.

    Parameters
    ----------
    sources : {"batch", "cited"}
        Whether a summary comes from its whole session or from the turns the model names.
    utterances : (int, int)
        Least and most utterances of the further session, the question included. One of another
        length is kept with a note; a small model writes short ones.
    attempts : int
        Times a call is made while its reply is malformed.

    Raises
    ------
    ConfigError
        If `utterances` is out of range.
    LLMError, BudgetExceeded
        As `CountedCalls.ask_many`.
    """
    least, most = utterances
    if not 2 <= least <= most:
        raise ConfigError(
            "`utterances` is out of range",
            expected="least and most, 2 or more",
            got=str(utterances),
            next_step="correct it",
        )
    calls, log = CountedCalls(llm, attempts), IngestLog()
    memories = summarise(conversation.sessions, calls, log, sources=sources)
    blank = [
        TeaItem(f"{conversation.id}#{side}", conversation.id, speaker, other)
        for side, speaker, other in zip(
            ("a", "b"), conversation.speakers, reversed(conversation.speakers), strict=True
        )
    ]
    if log.failures or not memories:
        lost = ", ".join(f"{f.unit}: {f.reason}" for f in log.failures) or "nothing was noted"
        return [replace(item, unscored=f"summaries: {lost}") for item in blank]
    items = _ask_questions(calls, blank, memories)
    return _ask_sessions(calls, conversation, items, utterances)


def _ask_questions(
    calls: CountedCalls, blank: Sequence[TeaItem], memories: Sequence[SummaryMemory]
) -> list[TeaItem]:
    notes = [{"session": str(m.session), "text": m.text} for m in memories]
    wanted = [
        (QUESTION, {"speaker": item.speaker, "other": item.other, "memories": notes})
        for item in blank
    ]
    outcomes = calls.ask_many(wanted, label="misleading questions")
    return [
        _with_question(item, outcome, memories)
        for item, outcome in zip(blank, outcomes, strict=True)
    ]


def _with_question(
    item: TeaItem, outcome: Outcome[Any], memories: Sequence[SummaryMemory]
) -> TeaItem:
    if not outcome.ok:
        return replace(item, unscored=f"question: {outcome.unscored}")
    written = checked(outcome.value, MisleadingQuestion, QUESTION)
    question = untagged(written.question, (item.speaker, item.other))
    if not question:
        return replace(item, unscored="question: nothing but a name")
    numbers = set(written.memories)
    cited = [memory for i, memory in enumerate(memories, start=1) if i in numbers]
    evidence = tuple(dict.fromkeys(turn for memory in cited for turn in memory.sources))
    notes = []
    if len(cited) < len(numbers):
        notes.append(f"{len(numbers) - len(cited)} summaries it names do not exist")
    if _holds(question, written.answer):
        notes.append("the question holds the answer")
    return replace(
        item,
        question=question,
        answer=written.answer.strip(),
        false_part=written.false_part.strip(),
        evidence=evidence,
        notes=tuple(notes),
    )


def _ask_sessions(
    calls: CountedCalls,
    conversation: Conversation,
    items: Sequence[TeaItem],
    utterances: tuple[int, int],
) -> list[TeaItem]:
    last = next(session for session in reversed(conversation.sessions) if session.turns)
    least, most = (number - 1 for number in utterances)
    ready = [item for item in items if item.unscored is None]
    speaker_a, speaker_b = conversation.speakers
    wanted = [
        (
            SESSION,
            {
                "speaker_a": speaker_a,
                "speaker_b": speaker_b,
                "turns": turn_lines(last),
                "least": str(least),
                "most": str(most),
                "speaker": item.speaker,
                "question": item.question,
            },
        )
        for item in ready
    ]
    outcomes = calls.ask_many(wanted, label="further sessions") if wanted else []
    done = {
        item.id: _with_talk(item, outcome, conversation.speakers, (least, most))
        for item, outcome in zip(ready, outcomes, strict=True)
    }
    return [done.get(item.id, item) for item in items]


def _with_talk(
    item: TeaItem,
    outcome: Outcome[Any],
    speakers: tuple[str, str],
    wanted: tuple[int, int],
) -> TeaItem:
    if not outcome.ok:
        return replace(item, unscored=f"session: {outcome.unscored}")
    written = checked(outcome.value, FurtherSession, SESSION)
    names = {"speaker_a": speakers[0], "speaker_b": speakers[1]}
    said = [(names[turn.speaker], untagged(turn.text, speakers)) for turn in written.turns]
    while said and _same(said[-1][1], item.question):
        said.pop()
    said = [(speaker, text) for speaker, text in said if text]
    if not said:
        return replace(item, unscored="session: nothing is said before the question")
    notes = [*item.notes]
    if not wanted[0] <= len(said) <= wanted[1]:
        notes.append(f"{len(said)} utterances, {wanted[0]} to {wanted[1]} were asked for")
    if said[-1][0] == item.speaker:
        notes.append("the one who asks also spoke before")
    if any(_holds(text, item.answer) for _, text in said):
        notes.append("the session holds the answer")
    talk = tuple(
        Turn(TurnId(f"T:{i}"), speaker, text) for i, (speaker, text) in enumerate(said, start=1)
    )
    return replace(item, talk=talk, notes=tuple(notes))


def untagged(text: str, speakers: Sequence[str]) -> str:
    """Return an utterance without a speaker's name in front.

    >>> untagged("Ana: Is it so, Ben?", ("Ana", "Ben"))
    'Is it so, Ben?'
    """
    names = "|".join(re.escape(name) for name in speakers)
    return re.sub(rf"^\s*\**(?:{names})\**\s*[:：]\s*\**", "", text).strip()


def _holds(text: str, answer: str) -> bool:
    return bool(answer.strip()) and _plain(answer) in _plain(text)


def _same(text: str, question: str) -> bool:
    return _plain(text) == _plain(question)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.casefold()).split())
