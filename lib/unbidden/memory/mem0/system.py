"""Mem0 as its paper describes it, and as its releases up to 1.0 do it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.llm.schemas_mem0 import FactOperation, FactTexts, MemoryActions
from unbidden.memory.embed import MINILM
from unbidden.memory.modelled import checked
from unbidden.memory.protocol import SystemInfo
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
    from unbidden.memory.batches import Batch, Message
    from unbidden.memory.records import Encodes, MemoryRecord, RecordStore

Variant = Literal["paper", "oss1"]
UnknownId = Literal["drop", "add"]


class Mem0(SpeakerStores):
    """Facts extracted from message batches, each compared with the memories it resembles.

    "paper" (Chhikara et al. 2025, section 2.1): extraction reads a summary of the conversation
    and the last 10 messages; each fact is compared with the 10 memories nearest to it in a call
    of its own, which chooses ADD, UPDATE, DELETE or NOOP. The paper does not say when the summary
    is refreshed; here it is after every session. The paper chooses by tool call, we by structured
    output. A fact that meets an empty store is added without a call.

    "oss1": no summary and no window; extraction takes in what the user says and ignores the
    assistant; one call compares all facts of a batch with the union of the 5 memories nearest to
    each and returns actions (ADD, UPDATE, DELETE, NONE). Its releases date everything by the day
    of ingestion; we give the session's date, as LoCoMo-Conv does.

    A memory's sources are the turns of its batch; an update keeps the old ones and adds the new,
    and takes the new date. Both variants show memories as "0", "1", ... in order of making. Every
    addition, update and removal is in `history()`.

    Events of the report: ``added``, ``updated``, ``deleted``, ``kept`` (NONE or NOOP),
    ``unknown_id``, ``blank_text``, ``no_facts`` (batches), ``summary_failed``, and in "oss1"
    ``facts_without_action``: by how many the facts of a batch outnumber the actions that were
    applied or NONE. An update reply need not mention every fact, and one it leaves out is lost.
    Actions do not name their fact, and some are about old memories, so this is the least number.

    Parameters
    ----------
    variant : {"paper", "oss1"}
    similar : int, optional
        Memories shown for each fact; 10 in the paper, 5 in the releases.
    window : int
        Messages of the paper's window.
    unknown_id : {"drop", "add"}
        What becomes of an update whose memory was not shown: nothing, as in the releases, or it
        is stored as a new memory. It is counted either way.
    ingestion, batch_size, captions, floor
        See `SpeakerStores`.
    """

    info = SystemInfo(
        name="mem0",
        paper="Chhikara et al. 2025 (arXiv 2504.19413)",
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
        variant: Variant = "paper",
        ingestion: Ingestion = "mirrored",
        batch_size: int | None = 2,
        captions: bool = False,
        similar: int | None = None,
        window: int = 10,
        unknown_id: UnknownId = "drop",
        floor: float | None = None,
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
        check_choice("variant", variant, get_args(Variant))
        check_choice("unknown_id", unknown_id, get_args(UnknownId))
        self.variant, self.unknown_id = variant, unknown_id
        self.similar = similar or {"paper": 10, "oss1": 5}[variant]
        self.window = window

    def begin(self, conversation: Conversation, owner: str | None) -> None:
        """Start without a summary."""
        self._about = owner or " and ".join(conversation.speakers)
        self._summary = ""
        self._recent: deque[Message] = deque(maxlen=self.window)
        self._session: list[Message] = []

    def take_in(self, batch: Batch, store: RecordStore) -> None:
        """Extract the facts of a batch and let them change the store."""
        facts = self._extract(batch)
        if facts == []:
            self.log.events["no_facts"] += 1
        elif facts and self.variant == "paper":
            for fact in facts:
                self._operate(fact, batch, store)
        elif facts:
            self._settle(facts, batch, store)
        if self.variant == "paper":
            self._remember(batch)

    def _extract(self, batch: Batch) -> list[str] | None:
        variables: dict[str, object] = {"date": batch.date, "messages": batch.variables()}
        if self.variant == "paper":
            variables |= {
                "summary": self._summary,
                "recent": [message.variables() for message in self._recent],
                "about": self._about,
            }
        name = {"paper": "mem0_extract_context.v1", "oss1": "mem0_extract.v1"}[self.variant]
        found = self.answer(FactTexts, name, variables, unit=batch.label, turns=batch.turns)
        if found is None:
            return None
        return [text for fact in found.facts if (text := fact.strip())]

    def _operate(self, fact: str, batch: Batch, store: RecordStore) -> None:
        """Let one fact change the store, as the paper's Algorithm 1 does."""
        near = shown(record for record, _ in store.search(fact, self.similar))
        if not near:
            self._apply("ADD", None, fact, near, batch, store)
            return
        found = self.answer(
            FactOperation,
            "mem0_operation.v1",
            {"memories": listed(near), "fact": fact},
            unit=batch.label,
            turns=batch.turns,
        )
        if found is not None:
            self._apply(found.operation, found.id, found.text, near, batch, store)

    def _settle(self, facts: list[str], batch: Batch, store: RecordStore) -> None:
        """Let all facts of a batch change the store by one call, as the releases do."""
        near = shown(record for fact in facts for record, _ in store.search(fact, self.similar))
        found = self.answer(
            MemoryActions,
            "mem0_update.v1",
            {"memories": listed(near), "facts": facts},
            unit=batch.label,
            turns=batch.turns,
        )
        if found is None:
            return
        done = sum(
            self._apply(action.event, action.id, action.text, near, batch, store)
            for action in found.memory
        )
        if done < len(facts):
            self.log.events["facts_without_action"] += len(facts) - done

    def _apply(
        self,
        event: str,
        label: str | int | None,
        text: str,
        near: dict[str, MemoryRecord],
        batch: Batch,
        store: RecordStore,
    ) -> bool:
        """Let one action change the store; return whether it was applied, or said to keep all."""
        events, text = self.log.events, text.strip()
        if event in ("NONE", "NOOP"):
            events["kept"] += 1
            return True
        # The releases skip every action without a text, a DELETE too. The paper's DELETE has none.
        if not text and not (event == "DELETE" and self.variant == "paper"):
            events["blank_text"] += 1
            return False
        when = batch.session.when
        if event != "ADD":
            record = near.get(str(label).strip())
            if record is not None and record.id in store:
                if event == "DELETE":
                    store.delete(record.id)
                    events["deleted"] += 1
                else:
                    store.update(record.id, text=text, sources=batch.turns, time=when)
                    events["updated"] += 1
                return True
            events["unknown_id"] += 1
            if event == "DELETE" or self.unknown_id == "drop":
                return False
        store.add(text, batch.turns, kind="fact", time=when)
        events["added"] += 1
        return True

    def _remember(self, batch: Batch) -> None:
        """Move the window on, and refresh the summary at the end of a session."""
        self._recent.extend(batch.messages)
        self._session.extend(batch.messages)
        if not batch.last:
            return
        variables = {
            "summary": self._summary,
            "date": batch.date,
            "messages": [message.variables() for message in self._session],
        }
        self._session = []
        outcome = self.calls.ask("mem0_summary.v1", variables)
        if outcome.ok:
            self._summary = checked(outcome.value, str, "mem0_summary.v1").strip()
        else:
            # No turn is lost by it: the earlier summary stays.
            self.log.events["summary_failed"] += 1
