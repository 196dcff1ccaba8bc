"""What systems that build their memories with a language model have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from unbidden.errors import ConfigError
from unbidden.memory.calls import CountedCalls, required
from unbidden.memory.embed import MINILM
from unbidden.memory.embed import embedder as named_embedder
from unbidden.memory.protocol import CallCount, Failure, IngestReport

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from unbidden.corpus.models import Conversation, Session, Turn, TurnId
    from unbidden.llm import LLM, Outcome
    from unbidden.memory.protocol import Retrieved, SystemInfo
    from unbidden.memory.records import Change, Encodes, MemoryRecord, RecordStore

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Stored:
    """A memory next to what was said, for a page that shows both.

    Attributes
    ----------
    turns : tuple of Turn
        Those of its source turns that belong to the session shown.
    elsewhere : tuple of TurnId
        The others: not empty where a memory was merged over sessions.
    """

    record: MemoryRecord
    turns: tuple[Turn, ...]
    elsewhere: tuple[TurnId, ...]


def checked(value: object, form: type[V], prompt_name: str) -> V:
    """Return a value if it has the form that is counted on.

    Raises
    ------
    ConfigError
        If it has another.
    """
    if not isinstance(value, form):
        raise ConfigError(
            f"prompt {prompt_name!r} answers in another form than its system reads",
            expected=form.__name__,
            got=type(value).__name__,
            next_step="give your own prompt file the `schema` of the one it replaces",
        )
    return value


class IngestLog:
    """Collects what an `IngestReport` says: units, failures and named events."""

    def __init__(self) -> None:
        self.units = 0
        self.failures: list[Failure] = []
        self.events: Counter[str] = Counter()

    def fail(self, unit: str, outcome: Outcome[object] | str, turns: Iterable[TurnId] = ()) -> None:
        """Note that a unit was not, or not wholly, stored.

        Parameters
        ----------
        outcome : Outcome or str
            The failed call, or the reason in one line.
        """
        reason = outcome if isinstance(outcome, str) else outcome.unscored or "no reason given"
        self.failures.append(Failure(unit, reason, tuple(turns)))

    def report(self, memories: int, calls: dict[str, CallCount]) -> IngestReport:
        """Return the report."""
        return IngestReport(
            units=self.units,
            memories=memories,
            failed=len({failure.unit for failure in self.failures}),
            failures=tuple(self.failures),
            calls=calls,
            events=dict(self.events),
        )


class ModelledSystem(ABC):
    """Base of the systems whose memories a model writes.

    A system fills its stores in `build`, one unit after the other, and notes in `log` each unit
    and each loss. Requests must depend on the conversation and the options alone: no clock, no
    random id, no order of a set. So the same conversation asks the same again, and recorded calls
    answer it.

    Parameters
    ----------
    llm : LLM
        Writes the memories; the role is "memory".
    embedder : str or Encodes
        See `unbidden.memory.embed.embedder`.
    attempts : int
        Times a call is made while its reply is malformed.

    Attributes
    ----------
    calls : CountedCalls
        All model calls of the last ingestion and, after it, of searches.
    log : IngestLog
        Of the last ingestion.
    """

    info: SystemInfo

    def __init__(
        self, *, llm: LLM | None, embedder: str | Encodes = MINILM, attempts: int = 1
    ) -> None:
        self.calls = CountedCalls(required(llm, self.info.name), attempts)
        self.embedder: Encodes = named_embedder(embedder) if isinstance(embedder, str) else embedder
        self.log = IngestLog()
        self._stored_calls: dict[str, CallCount] = {}
        self._earlier: dict[str, CallCount] = {}

    @abstractmethod
    def build(self, conversation: Conversation) -> None:
        """Take in a conversation; the stores of an earlier one must be dropped."""

    @abstractmethod
    def stores(self) -> Sequence[RecordStore]:
        """Return the stores that `build` filled."""

    @abstractmethod
    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return at most `k` memories, best first."""

    def answer(
        self,
        form: type[V],
        prompt_name: str,
        variables: Mapping[str, Any],
        *,
        unit: str,
        turns: Iterable[TurnId] = (),
    ) -> V | None:
        """Return a model's answer, or None after noting the loss of a unit.

        Parameters
        ----------
        form : type
            The output schema of the prompt, or `str` where it has none.

        Raises
        ------
        ConfigError
            If a prompt of the reader's own has another schema.
        """
        outcome = self.calls.ask(prompt_name, variables)
        if not outcome.ok:
            self.log.fail(unit, outcome, turns)
            return None
        return checked(outcome.value, form, prompt_name)

    def prepare(self, conversations: Sequence[Conversation], queries: Sequence[str]) -> None:
        """Encode all queries in one call, which an embedder with a cache then remembers."""
        if queries:
            self.embedder.encode(queries)

    def ingest(self, conversation: Conversation) -> IngestReport:
        """Take in a conversation, forgetting any other."""
        self._forget()
        self.build(conversation)
        self._stored_calls = self.calls.counts
        return self.log.report(len(self.records()), self._stored_calls)

    @property
    def search_calls(self) -> Mapping[str, CallCount]:
        """Model calls of all searches since the system was made, by prompt name."""
        found = dict(self._earlier)
        for name, count in self.calls.counts.items():
            made = count - self._stored_calls.get(name, CallCount())
            if made.calls:
                found[name] = found.get(name, CallCount()) + made
        return found

    def _forget(self) -> None:
        self._earlier = dict(self.search_calls)
        self.log = IngestLog()
        self.calls.reset()
        self._stored_calls = {}

    def records(self) -> list[MemoryRecord]:
        """Return all memories held, store by store, in order of making."""
        return [record for store in self.stores() for record in store]

    def history(self) -> list[Change]:
        """Return all changes, store by store, in the order in which they happened."""
        return [change for store in self.stores() for change in store.history]

    def stored(self, session: Session) -> list[Stored]:
        """Return the memories that come from a session, next to its turns."""
        here = {turn.id: turn for turn in session.turns}
        return [
            Stored(
                record,
                tuple(here[source] for source in record.sources if source in here),
                tuple(source for source in record.sources if source not in here),
            )
            for record in self.records()
            if not here.keys().isdisjoint(record.sources)
        ]

    def unstored(self, session: Session) -> list[Turn]:
        """Return the turns of a session that no memory comes from."""
        covered = {source for record in self.records() for source in record.sources}
        return [turn for turn in session.turns if turn.id not in covered]
