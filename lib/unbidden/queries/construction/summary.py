"""The report of a construction: pass rates, what failed and why, attempts, calls."""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.corpus.models import STYLES
from unbidden.queries.construction.judges import agreement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.queries.construction.counting import PromptCalls
    from unbidden.queries.construction.validation import Validated

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ConstructionReport:
    """Numbers of one construction; the same bytes when it is replayed.

    Attributes
    ----------
    rates : list of dict
        One for each style, and "all". Counts: ``asked``; ``written``, ``unscored`` (asked =
        written + unscored); ``first_clean`` and ``clean``, without any problem at the first and at
        the best attempt; ``judged``, ``yes``, ``not_applicable``, ``no_verdict`` (written = judged
        + not_applicable + no_verdict); ``stage_b``, ``passed``, ``kept``. Shares in 0..1 or None
        without items: ``first_clean_rate`` and ``clean_rate`` of the written, ``yes_rate`` of the
        judged, ``stage_b_rate`` of the written, ``pass_rate`` of the judged. ``attempts`` is the
        sum of calls, ``mean_leak_first`` and ``mean_leak`` are over items with an answer word.
    problems : list of dict
        ``style, problem, first, left``: items with that problem at the first and best attempt.
    failures : list of dict
        ``style, step, reason, count``: failed writing calls by status, verdicts not had, and items
        that stayed unscored.
    attempts : list of dict
        ``style, attempts, count``.
    agreement : list of dict
        ``style, n, first_yes, second_yes, raw, kappa`` of two judges; empty without a second.
    calls : list of dict
        ``prompt, status, calls, input_tokens, output_tokens, uncounted, seconds``.
    """

    rates: list[Record]
    problems: list[Record]
    failures: list[Record]
    attempts: list[Record]
    agreement: list[Record]
    calls: list[Record]

    def as_dict(self) -> dict[str, list[Record]]:
        """Return the tables by name, fit for JSON."""
        return dataclasses.asdict(self)

    def frame(self, table: str) -> pd.DataFrame:
        """Return one of the tables.

        Raises
        ------
        KeyError
            If there is none of that name.
        """
        return pd.DataFrame(self.as_dict()[table])


def summarise(items: Sequence[Validated], calls: Sequence[PromptCalls]) -> ConstructionReport:
    """Return the report of validated queries and the calls they took."""
    styles = [style for style in STYLES if any(item.written.style == style for item in items)]
    groups: list[tuple[str, list[Validated]]] = [
        *((style, [item for item in items if item.written.style == style]) for style in styles),
        ("all", list(items)),
    ]
    return ConstructionReport(
        [_rates(style, group) for style, group in groups],
        [record for style, group in groups[:-1] for record in _problems(style, group)],
        [record for style, group in groups[:-1] for record in _failures(style, group)],
        [record for style, group in groups[:-1] for record in _attempts(style, group)],
        [_agreement(style, group) for style, group in groups if _judged_twice(group)],
        [dataclasses.asdict(row) for row in calls],
    )


def _rates(style: str, group: Sequence[Validated]) -> Record:
    has_text = [item for item in group if item.written.rewrite is not None]
    judged = [item for item in has_text if item.stage_a.passed is not None]
    counts = {
        "asked": len(group),
        "written": len(has_text),
        "unscored": len(group) - len(has_text),
        "first_clean": sum(not item.written.first_problems for item in has_text),
        "clean": sum(not item.written.problems for item in has_text),
        "judged": len(judged),
        "yes": sum(bool(item.stage_a.passed) for item in judged),
        "inconsistent": sum(not item.stage_a.consistent for item in judged),
        "not_applicable": sum(not item.stage_a.applicable for item in has_text),
        "stage_b": sum(item.stage_b is not None and item.stage_b.passed for item in has_text),
        "passed": sum(bool(item.overall_pass) for item in judged),
        "kept": sum(item.kept for item in group),
    }
    counts["no_verdict"] = len(has_text) - len(judged) - counts["not_applicable"]
    return {
        "style": style,
        **counts,
        "first_clean_rate": _rate(counts["first_clean"], len(has_text)),
        "clean_rate": _rate(counts["clean"], len(has_text)),
        "yes_rate": _rate(counts["yes"], len(judged)),
        "stage_b_rate": _rate(counts["stage_b"], len(has_text)),
        "pass_rate": _rate(counts["passed"], len(judged)),
        "attempts": sum(item.written.attempts for item in group),
        "mean_leak_first": _mean(item.written.first_leak for item in has_text),
        "mean_leak": _mean(item.written.leak for item in has_text),
    }


def _problems(style: str, group: Sequence[Validated]) -> list[Record]:
    first = Counter[str](p for item in group for p in item.written.first_problems)
    left = Counter[str](p for item in group for p in item.written.problems)
    return [
        {"style": style, "problem": problem, "first": first[problem], "left": left[problem]}
        for problem in sorted(first.keys() | left.keys())
    ]


def _failures(style: str, group: Sequence[Validated]) -> list[Record]:
    found = Counter[tuple[str, str]]()
    for item in group:
        for status, count in item.written.failures.items():
            found["writing call", status] += count
        if item.written.unscored is not None:
            found["not written", item.written.unscored] += 1
            continue
        for step, verdict in (("judge", item.stage_a), ("second judge", item.second)):
            if verdict is not None and verdict.unscored is not None:
                found[step, verdict.unscored] += 1
    return [
        {"style": style, "step": step, "reason": reason, "count": count}
        for (step, reason), count in sorted(found.items())
    ]


def _attempts(style: str, group: Sequence[Validated]) -> list[Record]:
    found = Counter(item.written.attempts for item in group)
    return [
        {"style": style, "attempts": number, "count": found[number]} for number in sorted(found)
    ]


def _judged_twice(group: Sequence[Validated]) -> bool:
    return any(item.second is not None for item in group)


def _agreement(style: str, group: Sequence[Validated]) -> Record:
    pairs = [(i.stage_a.passed, i.second.passed) for i in group if i.second is not None]
    return {"style": style, **dataclasses.asdict(agreement(pairs))}


def _rate(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
