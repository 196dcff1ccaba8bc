"""The memory system AnchorMem."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, get_args

from unbidden.memory.anchormem.checks import FactRule, cited_sessions
from unbidden.memory.anchormem.groups import fact_groups
from unbidden.memory.anchormem.reading import (
    CHUNK_RANKS,
    ChunkRank,
    after,
    chunks_of,
    facts_for,
    normalised,
)
from unbidden.memory.embed import MINILM
from unbidden.memory.modelled import ModelledSystem
from unbidden.memory.protocol import SystemInfo
from unbidden.memory.records import RecordStore, united
from unbidden.memory.units import PROTOCOLS, Protocol, one_of
from unbidden.memory.windows import session_windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation, Session
    from unbidden.llm import LLM, Outcome
    from unbidden.llm.schemas_notes import AnchorEvents, AnchorFacts
    from unbidden.memory.protocol import Retrieved
    from unbidden.memory.records import Encodes, MemoryRecord

Mode = Literal["ranked", "paper"]
MODES: tuple[Mode, ...] = get_args(Mode)
EventParser = Literal["json", "parens"]
EVENT_PARSERS: tuple[EventParser, ...] = get_args(EventParser)
FACTS, EVENTS = "anchormem_facts.v1", "anchormem_events.v1"


class AnchorMem(ModelledSystem):
    """AnchorMem (arXiv 2604.17377): facts anchor raw chunks, events join facts across chunks.

    Writing: each session is cut into overlapping chunks of turns; a model lists the atomic facts
    of each. When all are read, facts of different chunks that are nearly the same form groups, and
    a model tells the events behind each group. Reading: a message is compared with facts and
    events; a fact brings back its raw chunk, an event its text. Facts themselves are never shown.

    Sources: a chunk has the turns it is made of, which is what the label "exact" stands for. A fact
    has all turns of its chunk, and an event all of the chunks that its group of facts comes from:
    those were read when it was written, so its credit is that of the label "batch".

    Where we differ: the list of events is read as the JSON it is (the released parser looks for
    brackets and finds almost none: ``event_parser="parens"``); every order is by time of reading
    (the released code iterates over sets); identical chunks unite their turns; vectors always have
    length 1; a chunk whose facts cannot be read is kept, cannot be found, and is counted.

    Parameters
    ----------
    mode : {"ranked", "paper"}
        "ranked": `k` asks for `k` memories, chunks and events by score, each kind's cosines
        stretched over 0..1. "paper": the chunks of `top_facts` facts, then `top_events` events,
        cut at `k`.
    chunk_size, overlap : int
        Turns of a chunk, and of them shared with the next.
    fact_sim_threshold, related_fact_top_k, min_new_facts
        See `unbidden.memory.anchormem.groups.fact_groups`. The cosine suits other embedders; with
        MiniLM it is strict, so look at ``groups`` in the report.
    use_events, include_main_chunk : bool
        Whether events are made; whether the model also sees the main fact's own chunk.
    retry_failed_groups : int
        Times a group is asked again if its reply is malformed.
    resolve_dates : bool
        Ask for dates in facts; the released prompt does not.
    min_fact_words : int
        Shorter facts are dropped and counted.
    require_speaker : bool
        Drop, and count, facts that name neither speaker.
    only_referenced : bool
        Repeats a fault: leave out sessions no question cites. This leaks the gold.
    chunk_rank : {"best_fact", "sum", "arbitrary"}
        See `unbidden.memory.anchormem.reading.chunks_of`.
    """

    info = SystemInfo(
        name="anchormem",
        paper="AnchorMem (arXiv 2604.17377, ACL 2026 Findings)",
        needs_llm=True,
        provenance="exact",
        licence="MIT",
    )

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        embedder: str | Encodes = MINILM,
        attempts: int = 1,
        protocol: Protocol = "paper",
        mode: Mode = "ranked",
        chunk_size: int = 3,
        overlap: int = 1,
        fact_sim_threshold: float = 0.85,
        related_fact_top_k: int = 3,
        min_new_facts: int = 3,
        top_facts: int = 5,
        top_events: int = 5,
        use_events: bool = True,
        include_main_chunk: bool = False,
        retry_failed_groups: int = 1,
        resolve_dates: bool = False,
        min_fact_words: int = 3,
        require_speaker: bool = False,
        only_referenced: bool = False,
        event_parser: EventParser = "json",
        chunk_rank: ChunkRank = "best_fact",
    ) -> None:
        super().__init__(llm=llm, embedder=embedder, attempts=attempts)
        one_of("protocol", protocol, PROTOCOLS)
        one_of("mode", mode, MODES)
        one_of("event_parser", event_parser, EVENT_PARSERS)
        one_of("chunk_rank", chunk_rank, CHUNK_RANKS)
        self.protocol, self.mode = protocol, mode
        self.chunk_size, self.overlap = chunk_size, overlap
        self.fact_sim_threshold = fact_sim_threshold
        self.related_fact_top_k, self.min_new_facts = related_fact_top_k, min_new_facts
        self.top_facts, self.top_events = top_facts, top_events
        self.use_events, self.include_main_chunk = use_events, include_main_chunk
        self.event_attempts = max(attempts, 1 + retry_failed_groups)
        self.resolve_dates, self.only_referenced = resolve_dates, only_referenced
        self.min_fact_words, self.require_speaker = min_fact_words, require_speaker
        self.event_parser, self.chunk_rank = event_parser, chunk_rank
        self._drop()

    def _drop(self) -> None:
        self._chunks = RecordStore(self.embedder, "chunk")
        self._facts = RecordStore(self.embedder, "fact")
        self._events = RecordStore(self.embedder, "event")
        self._fact_ids: dict[str, str] = {}

    def stores(self) -> list[RecordStore]:
        """Return the stores of chunks, facts and events."""
        return [self._chunks, self._facts, self._events]

    def build(self, conversation: Conversation) -> None:
        """Cut, extract, group and tell events."""
        self._drop()
        sessions = conversation.sessions
        if self.only_referenced:
            sessions = tuple(cited_sessions(conversation))
            left_out = len(conversation.sessions) - len(sessions)
            self.log.events["sessions_left_out"] += left_out
        for session in sessions:
            self._add_chunks(session)
        occurrences = self._extract(conversation.speakers)
        if self.use_events and occurrences:
            self._tell_events(occurrences)

    def _add_chunks(self, session: Session) -> None:
        by_text = {record.text: record.id for record in self._chunks}
        for window in session_windows(
            session, size=self.chunk_size, overlap=self.overlap, protocol=self.protocol
        ):
            self.log.events["windows"] += 1
            if window.text in by_text:
                self._chunks.update(by_text[window.text], sources=window.ids)
            else:
                record = self._chunks.add(window.text, window.ids, kind="chunk", time=window.time)
                by_text[window.text] = record.id

    def _extract(self, speakers: Sequence[str]) -> list[tuple[str, str]]:
        """Ask for the facts of each chunk; return (fact id, chunk id) in order of reading."""
        chunks = list(self._chunks)
        dates = "yes" if self.resolve_dates else ""
        rule = FactRule(self.min_fact_words, tuple(speakers) if self.require_speaker else ())
        outcomes = self.calls.ask_many(
            [(FACTS, {"chunk": chunk.text, "resolve_dates": dates}) for chunk in chunks],
            label="AnchorMem facts",
        )
        occurrences: list[tuple[str, str]] = []
        for chunk, outcome in zip(chunks, outcomes, strict=True):
            self.log.units += 1
            reply: AnchorFacts | None = outcome.value
            if reply is None:
                self.log.fail(_name(chunk), outcome, chunk.sources)
            facts = rule.kept(reply.facts, self.log.events) if reply else []
            self.log.events["unreachable_chunks"] += not facts
            occurrences += [(self._add_fact(fact, chunk), chunk.id) for fact in facts]
        return occurrences

    def _add_fact(self, text: str, chunk: MemoryRecord) -> str:
        """Store a fact, or add a chunk to one with the same words, and return its id."""
        self._facts.unit = chunk.id
        if (known := self._fact_ids.get(text)) is not None:
            links = (*self._facts[known].links, chunk.id)
            self._facts.update(known, sources=chunk.sources, links=links)
            return known
        record = self._facts.add(
            text, chunk.sources, kind="fact", time=chunk.time, links=(chunk.id,)
        )
        self._fact_ids[text] = record.id
        return record.id

    def _tell_events(self, occurrences: list[tuple[str, str]]) -> None:
        texts = [self._facts[fact].text for fact, _ in occurrences]
        chunk_ids = [chunk for _, chunk in occurrences]
        groups = fact_groups(
            self.embedder.encode(texts),
            chunk_ids,
            threshold=self.fact_sim_threshold,
            top_k=self.related_fact_top_k,
            min_new=self.min_new_facts,
        )
        self.log.events["groups"] += len(groups)
        calls = []
        for group in groups:
            shown = ((group.main,) if self.include_main_chunk else ()) + group.support
            parts = dict.fromkeys(self._chunks[chunk_ids[i]].text for i in shown)
            facts = [texts[i] for i in (group.main, *group.support)]
            calls.append((EVENTS, {"facts": facts, "chunks": list(parts)}))
        outcomes = (
            self.calls.ask_many(calls, label="AnchorMem events", attempts=self.event_attempts)
            if calls
            else []
        )
        for group, outcome in zip(groups, outcomes, strict=True):
            members = list(dict.fromkeys(occurrences[i][0] for i in (group.main, *group.support)))
            self._add_events([self._facts[member] for member in members], outcome)

    def _add_events(self, facts: list[MemoryRecord], outcome: Outcome[Any]) -> None:
        reply: AnchorEvents | None = outcome.value
        self.log.units += 1
        sources = united(*(fact.sources for fact in facts))
        if reply is None:
            self.log.fail(f"group of {facts[0].id}", outcome, sources)
            return
        events = reply.events
        if self.event_parser == "parens":
            events = re.findall(r"\(([^()]*)\)", outcome.text)
        by_text = {record.text: record.id for record in self._events}
        links = tuple(fact.id for fact in facts)
        times = {self._chunks[chunk].time for fact in facts for chunk in fact.links}
        time = next(iter(times)) if len(times) == 1 else None
        for text in dict.fromkeys(event.strip() for event in events if event.strip()):
            if text in by_text:
                old = self._events[by_text[text]]
                both = tuple(dict.fromkeys((*old.links, *links)))
                self._events.update(old.id, sources=sources, links=both)
            else:
                self._events.add(text, sources, kind="event", time=time, links=links)

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return at most `k` chunks and events, best first."""
        facts = normalised(self._facts.search(query, len(self._facts)))
        events = normalised(self._events.search(query, len(self._events)))
        if self.mode == "paper":
            chunks = chunks_of(facts[: self.top_facts], self._chunks, self.chunk_rank)
            found = [*chunks, *after(events[: self.top_events])]
        else:
            chunks = chunks_of(facts_for(facts, k), self._chunks, self.chunk_rank)
            found = sorted([*chunks, *events[:k]], key=lambda pair: -pair[1])
        return [record.retrieved(score) for record, score in found[:k]]


def _name(chunk: MemoryRecord) -> str:
    return f"chunk {chunk.sources[0]} to {chunk.sources[-1]}"
