"""Memory Update: what each new sentence does to the old ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from unbidden.errors import ConfigError
from unbidden.llm.schemas_baselines import NumberedDecisions, PairDecision, UpdateLabel
from unbidden.memory.baselines.pools import PoolForm, SummaryPool
from unbidden.memory.baselines.settle import OnChange, OnDelete, Pair, settled
from unbidden.memory.embed import MINILM
from unbidden.memory.modelled import checked
from unbidden.memory.protocol import SystemInfo
from unbidden.memory.speaker_stores import listed, shown
from unbidden.memory.units import one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.llm import LLM, Outcome
    from unbidden.memory.records import Encodes, MemoryRecord
    from unbidden.memory.summaries import SummaryMemory, SummarySources

PerCall = Literal["pair", "sentence"]

PAIR, LISTED = "memory_update_pair.v1", "memory_update_listed.v1"


@dataclass(frozen=True, slots=True)
class _Question:
    """A new sentence and the old ones a call compares it with, by the numbers shown."""

    new: SummaryMemory
    old: dict[str, MemoryRecord]

    @property
    def only(self) -> MemoryRecord:
        """The old sentence of a question about one pair."""
        (record,) = self.old.values()
        return record


class MemoryUpdate(SummaryPool):
    """Session summaries that change the ones before (Bae et al. 2022, as in THEANINE).

    After each session every new sentence is compared with old ones, and a model says for each pair
    whether the old one covers it (PASS), is overtaken by it (CHANGE), is covered by it (REPLACE),
    is done with (DELETE), or neither (APPEND). Sentences are kept or dropped as they are, never
    rewritten. All labels of a session are given on the pool as it was before, and then applied
    together, so no order matters; see `unbidden.memory.baselines.settle` for the rule, which the
    papers leave open. A search returns the `k` nearest sentences of the pool (6 in THEANINE).

    As published every pair is a call: ``candidates=None, per_call="pair"``. With n sentences a
    session that makes n² · t(t-1)/2 calls over t sessions when nothing is dropped: 360 for five
    sessions of six sentences, some 600,000 for LoCoMo. The defaults compare each new sentence with
    the 10 nearest old ones in one call, that is n · (t-1) calls: 24, and some 4,000. `update_calls`
    tells before a run.

    A decision that fails counts as APPEND: both sentences stay.

    Events of the report beside those of the summaries: ``pairs`` compared; how many got each label
    (``pass``, ``change``, ``replace``, ``append``, ``delete``); ``old_dropped``, ``new_dropped``;
    ``decision_failed`` (calls); ``unknown_memory`` and ``repeated_memory`` (numbers that were not
    shown, or named twice); ``covered_by_none`` (dropped because another says it, which was dropped
    too).

    Parameters
    ----------
    candidates : int or None
        Old sentences each new one is compared with, the nearest; None means all.
    per_call : {"pair", "sentence"}
        Whether each pair is a call, or each new sentence with all its old ones.
    on_change : {"new", "both", "old"}
        Which of the two stay on CHANGE. "old" is what THEANINE's printed prompt says when read to
        the letter, "both" keeps the history.
    on_delete : {"new", "none"}
        Which of the two stay on DELETE; "none" is Bae et al.'s rule.
    inherit : bool
        Whether a sentence that covers a dropped one (PASS, REPLACE) comes from that one's turns
        too. It changes recall, not what is read.
    form, sources, captions, dates
        See `SummaryPool`.
    """

    info = SystemInfo(
        name="memory-update",
        paper="Bae et al. 2022 (arXiv 2210.08750), as in THEANINE (arXiv 2406.10996)",
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
        candidates: int | None = 10,
        per_call: PerCall = "sentence",
        on_change: OnChange = "new",
        on_delete: OnDelete = "new",
        inherit: bool = True,
        form: PoolForm = "ranked",
        sources: SummarySources = "batch",
        captions: bool = True,
        dates: bool = True,
    ) -> None:
        super().__init__(
            llm=llm,
            embedder=embedder,
            attempts=attempts,
            form=form,
            sources=sources,
            captions=captions,
            dates=dates,
        )
        one_of("per_call", per_call, get_args(PerCall))
        one_of("on_change", on_change, get_args(OnChange))
        one_of("on_delete", on_delete, get_args(OnDelete))
        if candidates is not None and candidates < 1:
            raise ConfigError(
                "`candidates` is out of range", expected="1 or more, or None for all",
                got=str(candidates),
            )  # fmt: skip
        self.candidates, self.per_call = candidates, per_call
        self.on_change, self.on_delete, self.inherit = on_change, on_delete, inherit

    def take_in(self, new: Sequence[SummaryMemory]) -> None:
        """Compare the sentences of one session with the pool, and change it."""
        labels = self._labels(new)
        for _, label in labels:
            self.log.events[label.lower()] += 1
        self.log.events["pairs"] += len(labels)
        result = settled(
            {record.id: record.sources for record in self.store},
            {memory.id: memory.sources for memory in new},
            dict(labels),
            on_change=self.on_change,
            on_delete=self.on_delete,
            inherit=self.inherit,
        )
        for record in list(self.store):
            if record.id not in result.kept:
                self.store.delete(record.id)
            elif result.kept[record.id] != record.sources:
                self.store.update(record.id, sources=result.kept[record.id])
        for memory in new:
            if memory.id in result.kept:
                self.store.add(
                    memory.text, result.kept[memory.id], kind="summary", time=memory.time
                )
        self.log.events["old_dropped"] += result.old_dropped
        self.log.events["new_dropped"] += result.new_dropped
        self.log.events["covered_by_none"] += result.covered_by_none

    def _labels(self, new: Sequence[SummaryMemory]) -> list[tuple[Pair, UpdateLabel]]:
        """Return the label of each pair compared."""
        questions = [question for memory in new for question in self._questions(memory)]
        calls: list[tuple[str, dict[str, Any]]]
        if self.per_call == "pair":
            calls = [(PAIR, {"old": q.only.text, "new": q.new.text}) for q in questions]
        else:
            calls = [(LISTED, {"memories": listed(q.old), "new": q.new.text}) for q in questions]
        outcomes = self.calls.ask_many(calls, label="memory update") if calls else []
        return [
            ((record.id, question.new.id), label)
            for question, outcome in zip(questions, outcomes, strict=True)
            for record, label in self._read(question, outcome)
        ]

    def _questions(self, memory: SummaryMemory) -> list[_Question]:
        """Return what is asked about one new sentence; nothing while the pool is empty."""
        if self.candidates is None:
            old = list(self.store)
        else:
            old = [record for record, _ in self.store.search(memory.text, self.candidates)]
        numbered = shown(old)
        if self.per_call == "pair":
            return [_Question(memory, {key: record}) for key, record in numbered.items()]
        return [_Question(memory, numbered)] if numbered else []

    def _read(
        self, question: _Question, outcome: Outcome[Any]
    ) -> list[tuple[MemoryRecord, UpdateLabel]]:
        """Return the label of each old sentence of a question; APPEND where none is given."""
        labels: dict[str, UpdateLabel] = dict.fromkeys(question.old, "APPEND")
        if not outcome.ok:
            self.log.events["decision_failed"] += 1
        elif self.per_call == "pair":
            (number,) = labels
            labels[number] = checked(outcome.value, PairDecision, PAIR).label
        else:
            seen: set[str] = set()
            for decision in checked(outcome.value, NumberedDecisions, LISTED).decisions:
                number = str(decision.memory)
                if number not in labels:
                    self.log.events["unknown_memory"] += 1
                elif number in seen:
                    self.log.events["repeated_memory"] += 1
                else:
                    seen.add(number)
                    labels[number] = decision.label
        return [(question.old[number], label) for number, label in labels.items()]


def update_calls(
    sentences: Sequence[int], *, candidates: int | None = 10, per_call: PerCall = "sentence"
) -> int:
    """Return the most comparison calls that sessions of so many sentences can make.

    It is reached when nothing is dropped. The summaries' calls, one a session, come on top.

    >>> update_calls([6] * 5, candidates=None, per_call="pair")
    360
    >>> update_calls([6] * 5)
    24
    """
    calls = pool = 0
    for count in sentences:
        compared = pool if candidates is None else min(pool, candidates)
        calls += count * (compared if per_call == "pair" else min(1, compared))
        pool += count
    return calls
