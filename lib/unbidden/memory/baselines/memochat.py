"""MemoChat: a memo of topics with their lines, of which a model chooses."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.llm.schemas_baselines import ChosenNumbers, Memo
from unbidden.memory.baselines.memo import (
    NOTO,
    Entry,
    Line,
    block_name,
    blocks,
    entries,
    session_lines,
)
from unbidden.memory.batches import check_size
from unbidden.memory.embed import MINILM
from unbidden.memory.modelled import ModelledSystem, checked
from unbidden.memory.protocol import SystemInfo
from unbidden.memory.records import RecordStore
from unbidden.memory.units import one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation
    from unbidden.llm import LLM
    from unbidden.memory.protocol import Retrieved
    from unbidden.memory.records import Encodes, MemoryRecord

Pad = Literal["none", "embedding"]

WRITE, CHOOSE = "memochat_write.v1", "memochat_choose.v1"


class MemoChat(ModelledSystem):
    """MemoChat (Lu et al. 2023): memos on the fly, chosen by the model itself.

    Writing: a call cuts each block of lines into topics, each with a summary and the lines it
    covers. Reading: a call sees all topics with their summaries and the query, and names those
    that help; their topic, summary and lines are the memories, in the order named. Nothing is
    embedded. A search costs one call, more if the topics do not fit one page.

    Where we differ: the model names at most `k` topics, best first (the original's evidence has no
    order and no limit); lines at the end of a block that is not full are written too, which the
    original never does; replies are JSON, which survives the apostrophes the original's reader
    fails on; a wrong range is cut to the block; lines in no topic are kept under "NOTO" with their
    turns and, as in the original, can never be chosen; a block whose call fails is kept so too,
    and is a failed unit. Speakers have their names. In the original the block of 10 lines holds
    two written before, so 8 are new. THEANINE writes one memo of all sessions at once:
    ``write_lines=None, max_words=None, cross_session=True``.

    Events of the report: see `unbidden.memory.baselines.memo.entries`.

    Parameters
    ----------
    write_lines, max_words : int or None
        A block is full at so many lines, or over so many words; None sets no limit.
    cross_session : bool
        Whether a block may go on over the end of a session; its date is that of its first line.
    captions : bool
        Whether captions of shared images are read.
    page : int
        Topics a choice sees at most. With more, those chosen from each page are chosen from again.
    pad : {"none", "embedding"}
        What fills up to `k` where fewer are chosen: nothing, or the topics nearest to the query,
        which is not in the paper.

    Attributes
    ----------
    search_events : Counter
        Since the system was made: ``choice failed`` (calls), ``no topic chosen``, ``unknown
        number``, ``chosen over several pages``, ``pages not narrowed down`` (each page was chosen
        whole).
    search_failure : str or None
        The last failed call of the last search, if it found nothing: no zero is made of it.
    """

    info = SystemInfo(
        name="memochat",
        paper="Lu et al. 2023 (arXiv 2308.08239)",
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
        write_lines: int | None = 8,
        max_words: int | None = 1024,
        cross_session: bool = False,
        captions: bool = True,
        page: int = 40,
        pad: Pad = "none",
    ) -> None:
        super().__init__(llm=llm, embedder=embedder, attempts=attempts)
        one_of("pad", pad, get_args(Pad))
        check_size(write_lines, "write_lines")
        check_size(max_words, "max_words")
        check_size(page, "page")
        self.write_lines, self.max_words = write_lines, max_words
        self.cross_session, self.captions = cross_session, captions
        self.page, self.pad = page, pad
        self.store = RecordStore(self.embedder)
        self.search_events: Counter[str] = Counter()
        self.search_failure: str | None = None

    def build(self, conversation: Conversation) -> None:
        """Write the memo; a block's call sees nothing of the others, so all are asked at once."""
        self.store = RecordStore(self.embedder)
        lines = [
            line
            for session in conversation.sessions
            for line in session_lines(session, captions=self.captions)
        ]
        parts = blocks(
            lines,
            size=self.write_lines,
            max_words=self.max_words,
            cross_session=self.cross_session,
        )
        calls = [(WRITE, {"lines": [_variables(line) for line in part]}) for part in parts]
        outcomes = self.calls.ask_many(calls, label="MemoChat memos") if calls else []
        for part, outcome in zip(parts, outcomes, strict=True):
            self.store.unit = block_name(part)
            self.log.units += 1
            if outcome.ok:
                topics = checked(outcome.value, Memo, WRITE).topics
                found = entries(topics, part, self.log.events)
            else:
                self.log.fail(self.store.unit, outcome, [line.turn for line in part])
                found = [Entry(NOTO, "", tuple(part))]
            for entry in found:
                self._add(entry)

    def _add(self, entry: Entry) -> None:
        self.store.add(
            entry.evidence,
            (line.turn for line in entry.lines),
            kind="noto" if entry.topic == NOTO else "topic",
            index_text=entry.option,
            time=entry.lines[0].time,
        )

    def stores(self) -> Sequence[RecordStore]:
        """Return the memo."""
        return [self.store]

    def prepare(self, conversations: Sequence[Conversation], queries: Sequence[str]) -> None:
        """Encode all queries, if they are compared with anything."""
        if self.pad == "embedding":
            super().prepare(conversations, queries)

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return at most `k` topics that the model chose, in the order in which it named them."""
        self.search_failure = None
        topics = [record for record in self.store if record.kind == "topic"]
        if k < 1 or not topics:
            return []
        found = self._chosen(query, topics, k)
        self.search_events["no topic chosen"] += not found and self.search_failure is None
        if self.pad == "embedding":
            chosen = {record.id for record in found}
            near = self.store.search(
                query,
                k - len(found),
                among=lambda record: record.kind == "topic" and record.id not in chosen,
            )
            found += [record for record, _ in near]
        if found:
            self.search_failure = None
        return [record.retrieved(float(len(found) - i)) for i, record in enumerate(found)]

    def _chosen(self, query: str, options: list[MemoryRecord], k: int) -> list[MemoryRecord]:
        """Return what is chosen, page by page until one page holds all that is left."""
        while True:
            pages = [
                options[start : start + self.page] for start in range(0, len(options), self.page)
            ]
            best = self._best_of(query, pages, k)
            if len(pages) == 1 or len(best) < 2:
                return best[:k]
            self.search_events["chosen over several pages"] += 1
            if len(best) == len(options):
                self.search_events["pages not narrowed down"] += 1
                return best[:k]
            options = best

    def _best_of(
        self, query: str, pages: Sequence[list[MemoryRecord]], k: int
    ) -> list[MemoryRecord]:
        calls = [
            (CHOOSE, {"query": query, "most": str(k), "options": [r.index_text for r in page]})
            for page in pages
        ]
        best: list[MemoryRecord] = []
        for page, outcome in zip(pages, self.calls.ask_many(calls), strict=True):
            if not outcome.ok:
                self.search_events["choice failed"] += 1
                self.search_failure = outcome.unscored
                continue
            numbers = dict.fromkeys(checked(outcome.value, ChosenNumbers, CHOOSE).numbers)
            known = [number for number in numbers if 1 <= number <= len(page)]
            self.search_events["unknown number"] += len(numbers) - len(known)
            best += [page[number - 1] for number in known[:k]]
        return best


def _variables(line: Line) -> dict[str, str]:
    return {"speaker": line.speaker, "text": line.text}
