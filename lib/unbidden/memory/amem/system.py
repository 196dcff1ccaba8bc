"""The memory system A-MEM: writing and reading notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.errors import ConfigError
from unbidden.memory.amem.notes import (
    EMBEDS,
    FORMS,
    NO_CONTEXT,
    Embed,
    Form,
    Note,
    note_of,
    told,
    updated_neighbours,
)
from unbidden.memory.amem.query import KeywordQueries
from unbidden.memory.calls import CountedCalls, required
from unbidden.memory.embed import MINILM
from unbidden.memory.modelled import ModelledSystem
from unbidden.memory.protocol import SystemInfo
from unbidden.memory.records import RecordStore
from unbidden.memory.units import PROTOCOLS, Protocol, one_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from unbidden.corpus.models import Conversation
    from unbidden.llm import LLM
    from unbidden.llm.schemas_notes import NoteAnalysis, NoteEvolution
    from unbidden.memory.protocol import CallCount, Retrieved
    from unbidden.memory.records import Encodes, MemoryRecord

QueryMode = Literal["llm_keywords", "raw"]
QUERY_MODES: tuple[QueryMode, ...] = get_args(QueryMode)
Bug = Literal["analysis_lost", "rank_as_position", "reply_as_query", "repeated_links"]
BUGS: tuple[Bug, ...] = get_args(Bug)

ANALYSE, EVOLVE = "amem_analyse.v1", "amem_evolve.v1"


class AMem(ModelledSystem):
    """A-MEM (Xu et al. 2025, arXiv 2502.12110) after the authors' reproduction code.

    Each turn is a note. A model describes it by keywords, one sentence of context and tags; a
    second call sees its nearest neighbours, may link the note to them and may rewrite their
    context and tags. Content never changes. A search turns the message into keywords, takes the
    nearest notes, and adds the notes they link to.

    Where we differ: a linked note takes one of the `k` places and is returned once, with `via`
    (the original adds up to k + 1 for each hit); a connection to a note that was not shown is
    dropped and counted (the original takes any number as a position); temperature is a setting of
    the study (the original has 0.7); a failed call is counted, never silent. `k` is the study's;
    the paper chose it by category on the test questions.

    The library of the same authors, which LoCoMo-Conv's row "A-MEM" runs, is ``analysis=False,
    embed="content", query_mode="raw", link_expansion=False, consolidate_every=None,
    bug_compat=["rank_as_position"]``.

    Parameters
    ----------
    analysis, evolution : bool
        Whether the two calls of a note are made.
    neighbours : int
        Notes shown to the evolution call; 5 in the original.
    link_expansion : bool
        Whether a search also returns the notes its hits link to.
    query_mode : {"llm_keywords", "raw"}
        Search with keywords a model names, or with the message itself.
    embed : {"all", "content"}
        Embed all fields of a note, or its content.
    refresh_on_evolve : bool
        Whether a note that evolution changed is embedded anew. The original does not, so a change
        is found only after the next rebuild.
    consolidate_every : int or None
        Rebuild all vectors after so many evolutions; 100 in the original, None never.
    form : {"unit", "amem"}
        Content of a note: the text form of all systems, or the original's.
    bug_compat : sequence of str
        Faults of the released code to repeat. ``analysis_lost``: the analysis is asked for and its
        reply thrown away (a missing import). ``rank_as_position``: neighbours are updated by rank,
        so evolution rewrites the first notes ever stored (library, issue 32).
        ``reply_as_query``: where keywords cannot be read, the reply as it is becomes the query.
        ``repeated_links``: linked notes are not de-duplicated.
    """

    info = SystemInfo(
        name="amem",
        paper="Xu et al. 2025, A-MEM (arXiv 2502.12110)",
        needs_llm=True,
        provenance="exact",
        licence="Apache-2.0",
    )

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        embedder: str | Encodes = MINILM,
        attempts: int = 1,
        protocol: Protocol = "paper",
        form: Form = "unit",
        analysis: bool = True,
        evolution: bool = True,
        neighbours: int = 5,
        link_expansion: bool = True,
        query_mode: QueryMode = "llm_keywords",
        embed: Embed = "all",
        refresh_on_evolve: bool = False,
        consolidate_every: int | None = 100,
        bug_compat: Sequence[str] = (),
    ) -> None:
        super().__init__(llm=llm, embedder=embedder, attempts=attempts)
        one_of("protocol", protocol, PROTOCOLS)
        one_of("form", form, FORMS)
        one_of("query_mode", query_mode, QUERY_MODES)
        one_of("embed", embed, EMBEDS)
        for bug in bug_compat:
            one_of("bug_compat", bug, BUGS)
        if neighbours < 1 or (consolidate_every is not None and consolidate_every < 1):
            raise ConfigError(
                "`neighbours` or `consolidate_every` is out of range",
                expected="1 or more; None for `consolidate_every` means never",
                got=f"{neighbours} and {consolidate_every}",
                next_step="the published values are 5 and 100",
            )
        self.protocol, self.form = protocol, form
        self.analysis, self.evolution, self.neighbours = analysis, evolution, neighbours
        self.link_expansion, self.query_mode, self.embed = link_expansion, query_mode, embed
        self.refresh_on_evolve, self.consolidate_every = refresh_on_evolve, consolidate_every
        self.bugs = frozenset(bug_compat)
        # Apart from `calls`, which forgets its counts at every ingestion.
        self.query_calls = CountedCalls(required(llm, self.info.name), attempts)
        self._keywords = KeywordQueries(
            self.query_calls, reply_as_query="reply_as_query" in self.bugs
        )
        self._store = self._new_store()
        self._notes: dict[str, Note] = {}

    def prepare(self, conversations: Sequence[Conversation], queries: Sequence[str]) -> None:
        """Ask for the keywords of all queries, and encode contents and queries, in one go."""
        searched = self._searched(queries)
        contents = [note.content for talk in conversations for note in self._bare_notes(talk)]
        texts = list(dict.fromkeys([*contents, *searched]))
        if texts:
            self.embedder.encode(texts)

    def _new_store(self) -> RecordStore:
        return RecordStore(self.embedder, "note")

    @property
    def search_events(self) -> Mapping[str, int]:
        """Queries whose keywords failed, by what was done instead."""
        return self._keywords.events

    @property
    def search_calls(self) -> Mapping[str, CallCount]:
        """Calls for keywords since the system was made, by prompt name."""
        return self.query_calls.counts

    def stores(self) -> list[RecordStore]:
        """Return the store of notes."""
        return [self._store]

    def build(self, conversation: Conversation) -> None:
        """Make, store and evolve one note after the other."""
        self._store, self._notes = self._new_store(), {}
        notes = self._analysed(self._bare_notes(conversation))
        evolutions = 0
        for note in notes:
            self.log.units += 1
            self._store.unit = note.turn
            if self.evolution:
                evolutions += self._evolve_and_add(note)
                if self.consolidate_every and evolutions >= self.consolidate_every:
                    evolutions = 0
                    self._consolidate()
            else:
                self._add(note, ())

    def _bare_notes(self, conversation: Conversation) -> list[Note]:
        return [
            note_of(turn, session, self.form, self.protocol)
            for session in conversation.sessions
            for turn in session.turns
        ]

    def _analysed(self, notes: list[Note]) -> list[Note]:
        """Return the notes with keywords, context and tags; they do not depend on each other."""
        if not self.analysis:
            return notes
        calls = [(ANALYSE, {"date": n.time_text, "content": n.content}) for n in notes]
        outcomes = self.calls.ask_many(calls, label="A-MEM analysis")
        analysed = []
        for note, outcome in zip(notes, outcomes, strict=True):
            analysis: NoteAnalysis | None = outcome.value
            if analysis is None:
                self.log.fail(note.turn, outcome, [note.turn])
            if analysis is None or "analysis_lost" in self.bugs:
                analysed.append(replace(note, context=NO_CONTEXT))
            else:
                analysed.append(note.analysed(analysis))
        return analysed

    def _add(self, note: Note, links: tuple[str, ...]) -> None:
        record = self._store.add(
            note.shown(),
            [note.turn],
            kind="note",
            index_text=note.document(self.embed),
            time=note.time,
            links=links,
        )
        self._notes[record.id] = note

    def _evolve_and_add(self, note: Note) -> int:
        """Store a note after its evolution call; return 1 if anything evolved."""
        near = [record for record, _ in self._store.search(note.content, self.neighbours)]
        outcome = self.calls.ask(
            EVOLVE,
            {
                "content": note.content,
                "context": note.context,
                "keywords": list(note.keywords),
                "tags": list(note.tags),
                "neighbours": [self._notes[r.id].line(r.order - 1) for r in near],
            },
        )
        evolution: NoteEvolution | None = outcome.value
        if evolution is None:
            self.log.fail(note.turn, outcome, [note.turn])
        if evolution is None or not evolution.should_evolve:
            self._add(note, ())
            return 0
        links: tuple[str, ...] = ()
        if "strengthen" in evolution.actions:
            links = self._connections(evolution.suggested_connections, near)
            note = replace(note, tags=told(evolution.tags_to_update))
            self.log.events["strengthened"] += 1
        if "update_neighbor" in evolution.actions:
            self._update(near, evolution)
        self.log.events["evolved"] += 1
        self._add(note, links)
        return 1

    def _connections(self, numbers: Iterable[int], near: list[MemoryRecord]) -> tuple[str, ...]:
        shown = {record.order - 1: record.id for record in near}
        wanted = list(dict.fromkeys(numbers))
        known = tuple(shown[number] for number in wanted if number in shown)
        self.log.events["unknown_connection"] += len(wanted) - len(known)
        self.log.events["links"] += len(known)
        return known

    def _update(self, near: list[MemoryRecord], evolution: NoteEvolution) -> None:
        if "rank_as_position" in self.bugs:
            near = list(self._store)[: len(near)]
        old = [self._notes[record.id] for record in near]
        for record, before, after in zip(
            near, old, updated_neighbours(old, evolution), strict=True
        ):
            if after == before:
                continue
            self._notes[record.id] = after
            index_text = after.document(self.embed) if self.refresh_on_evolve else record.index_text
            self._store.update(record.id, text=after.shown(), index_text=index_text)
            self.log.events["neighbours_updated"] += 1

    def _consolidate(self) -> None:
        self.log.events["consolidations"] += 1
        if self.embed == "all":
            for record in list(self._store):
                text = self._notes[record.id].consolidated()
                self._store.update(record.id, index_text=text)

    def _searched(self, queries: Sequence[str]) -> list[str]:
        """Return the text each query is searched with."""
        return list(queries) if self.query_mode == "raw" else self._keywords(queries)

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return at most `k` notes: each of the nearest, then the notes it links to."""
        found = self._store.search(self._searched([query])[0], k)
        if not self.link_expansion:
            return [record.retrieved(score) for record, score in found]
        again = "repeated_links" in self.bugs
        hits: list[Retrieved] = []
        seen: set[str] = set()
        for record, score in found:
            if again or record.id not in seen:
                hits.append(record.retrieved(score))
            for link in record.links[: k + 1]:
                if again or link not in seen | {record.id}:
                    hits.append(replace(self._store[link].retrieved(score), via=record.id))
            seen |= {record.id, *record.links[: k + 1]}
        return hits[:k]
