"""From LoCoMo-shaped JSON to conversations.

The same reader takes the official file, LoCoMo-Conv's ``locomo10_dialog.json`` (which adds the
rewrites to each question) and a user's own file of that form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from unbidden.corpus.dates import parse_session_date
from unbidden.corpus.models import (
    CATEGORIES,
    Conversation,
    ConversationId,
    Irregularity,
    Question,
    Session,
    Turn,
    TurnId,
)
from unbidden.corpus.rewrites import as_text, read_rewrites, usable_text
from unbidden.errors import DataError

if TYPE_CHECKING:
    import datetime as dt

_SESSION = re.compile(r"session_(\d{1,6})")
_DATE = re.compile(r"session_(\d{1,6})_date_time")
_TOO_LONG = re.compile(r"session_\d{7,}(_date_time)?")


class LocomoReader:
    """Reads samples of one file and collects what was irregular.

    Parameters
    ----------
    file_name : str
        Used in messages.
    """

    def __init__(self, file_name: str) -> None:
        self.file_name = file_name
        self.irregularities: list[Irregularity] = []

    def read(self, value: Any) -> list[Conversation]:
        """Return the conversations of a parsed file, in file order.

        Raises
        ------
        DataError
            If the file, a sample, a turn or a question is not of LoCoMo's form, or a sample id or
            a turn id stands twice; the record is named.
        """
        if not isinstance(value, list) or not value:
            raise self._error("the file", "a list of samples", _kind(value))
        conversations: dict[str, Conversation] = {}
        for position, sample in enumerate(value):
            conversation = self._sample(sample, f"sample {position}")
            if conversation.id in conversations:
                raise self._error(f"sample {position}", "a sample_id of its own", conversation.id)
            conversations[conversation.id] = conversation
        return list(conversations.values())

    def _error(self, where: str, expected: str, got: str) -> DataError:
        return DataError(
            f"{self.file_name}: {where} is not of LoCoMo's form",
            expected=expected,
            got=got[:200],
            next_step="correct the record; the form is described in the guide, 'Your own data'",
        )

    def _note(self, kind: str, where: str, detail: str) -> None:
        self.irregularities.append(Irregularity(kind, where, detail))

    def _field(self, record: Any, name: str, kind: type, where: str) -> Any:
        if not isinstance(record, Mapping):
            raise self._error(where, "an object", _kind(record))
        if not isinstance(record.get(name), kind):
            raise self._error(where, f"{name!r} as {kind.__name__}", _kind(record.get(name)))
        return record[name]

    def _sample(self, sample: Any, where: str) -> Conversation:
        raw = self._field(sample, "conversation", dict, where)
        name = self._field(sample, "sample_id", str, where)
        if not name.strip() or len(name) > 200:
            raise self._error(where, "a sample_id of 1 to 200 characters", repr(name[:50]))
        where = name
        speakers = (
            self._field(raw, "speaker_a", str, where),
            self._field(raw, "speaker_b", str, where),
        )
        sessions = self._sessions(raw, speakers, where)
        if not sessions:
            raise self._error(where, "at least one session with turns", "none")
        conversation = Conversation(ConversationId(name), speakers, sessions)
        questions = tuple(
            self._question(record, index, conversation)
            for index, record in enumerate(self._field(sample, "qa", list, where))
        )
        if not questions:
            self._note("no questions", where, "only remembered")
        return Conversation(conversation.id, speakers, sessions, questions)

    def _sessions(
        self, raw: Mapping[str, Any], speakers: tuple[str, str], where: str
    ) -> tuple[Session, ...]:
        for key in raw:
            if _TOO_LONG.fullmatch(key):
                raise self._error(where, "session numbers of at most six digits", key[:50])
        numbers = sorted(int(m[1]) for key in raw if (m := _SESSION.fullmatch(key)))
        dated = {int(m[1]) for key in raw if (m := _DATE.fullmatch(key))}
        if orphans := sorted(dated - set(numbers)):
            self._note(
                "date without session", where, f"sessions {orphans[0]}-{orphans[-1]}: {orphans}"
            )
        seen: set[TurnId] = set()
        sessions = []
        for number in numbers:
            session = self._session(raw, number, speakers, seen, f"{where} session {number}")
            if session.turns:
                sessions.append(session)
            else:
                self._note("empty session", f"{where} session {number}", "no turns; left out")
        times = [session.when for session in sessions]
        known = [time for time in times if time is not None]
        if len(known) == len(times) and known != sorted(known):
            self._note("sessions out of time order", where, "sorted by their dates")
            sessions.sort(key=_when)
        return tuple(sessions)

    def _session(
        self,
        raw: Mapping[str, Any],
        number: int,
        speakers: tuple[str, str],
        seen: set[TurnId],
        where: str,
    ) -> Session:
        records = self._field(raw, f"session_{number}", list, where)
        date_text = raw.get(f"session_{number}_date_time", "")
        when = parse_session_date(date_text) if isinstance(date_text, str) else None
        if when is None:
            self._note("no readable date", where, repr(date_text)[:100])
        turns = []
        for position, record in enumerate(records, start=1):
            turn = self._turn(record, f"{where} turn {position}")
            if turn.id in seen:
                raise self._error(where, "turn ids unique in the conversation", f"{turn.id} twice")
            seen.add(turn.id)
            if turn.speaker not in speakers:
                self._note("unknown speaker", f"{where} {turn.id}", repr(turn.speaker)[:100])
            if turn.text.strip() or turn.caption:
                turns.append(turn)
            else:
                self._note("empty turn", f"{where} {turn.id}", "no text and no caption; left out")
        return Session(number, when, str(date_text), tuple(turns))

    def _turn(self, record: Any, where: str) -> Turn:
        turn_id = self._field(record, "dia_id", str, where)
        if not turn_id.strip() or len(turn_id) > 100:
            raise self._error(where, "a dia_id of 1 to 100 characters", repr(turn_id[:50]))
        caption, notes = usable_text(record, "blip_caption", where)
        self.irregularities.extend(notes)
        return Turn(
            TurnId(turn_id),
            self._field(record, "speaker", str, where),
            self._field(record, "text", str, where),
            caption,
        )

    def _question(self, record: Any, index: int, conversation: Conversation) -> Question:
        where = f"{conversation.id}#{index}"
        text = self._field(record, "question", str, where)
        category = self._category(record.get("category"), where)
        evidence = self._field(record, "evidence", list, where)
        if not all(isinstance(item, str) for item in evidence):
            raise self._error(where, "evidence as a list of strings", repr(evidence))
        answer, trap = self._answers(record, category, where)
        if not evidence:
            self._note("no evidence", where, f"category {category}")
        if not text.strip():
            self._note("empty question", where, "never asked")
        rewrites, notes = read_rewrites(record, conversation.speakers, where)
        self.irregularities.extend(notes)
        return Question(index, text, category, tuple(evidence), answer, trap, rewrites)

    def _category(self, value: Any, where: str) -> int:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or value not in CATEGORIES:
            raise self._error(where, f"a category among {sorted(CATEGORIES)}", repr(value))
        if isinstance(value, float):
            self._note("category is a decimal number", where, f"{value} read as {int(value)}")
        return int(value)

    def _answers(
        self, record: Mapping[str, Any], category: int, where: str
    ) -> tuple[str | None, str | None]:
        answer = as_text(record.get("answer"))
        trap = as_text(record.get("adversarial_answer"))
        if answer is not None and not isinstance(record["answer"], str):
            self._note("answer is not text", where, f"{_kind(record['answer'])} read as {answer!r}")
        if category == 5:
            if answer is not None and trap is not None:
                self._note("answer on an adversarial question", where, f"{answer!r} not used")
            return None, trap if trap is not None else answer
        if answer is None:
            self._note("no answer", where, f"category {category}")
        return answer, None


def _when(session: Session) -> dt.datetime:
    assert session.when is not None  # only called when all dates are known
    return session.when


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"{type(value).__name__} {str(value)[:80]!r}"
