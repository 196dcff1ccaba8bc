"""The mem0 package itself, beside our own writing of its algorithm."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from unbidden.errors import UnbiddenError
from unbidden.memory.embed import MINILM
from unbidden.memory.mem0.bridge import load_package, new_memory
from unbidden.memory.protocol import Retrieved, SystemInfo
from unbidden.memory.speaker_stores import Ingestion, SpeakerStores

if TYPE_CHECKING:
    from unbidden.corpus.models import Conversation
    from unbidden.llm import LLM
    from unbidden.memory.batches import Batch
    from unbidden.memory.mem0.bridge import ModelBridge
    from unbidden.memory.records import Encodes, MemoryRecord, RecordStore

# The package, too, drops what a model thinks aloud, and then reads what stands inside prose.
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


class Mem0Package(SpeakerStores):
    """The open release of mem0, run in this process with our embedder and our model layer.

    Its pipeline, prompt and reading of replies are its own. The session's date takes the place of
    today's in its request, as in LoCoMo-Conv. Word search and entity boost are off; telemetry is
    off; nothing but the model's endpoint is called. It keeps no turn ids, so this class does:
    an addition has those of its batch, an update unites, a removal drops them.

    Whatever it raises is a failed unit. So is what it drops in silence: a reply it can read nothing
    from, which it takes for "no facts", and memories of a reply that it does not store.

    Events of the report: ``added``, ``updated``, ``deleted``, ``no_facts`` (batches), ``repeated``
    (memories of a reply that were there already).

    Parameters
    ----------
    floor : float or None
        Least score of a search result; 0.1 in the package. None means 0.
    ingestion, batch_size, captions
        See `SpeakerStores`.
    """

    info = SystemInfo(
        name="mem0-package",
        paper="mem0 2.x, the package mem0ai",
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
        load_package()
        self._memory: Any = None
        self._model: ModelBridge
        self._records: dict[str, MemoryRecord] = {}

    def build(self, conversation: Conversation) -> None:
        """Feed a new memory of the package."""
        if self._memory is not None:
            self._memory.close()
        self._memory, self._model = new_memory(self.embedder, self.calls)
        self._records = {}
        super().build(conversation)

    def begin(self, conversation: Conversation, owner: str | None) -> None:
        """Nothing: the package keeps its own state by store."""

    def take_in(self, batch: Batch, store: RecordStore) -> None:
        """Hand a batch to the package, and note what it did."""
        self._model.date = batch.date.partition(",")[0]
        messages = [
            {"role": m.role, "content": _whole(f"{m.name}: {m.text}")} for m in batch.messages
        ]
        when = batch.session.when
        metadata = {"created_at": when.isoformat()} if when else {}
        try:
            result = self._memory.add(messages, user_id=store.prefix, metadata=metadata)
        except UnbiddenError:
            raise
        except Exception as error:
            # The package raises what it likes, and wraps our own errors: those end the run.
            if self._model.stop is not None:
                raise self._model.stop from error
            self.log.fail(batch.label, f"{type(error).__name__}: {error}"[:300], batch.turns)
            return
        found = result["results"]
        for item in found:
            self._note(item, batch, store)
        self._account(len(found), batch, store)

    def _note(self, item: dict[str, str], batch: Batch, store: RecordStore) -> None:
        """Mirror one action of the package, so that its memories have sources."""
        own, event, text, when = item["id"], item["event"], item["memory"], batch.session.when
        old = self._records.get(own)
        if event == "DELETE" and old is not None:
            del self._records[own]
            store.delete(old.id)
            self.log.events["deleted"] += 1
        elif event == "UPDATE" and old is not None:
            self._records[own] = store.update(old.id, text=text, sources=batch.turns, time=when)
            self.log.events["updated"] += 1
        elif event in ("ADD", "UPDATE"):
            self._records[own] = store.add(text, batch.turns, kind="fact", time=when)
            self.log.events["added"] += 1

    def _account(self, stored: int, batch: Batch, store: RecordStore) -> None:
        """Compare what is stored with what the model said."""
        said = _texts(self._model.reply)
        if said is None:
            if not stored:
                start = self._model.reply[:60]
                self.log.fail(batch.label, f"unreadable reply beginning {start!r}", batch.turns)
            return
        known = {record.text for record in store}
        lost = [text for text in said if text not in known]
        if lost:
            self.log.fail(batch.label, f"not stored: {str(lost[0])[:60]!r}", batch.turns)
        self.log.events["no_facts"] += not said
        self.log.events["repeated"] += len(said) - len(lost) - stored

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return the `k` best memories of the speaker's store, or of all without one."""
        query = _whole(query)
        if k < 1 or not query.strip() or not self._stores:
            return []
        own = self._stores.get(speaker)
        found: list[tuple[MemoryRecord, float]] = []
        for store in [own] if own is not None else self.stores():
            answer = self._memory.search(
                query, top_k=k, filters={"user_id": store.prefix}, threshold=self.floor or 0.0
            )
            found += [
                (self._records[item["id"]], float(item["score"])) for item in answer["results"]
            ]
        found.sort(key=lambda pair: -pair[1])
        return [record.retrieved(score) for record, score in found[:k]]


def _whole(text: str) -> str:
    # Half an emoji cannot be written to any file, and the package fails on it.
    return text.encode("utf-8", "replace").decode("utf-8")


def _texts(reply: str) -> list[str] | None:
    """Return the memories in a reply as texts, or None if it is not of the form asked for."""
    reply = _THOUGHT.sub("", reply)
    found = _OBJECT.search(reply)
    try:
        value = json.loads(found.group(0) if found else reply, strict=False)
    except (ValueError, RecursionError):
        return None
    memory = value.get("memory") if isinstance(value, dict) else None
    if not isinstance(memory, list):
        return None
    return [str(item.get("text")) if isinstance(item, dict) else str(item) for item in memory]
