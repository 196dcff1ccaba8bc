"""Systems fed with message batches: one store for each speaker, or one for both."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.errors import ConfigError, closest
from unbidden.memory.batches import batches, check_size
from unbidden.memory.embed import MINILM
from unbidden.memory.modelled import ModelledSystem
from unbidden.memory.records import RecordStore

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.corpus.models import Conversation
    from unbidden.llm import LLM
    from unbidden.memory.batches import Batch
    from unbidden.memory.protocol import Retrieved
    from unbidden.memory.records import Encodes, MemoryRecord

Ingestion = Literal["mirrored", "one-pass"]


class SpeakerStores(ModelledSystem):
    """Base of the mem0 variants.

    Parameters
    ----------
    ingestion : {"mirrored", "one-pass"}
        "mirrored" keeps a store for each speaker and feeds it the whole conversation, that
        speaker's turns as the user's and the other's as the assistant's, as LoCoMo-Conv and the
        authors' own harness do: every message is paid for twice. "one-pass" keeps one store and
        feeds it all turns once, all as the user's.
    batch_size : int or None
        Messages in one call, 2 in LoCoMo-Conv; None means a whole session, some tenfold cheaper.
    captions : bool
        Whether captions of shared images are fed too; LoCoMo-Conv leaves them out.
    floor : float or None
        Least cosine of a search result.
    """

    def __init__(
        self,
        *,
        llm: LLM | None,
        embedder: str | Encodes = MINILM,
        attempts: int = 1,
        ingestion: Ingestion = "mirrored",
        batch_size: int | None = 2,
        captions: bool = False,
        floor: float | None = None,
    ) -> None:
        super().__init__(llm=llm, embedder=embedder, attempts=attempts)
        check_choice("ingestion", ingestion, get_args(Ingestion))
        check_size(batch_size)
        self.ingestion, self.batch_size = ingestion, batch_size
        self.captions, self.floor = captions, floor
        self._stores: dict[str | None, RecordStore] = {}

    @abstractmethod
    def begin(self, conversation: Conversation, owner: str | None) -> None:
        """Forget what is kept between the batches of one store."""

    @abstractmethod
    def take_in(self, batch: Batch, store: RecordStore) -> None:
        """Store what a batch tells."""

    def build(self, conversation: Conversation) -> None:
        """Feed every store with the whole conversation."""
        owners = conversation.speakers if self.ingestion == "mirrored" else (None,)
        self._stores = {
            owner: RecordStore(self.embedder, prefix)
            for owner, prefix in zip(owners, "ab", strict=False)
        }
        for owner, store in self._stores.items():
            self.begin(conversation, owner)
            for batch in batches(conversation, owner, size=self.batch_size, captions=self.captions):
                store.unit = batch.label
                self.log.units += 1
                self.take_in(batch, store)

    def stores(self) -> Sequence[RecordStore]:
        """Return the speakers' stores."""
        return list(self._stores.values())

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return the `k` nearest memories of the speaker's store.

        Without a speaker, or with one who has no store, all stores are searched, and their
        memories stand in one ranking. So it is for plain questions, which have no speaker. This is
        a deviation: LoCoMo-Conv's runner searches one store alone, that of the speaker a question
        is about, or of the first speaker where it names none.
        """
        own = self._stores.get(speaker)
        found = [
            pair
            for store in ([own] if own is not None else self.stores())
            for pair in store.search(query, k, floor=self.floor)
        ]
        found.sort(key=lambda pair: -pair[1])
        return [record.retrieved(score) for record, score in found[:k]]


def shown(records: Iterable[MemoryRecord]) -> dict[str, MemoryRecord]:
    """Return memories under the labels a prompt shows: "0", "1", ... in order of making.

    The order does not depend on scores, whose last bits do not repeat on another machine.
    """
    ordered = sorted({record.id: record for record in records}.values(), key=lambda r: r.order)
    return {str(label): record for label, record in enumerate(ordered)}


def listed(memories: dict[str, MemoryRecord]) -> list[dict[str, str]]:
    """Return labelled memories as a prompt needs them."""
    return [{"id": label, "text": record.text} for label, record in memories.items()]


def check_choice(parameter: str, value: str, known: tuple[str, ...]) -> None:
    """Check that a parameter has one of its values.

    Raises
    ------
    ConfigError
        If it has not.
    """
    if value not in known:
        raise ConfigError(
            f"unknown {parameter} {value!r}",
            expected=closest(value, known),
            next_step=f"set the parameter `{parameter}` to one of these",
        )
