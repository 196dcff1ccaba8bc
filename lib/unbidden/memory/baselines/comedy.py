"""COMEDY: all session memories compressed into one, of three parts."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.llm.schemas_baselines import Compressed
from unbidden.memory.baselines.onetext import OneText
from unbidden.memory.batches import check_size
from unbidden.memory.embed import MINILM
from unbidden.memory.protocol import SystemInfo
from unbidden.memory.records import RecordStore, united
from unbidden.memory.summaries import summarise
from unbidden.memory.tokens import count_words
from unbidden.memory.units import one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation, TurnId
    from unbidden.llm import LLM
    from unbidden.memory.protocol import Retrieved
    from unbidden.memory.records import Encodes
    from unbidden.memory.summaries import SummaryMemory

Profiles = Literal["each", "both"]
ComedyForm = Literal["whole", "parts"]

COMPRESS = "comedy_compress.v1"
HEADS = {"person": "About {}", "relationship": "Relationship", "events": "Events"}


@dataclass(frozen=True, slots=True)
class _Memory:
    """A compressive memory while it is written; `parts` by the keys of `HEADS`."""

    parts: dict[str, str]
    sources: tuple[TurnId, ...]


class Comedy(OneText):
    """COMEDY (Chen et al. 2024): compressive memory, without a retriever.

    Task 1: one call a session writes down what it tells. Task 2: one call compresses all of it
    into a description of a person, of the relationship, and of the events. Task 3, the reply, is
    the study's. A search returns the compressed memory. Where we differ: task 1 is the
    summarisation that all of THEANINE's systems share, so that systems differ in what they make of
    the same sentences (the original asks for everything worth keeping); a general model in place
    of one trained for the tasks; parts are fields of a JSON reply; the limit is in words, where the
    original has 200 Chinese characters.

    A compression that fails leaves what it was given: the sentences, under one another. It is a
    failed unit. One whose parts are all blank fails too.

    Events of the report beside those of the summaries: ``over_limit`` (memories longer than asked
    for, which are kept as they are) and ``blank_part``.

    Parameters
    ----------
    profiles : {"each", "both"}
        "each": one memory for each speaker, who is its "user", as in THEANINE's runs; a search
        returns that of the query's speaker, to whom a reply would be given, and both if the
        speaker is not known (THEANINE takes that of the one who replies). "both": one memory that
        describes the two, at half the calls.
    limit_words : int
        Asked for in the prompt.
    sessions_per_call : int or None
        None compresses all at once, as in the paper, which stops at 15 sessions. A number
        compresses so many sessions at a time, each time with the memory before: for models that
        cannot read all at once.
    form : {"whole", "parts"}
        "whole": a memory is one text. "parts": each part is a memory, and a search ranks them.
    captions, dates : bool
        See `unbidden.memory.summaries.summarise`.
    history_sources : bool
        See `OneText`.
    """

    info = SystemInfo(
        name="comedy",
        paper="Chen et al. 2024 (arXiv 2402.11975)",
        needs_llm=True,
        provenance="none",
        licence="Apache-2.0",
    )

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        embedder: str | Encodes = MINILM,
        attempts: int = 1,
        profiles: Profiles = "each",
        limit_words: int = 200,
        sessions_per_call: int | None = None,
        form: ComedyForm = "whole",
        captions: bool = True,
        dates: bool = True,
        history_sources: bool = False,
    ) -> None:
        super().__init__(
            llm=llm,
            embedder=embedder,
            attempts=attempts,
            history_sources=history_sources,
            ranked=form == "parts",
        )
        one_of("profiles", profiles, get_args(Profiles))
        one_of("form", form, get_args(ComedyForm))
        check_size(limit_words, "limit_words")
        check_size(sessions_per_call, "sessions_per_call")
        self.profiles, self.form = profiles, form
        self.limit_words, self.sessions_per_call = limit_words, sessions_per_call
        self.captions, self.dates = captions, dates
        self._stores: dict[str, RecordStore] = {}

    def build(self, conversation: Conversation) -> None:
        """Summarise all sessions, then compress for each person described."""
        facts = summarise(
            conversation.sessions, self.calls, self.log, captions=self.captions, dates=self.dates
        )
        both = " and ".join(conversation.speakers)
        owners = conversation.speakers if self.profiles == "each" else (both,)
        self._stores = {
            owner: RecordStore(self.embedder, prefix)
            for owner, prefix in zip(owners, "ab", strict=False)
        }
        for owner, store in self._stores.items():
            store.unit = f"compression about {owner}"
            memory: _Memory | None = None
            for number, block in enumerate(self._blocks(facts), start=1):
                self.log.units += 1
                memory = self._compressed(owner, memory, block, f"{store.unit}, call {number}")
            if memory is not None:
                self._store(owner, memory, store)

    def _blocks(self, facts: Sequence[SummaryMemory]) -> list[list[SummaryMemory]]:
        """Return the facts by the calls that compress them."""
        sessions = [list(group) for _, group in groupby(facts, key=lambda fact: fact.session)]
        size = self.sessions_per_call or max(len(sessions), 1)
        return [
            [fact for session in sessions[start : start + size] for fact in session]
            for start in range(0, len(sessions), size)
        ]

    def _compressed(
        self, owner: str, memory: _Memory | None, block: list[SummaryMemory], unit: str
    ) -> _Memory:
        before = _text(owner, memory.parts) if memory else ""
        turns = united(*(fact.sources for fact in block))
        sources = united(memory.sources if memory else (), turns)
        texts = [fact.text for fact in block]
        variables = {
            "memory": before,
            "facts": texts,
            "about": owner,
            "limit_words": str(self.limit_words),
        }
        reply = self.answer(Compressed, COMPRESS, variables, unit=unit, turns=turns)
        if reply is not None:
            parts = {key: " ".join(getattr(reply, key).split()) for key in HEADS}
            if any(parts.values()):
                self.log.events["blank_part"] += list(parts.values()).count("")
                words = sum(map(count_words, parts.values()))
                self.log.events["over_limit"] += words > self.limit_words
                return _Memory(parts, sources)
            self.log.fail(unit, "all parts of the reply are blank", turns)
        rest = memory.parts if memory else dict.fromkeys(HEADS, "")
        told = "\n".join([part for part in (rest["events"], *texts) if part])
        return _Memory(rest | {"events": told}, sources)

    def _store(self, owner: str, memory: _Memory, store: RecordStore) -> None:
        if self.form == "whole":
            store.add(_text(owner, memory.parts), memory.sources, kind="compressed")
            return
        for key, part in memory.parts.items():
            if part:
                store.add(_text(owner, {key: part}), memory.sources, kind=key, index_text=part)

    def stores(self) -> Sequence[RecordStore]:
        """Return one store for each person described."""
        return list(self._stores.values())

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return the memory in which the query's speaker is the user, or its parts by nearness."""
        own = self._stores.get(speaker or "")
        stores = [own] if own is not None else self.stores()
        if self.form == "whole":
            return [hit for store in stores for hit in self.in_order(store, k)][: max(k, 0)]
        found = [pair for store in stores for pair in store.search(query, k)]
        found.sort(key=lambda pair: -pair[1])
        return [self.shown(record, score) for record, score in found[: max(k, 0)]]


def _text(owner: str, parts: dict[str, str]) -> str:
    """Return the parts that are not blank under their heads."""
    # The name is never a template: it comes from the data.
    heads = {key: head.replace("{}", owner) for key, head in HEADS.items()}
    return "\n".join(f"{heads[key]}: {part}" for key, part in parts.items() if part)
