"""Memora's write path: the facts of a segment become entries, are given cues, and may be merged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.llm.schemas_memora import CitedEntries, Cues, Entries, UpdateDecision
from unbidden.memory.modelled import checked
from unbidden.memory.records import united
from unbidden.memory.speaker_stores import check_choice, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.corpus.models import TurnId
    from unbidden.llm.schemas_memora import CitedEntry, Entry
    from unbidden.memory.memora.segments import Segment
    from unbidden.memory.memora.store import HarmonicStore
    from unbidden.memory.modelled import ModelledSystem
    from unbidden.memory.records import MemoryRecord

Sources = Literal["segment", "cited"]
Duplicates = Literal["drop", "update", "suffix"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact as extracted."""

    index: str
    value: str
    sources: tuple[TurnId, ...]


class EntryWriter:
    """Writes the facts of segments into a store; see `Memora` for the parameters.

    Parameters
    ----------
    system : ModelledSystem
        Whose calls and log are used.
    """

    def __init__(
        self,
        system: ModelledSystem,
        *,
        sources: Sources,
        cues: bool,
        threshold: float,
        candidates: int,
        same_segment: bool,
        duplicate_index: Duplicates,
    ) -> None:
        check_choice("sources", sources, get_args(Sources))
        check_choice("duplicate_index", duplicate_index, get_args(Duplicates))
        self._system, self.sources, self.cues = system, sources, cues
        self.threshold, self.candidates = threshold, candidates
        self.same_segment, self.duplicate_index = same_segment, duplicate_index

    def write(self, segment: Segment, store: HarmonicStore) -> None:
        """Extract, give cues, and add or merge each fact in turn."""
        facts = self._extract(segment)
        if not facts:
            self._system.log.events["no_facts"] += facts is not None
            return
        cues = self._cues([(fact.index, fact.value) for fact in facts])
        made = {record.id for record in store.entries}
        for fact in facts:
            self._upsert(fact, cues.get(_plain(fact.index), []), segment, store, made)

    def _extract(self, segment: Segment) -> list[Fact] | None:
        variables = {"date": segment.date, "messages": segment.variables()}
        found: Entries | CitedEntries | None
        if self.sources == "segment":
            found = self._system.answer(
                Entries, "memora_extract.v1", variables, unit=segment.label, turns=segment.turns
            )
        else:
            found = self._system.answer(
                CitedEntries,
                "memora_extract_cited.v1",
                variables,
                unit=segment.label,
                turns=segment.turns,
            )
        if found is None:
            return None
        facts = [
            Fact(entry.index.strip(), entry.value.strip(), self._sources(entry, segment))
            for entry in found.entries
        ]
        whole = [fact for fact in facts if fact.index and fact.value]
        self._system.log.events["blank_entry"] += len(facts) - len(whole)
        return whole

    def _sources(self, entry: Entry | CitedEntry, segment: Segment) -> tuple[TurnId, ...]:
        cited = getattr(entry, "turns", None)
        if cited is None:
            return segment.turns
        named = {text.strip().strip("[]") for text in cited}
        known = tuple(turn for turn in segment.turns if turn in named)
        self._system.log.events["unknown_id"] += len(named) - len(known)
        self._system.log.events["uncited"] += not known
        return known or segment.turns

    def _cues(self, entries: Sequence[tuple[str, str]]) -> dict[str, list[str]]:
        """Return cues by index; the model names the entry by repeating its index."""
        if not self.cues:
            return {}
        items = [{"index": index, "value": value} for index, value in entries]
        outcome = self._system.calls.ask("memora_cues.v1", {"entries": items})
        events = self._system.log.events
        if not outcome.ok:
            events["cues_failed"] += 1
            return {}
        cues: dict[str, list[str]] = {_plain(index): [] for index, _ in entries}
        for found in checked(outcome.value, Cues, "memora_cues.v1").results:
            own = cues.get(_plain(found.memory_index))
            if own is None:
                events["unmatched_cues"] += 1
            else:
                own.extend(text for cue in found.cue_indices if (text := cue.strip()))
        return cues

    def _upsert(
        self,
        fact: Fact,
        cues: Iterable[str],
        segment: Segment,
        store: HarmonicStore,
        made: set[str],
    ) -> None:
        """Add a fact, or merge it; `made` are the ids of entries of earlier segments."""
        events = self._system.log.events
        if (same := store.entry(fact.index)) is not None:
            events["duplicate_index"] += 1
            if self.duplicate_index == "drop":
                return
            if self.duplicate_index == "update":
                self._append(same, fact, segment, store)
                return
        near = store.entries.search(
            fact.index,
            self.candidates,
            floor=self.threshold,
            among=None if self.same_segment else lambda record: record.id in made,
        )
        if near and self._merge(fact, [record for record, _ in near], segment, store):
            events["merged"] += 1
            return
        record = store.entries.add(
            fact.value,
            fact.sources,
            kind="fact",
            index_text=store.free_index(fact.index),
            time=segment.session.when,
        )
        store.link(record.id, cues)
        events["added"] += 1

    def _append(
        self, same: MemoryRecord, fact: Fact, segment: Segment, store: HarmonicStore
    ) -> None:
        told = fact.value in same.text
        store.entries.update(
            same.id,
            text=same.text if told else f"{same.text} {fact.value}",
            index_text=same.index_text,
            sources=fact.sources,
            time=segment.session.when,
        )

    def _merge(
        self,
        fact: Fact,
        near: Sequence[MemoryRecord],
        segment: Segment,
        store: HarmonicStore,
    ) -> bool:
        """Return whether a fact was merged into an old entry, which keeps its turns."""
        candidates, events = shown(near), self._system.log.events
        variables = {
            "index": fact.index,
            "value": fact.value,
            "date": segment.date,
            "candidates": [_candidate(label, record) for label, record in candidates.items()],
        }
        outcome = self._system.calls.ask("memora_update.v1", variables)
        if not outcome.ok:
            events["update_failed"] += 1
            return False
        decision = checked(outcome.value, UpdateDecision, "memora_update.v1")
        if not decision.should_update:
            return False
        old = candidates.get(str(decision.best_candidate_index))
        value = (decision.updated_value or "").strip()
        if old is None or not value:
            events["invalid_update"] += 1
            return False
        index = (decision.updated_index or "").strip() or old.index_text
        store.unlink(old.id)
        new = store.entries.update(
            old.id,
            text=value,
            index_text=store.free_index(index, own=old.id),
            sources=united(fact.sources),
            time=segment.session.when,
        )
        cues = self._cues([(new.index_text, new.text)])
        store.link(new.id, cues.get(_plain(new.index_text), []))
        return True


def _candidate(label: str, record: MemoryRecord) -> dict[str, str]:
    day = record.time.date().isoformat() if record.time else "unknown"
    return {"number": label, "index": record.index_text, "value": record.text, "date": day}


def _plain(index: str) -> str:
    return " ".join(index.split()).casefold()
