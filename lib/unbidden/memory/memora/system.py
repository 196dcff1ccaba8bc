"""Memora: facts kept in full, reached by a short index and by cues."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.llm.schemas_memora import Episodes
from unbidden.memory.batches import Message, check_size, said
from unbidden.memory.embed import MINILM
from unbidden.memory.memora.policy import collect
from unbidden.memory.memora.segments import Segment, fixed, interleaved, segment_of_each, segments
from unbidden.memory.memora.store import HarmonicStore
from unbidden.memory.memora.write import Duplicates, EntryWriter, Sources
from unbidden.memory.modelled import ModelledSystem, checked
from unbidden.memory.protocol import SystemInfo
from unbidden.memory.speaker_stores import check_choice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation, Session
    from unbidden.llm import LLM
    from unbidden.memory.protocol import Retrieved
    from unbidden.memory.records import Encodes, MemoryRecord, RecordStore

Segmentation = Literal["llm", "fixed"]
Policy = Literal["semantic", "prompted"]

MINILM_QUERY_FLOOR = 0.25
"""A floor under which MiniLM still finds short phrases; 0.4 was set for another embedder."""


class Memora(ModelledSystem):
    """Segments, facts, cues and merges, searched by index and cue (Xia et al. 2026).

    Each session is cut into segments; a call extracts each segment's facts as index and value; a
    call gives them cues; a fact whose index is near an old one's may be merged into it, which a
    call decides. A search ranks entries by the cosine of their index and by that of their cues and
    fuses both by rank. The value is never embedded.

    LoCoMo-Conv's runs are ``segmentation="fixed"`` (one segment a session) and
    ``update_threshold=2.0`` (never merge); its third one adds ``sources="cited"`` and
    ``query_floor=0``. Where we differ from the release: all speakers are people in one store; cues
    of earlier segments are not offered for reuse; the call that decides on a merge does not see how
    near the old entries are; episodic entries and word search are left out, and so is a
    ``write_mode="one_call"``, with which a third party extracts and updates in one call; and see
    `HarmonicStore.search`. Prompts give dates only from the session.

    Sources: an entry has all turns of the segment it was extracted from ("batch"), and after a
    merge those of both.

    Events of the report: ``added``, ``merged``, ``duplicate_index``, ``invalid_update``,
    ``update_failed``, ``cues_failed``, ``unmatched_cues``, ``segmentation_failed``,
    ``segmentation_repaired``, ``segmentation_interleaved`` (sessions), ``blank_entry``,
    ``no_facts``, ``uncited``, ``unknown_id``. A failed update stores the fact as new, failed cues
    leave it reachable by its index, and a failed segmentation makes the session one segment: none
    of them loses a turn. The messages of a segment should follow each other; segments that
    interleave are kept as they are. A failed extraction loses its segment and is a failed unit.

    Parameters
    ----------
    segmentation : {"llm", "fixed"}
        Who cuts a session.
    segment_size : int or None
        Messages of a fixed segment; None means the whole session.
    captions : bool
        Whether captions of shared images are read.
    sources : {"segment", "cited"}
        Whether an entry comes from all turns of its segment, or from those its extraction names
        (all of the segment where it names none of them).
    cues : bool
        Whether entries get cues.
    update_threshold : float
        Least cosine of two indexes to consider a merge; 0.8 was set for another embedder.
    update_candidates : int
        Old entries shown at most.
    same_segment : bool
        Whether a fact may be merged into one of its own segment. The release means to prevent it;
        a reading of its code says that it does not.
    duplicate_index : {"drop", "update", "suffix"}
        What becomes of a fact whose index is taken: it is lost, as in the release; its value is
        appended and its turns join; or its index gets a number.
    query_floor : float
        Least cosine of what a search considers; see `MINILM_QUERY_FLOOR`.
    top_k : int or None
        Entries ranked by their index; None means as many as the search asks for. Fusion over more
        entries can change the first ones.
    cue_top_k : int
        Cues looked at.
    weights : tuple of float
        Of the two rankings, by index and by cue.
    constant : float
        Of the fusion.
    policy : {"semantic", "prompted"}
        Whether a model collects further memories, see `unbidden.memory.memora.policy`.
    max_steps : int
        Of the prompted policy.

    Attributes
    ----------
    search_events : Counter
        Steps and failures of the prompted policy since the system was made.
    """

    info = SystemInfo(
        name="memora",
        paper="Xia et al. 2026 (arXiv 2602.03315)",
        needs_llm=True,
        provenance="batch",
        licence="MIT",
    )

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        embedder: str | Encodes = MINILM,
        attempts: int = 1,
        segmentation: Segmentation = "llm",
        segment_size: int | None = None,
        captions: bool = True,
        sources: Sources = "segment",
        cues: bool = True,
        update_threshold: float = 0.8,
        update_candidates: int = 5,
        same_segment: bool = True,
        duplicate_index: Duplicates = "drop",
        query_floor: float = 0.4,
        top_k: int | None = None,
        cue_top_k: int = 10,
        weights: tuple[float, float] = (2.0, 1.0),
        constant: float = 60.0,
        policy: Policy = "semantic",
        max_steps: int = 5,
    ) -> None:
        super().__init__(llm=llm, embedder=embedder, attempts=attempts)
        check_choice("segmentation", segmentation, get_args(Segmentation))
        check_choice("policy", policy, get_args(Policy))
        check_size(segment_size, "segment_size")
        if sources == "cited":
            self.info = SystemInfo(
                self.info.name, self.info.paper, True, "cited", self.info.licence
            )
        self.segmentation, self.segment_size, self.captions = segmentation, segment_size, captions
        self.writer = EntryWriter(
            self,
            sources=sources,
            cues=cues,
            threshold=update_threshold,
            candidates=update_candidates,
            same_segment=same_segment,
            duplicate_index=duplicate_index,
        )
        self.query_floor, self.top_k, self.cue_top_k = query_floor, top_k, cue_top_k
        self.weights, self.constant = weights, constant
        self.policy, self.max_steps = policy, max_steps
        self.search_events: Counter[str] = Counter()
        self.store = HarmonicStore(self.embedder)

    def build(self, conversation: Conversation) -> None:
        """Take in a conversation, session by session."""
        self.store = HarmonicStore(self.embedder)
        for session in conversation.sessions:
            for segment in self._segments(session):
                self.store.entries.unit = self.store.cues.unit = segment.label
                self.log.units += 1
                self.writer.write(segment, self.store)

    def stores(self) -> Sequence[RecordStore]:
        """Return the store of entries; cues are no memories."""
        return [self.store.entries]

    def _segments(self, session: Session) -> list[Segment]:
        messages = [
            Message("user", turn.speaker, said(turn, captions=self.captions), turn.id)
            for turn in session.turns
        ]
        if self.segmentation == "fixed" or len(messages) < 2:
            return segments(session, messages, fixed(len(messages), self.segment_size))
        numbered = [
            {"number": str(number), "name": message.name, "text": message.text}
            for number, message in enumerate(messages, start=1)
        ]
        outcome = self.calls.ask("memora_segment.v1", {"messages": numbered})
        if not outcome.ok:
            self.log.events["segmentation_failed"] += 1
            return segments(session, messages, fixed(len(messages), None))
        episodes = checked(outcome.value, Episodes, "memora_segment.v1").episodes
        places, repaired = segment_of_each(episodes, len(messages))
        self.log.events["segmentation_repaired"] += repaired
        self.log.events["segmentation_interleaved"] += interleaved(places)
        return segments(session, messages, places)

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return the `k` best entries; with the prompted policy, the first `k` collected.

        The paper's policy returns all it collects; ours is cut to `k` as every system's is, and
        scores count down from the number returned.
        """
        if k < 1:
            return []
        if self.policy == "semantic":
            found = self._found(query, self.top_k or k)
            return [record.retrieved(score) for record, score in found[:k]]
        start = self.top_k or k
        records: list[MemoryRecord] = collect(
            query,
            search=lambda text: [record for record, _ in self._found(text, start)[:start]],
            store=self.store,
            calls=self.calls,
            max_steps=self.max_steps,
            events=self.search_events,
        )[:k]
        return [record.retrieved(float(len(records) - i)) for i, record in enumerate(records)]

    def _found(self, query: str, k: int) -> list[tuple[MemoryRecord, float]]:
        return self.store.search(
            query,
            k=k,
            cue_k=self.cue_top_k,
            floor=self.query_floor,
            weights=self.weights,
            constant=self.constant,
        )
