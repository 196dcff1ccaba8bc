"""Memora's prompted search: a model collects memories step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.llm.schemas_memora import PolicyStep
from unbidden.memory.modelled import checked
from unbidden.memory.speaker_stores import shown

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable

    from unbidden.memory.calls import CountedCalls
    from unbidden.memory.memora.store import HarmonicStore
    from unbidden.memory.records import MemoryRecord

_VALUE_CUT, _NEIGHBOUR_CUT = 150, 100
"""Characters of a value shown, of collected memories and of neighbours."""
_FRONTIER = 30
"""Neighbours shown at most."""


def collect(
    query: str,
    *,
    search: Callable[[str], list[MemoryRecord]],
    store: HarmonicStore,
    calls: CountedCalls,
    max_steps: int,
    events: Counter[str],
) -> list[MemoryRecord]:
    """Return the memories collected for a query, in the order in which they came.

    Memora(P), arXiv 2602.03315: it begins with what `search` finds; a step takes in neighbours
    (entries that share a cue), searches anew, or stops. An invalid step or a failed call ends it.
    Collected memories and neighbours are shown in order of making.

    Parameters
    ----------
    search : callable
        Finds entries for a text.
    events : Counter
        Counts ``policy_steps``, ``policy_failed`` (calls) and ``policy_invalid`` (steps).
    """
    working = {record.id: record for record in search(query)}
    asked, trace = query, list[str]()
    for step in range(1, max_steps + 1):
        frontier = shown(store.neighbours(working.values())[:_FRONTIER])
        outcome = calls.ask(
            "memora_policy.v1",
            {
                "question": query,
                "query": asked,
                "step": str(step),
                "max_steps": str(max_steps),
                "working": _cut(shown(working.values()), _VALUE_CUT),
                "frontier": _cut(frontier, _NEIGHBOUR_CUT),
                "trace": list(trace),
            },
        )
        if not outcome.ok:
            events["policy_failed"] += 1
            break
        events["policy_steps"] += 1
        chosen = checked(outcome.value, PolicyStep, "memora_policy.v1")
        if chosen.action == "STOP":
            break
        new, target = _taken(chosen, frontier, search)
        if not target:
            events["policy_invalid"] += 1
            break
        if chosen.action != "EXPAND":
            asked = target
        working |= {record.id: record for record in new if record.id not in working}
        trace.append(f"{chosen.action} {target}")
    return list(working.values())


def _taken(
    chosen: PolicyStep,
    frontier: dict[str, MemoryRecord],
    search: Callable[[str], list[MemoryRecord]],
) -> tuple[list[MemoryRecord], str]:
    """Return what a step brings and what it aims at; a step without an aim is invalid."""
    if chosen.action == "EXPAND":
        labels = dict.fromkeys(str(number) for number in chosen.frontier_ids)
        new = [frontier[label] for label in labels if label in frontier]
        return new, ", ".join(record.index_text for record in new)
    text = (chosen.new_query or "").strip()
    return search(text) if text else [], text


def _cut(records: dict[str, MemoryRecord], length: int) -> list[dict[str, str]]:
    return [
        {"number": label, "index": record.index_text, "value": record.text[:length]}
        for label, record in records.items()
    ]
