"""Mem0 2.x: one call per batch that adds memories and never changes one."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.llm.schemas_mem0 import AddedMemories
from unbidden.memory.embed import MINILM
from unbidden.memory.protocol import SystemInfo
from unbidden.memory.records import united
from unbidden.memory.speaker_stores import (
    Ingestion,
    SpeakerStores,
    check_choice,
    listed,
    shown,
)

if TYPE_CHECKING:
    from unbidden.corpus.models import Conversation
    from unbidden.llm import LLM
    from unbidden.llm.schemas_mem0 import AddedMemory
    from unbidden.memory.batches import Batch, Message
    from unbidden.memory.records import Encodes, MemoryRecord, RecordStore

Duplicates = Literal["drop", "unite"]

_RECENT_CUT = 300
"""Characters kept of each message before the batch, as in the release."""
_LOOKUP_CUT = 8000
"""Characters of a batch used as its look-up query: a whole session may exceed an embedder's limit,
and only the query may be cut, never what is stored."""


class Mem0V2(SpeakerStores):
    """The additive pipeline of mem0 2.0 and later.

    A batch is looked up as one text; its 10 nearest memories, the 10 messages before it and the
    messages themselves go into one call; what comes back is added, except exact repeats of the
    memories shown or of the same reply. Where we differ: the observation date is the session's
    (the release gives today's); the sections that the open release always leaves empty are left
    out; labels stand in order of making; links to shown memories are kept on the record, but no
    search follows them, as in the release. Its optional word search and entity boost are left out:
    they are off unless two models are downloaded.

    The kind of a memory is "user" or "assistant", whom the model attributes it to.

    Events of the report: ``added``, ``duplicate``, ``unknown_id`` (links), ``blank_text``,
    ``no_facts`` (batches).

    Parameters
    ----------
    similar, window : int
        Memories and earlier messages shown.
    duplicates : {"drop", "unite"}
        Whether the turns of a repeat are forgotten, as in the release, or join the memory's
        sources.
    floor : float or None
        Least cosine of a search result; 0.1 in the release.
    ingestion, batch_size, captions
        See `SpeakerStores`.
    """

    info = SystemInfo(
        name="mem0-v2",
        paper="mem0 2.x (release 2.0.0 and later); no paper describes it",
        needs_llm=True,
        provenance="batch",
        licence="Apache-2.0",
    )

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        embedder: str | Encodes = MINILM,
        attempts: int = 1,
        ingestion: Ingestion = "mirrored",
        batch_size: int | None = 2,
        captions: bool = False,
        similar: int = 10,
        window: int = 10,
        duplicates: Duplicates = "drop",
        floor: float | None = 0.1,
    ) -> None:
        super().__init__(
            llm=llm,
            embedder=embedder,
            attempts=attempts,
            ingestion=ingestion,
            batch_size=batch_size,
            captions=captions,
            floor=floor,
        )
        check_choice("duplicates", duplicates, get_args(Duplicates))
        self.similar, self.window, self.duplicates = similar, window, duplicates

    def begin(self, conversation: Conversation, owner: str | None) -> None:
        """Start without earlier messages."""
        self._recent: deque[Message] = deque(maxlen=self.window)

    def take_in(self, batch: Batch, store: RecordStore) -> None:
        """Add what a batch tells."""
        near = self._look_up(batch, store)
        variables = {
            "recent": [message.variables(_RECENT_CUT) for message in self._recent],
            "memories": listed(near),
            "date": batch.date,
            "messages": batch.variables(),
        }
        answer = self.answer(
            AddedMemories, "mem0_add.v1", variables, unit=batch.label, turns=batch.turns
        )
        self._recent.extend(batch.messages)
        if answer is None:
            return
        if not answer.memory:
            self.log.events["no_facts"] += 1
        known = {record.text: record.id for record in near.values()}
        for found in answer.memory:
            self._add(found, known, near, batch, store)

    def _look_up(self, batch: Batch, store: RecordStore) -> dict[str, MemoryRecord]:
        query = "\n".join(f"{m.role}: {m.name}: {m.text}" for m in batch.messages)
        return shown(record for record, _ in store.search(query[:_LOOKUP_CUT], self.similar))

    def _add(
        self,
        found: AddedMemory,
        known: dict[str, str],
        near: dict[str, MemoryRecord],
        batch: Batch,
        store: RecordStore,
    ) -> None:
        events, text = self.log.events, found.text.strip()
        if not text:
            events["blank_text"] += 1
            return
        if text in known:
            events["duplicate"] += 1
            if self.duplicates == "unite":
                store.update(known[text], sources=batch.turns)
            return
        labels = [str(label).strip() for label in found.linked_memory_ids]
        events["unknown_id"] += sum(label not in near for label in labels)
        links = dict.fromkeys(near[label].id for label in labels if label in near)
        record = store.add(
            text,
            united(batch.turns),
            kind=found.attributed_to,
            time=batch.session.when,
            links=tuple(links),
        )
        known[text] = record.id
        events["added"] += 1
