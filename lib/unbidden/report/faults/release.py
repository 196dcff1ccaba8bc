"""Switches measured on the replies released for THEANINE: length, cleaning, forms of the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unbidden.reply.bleu import bleu_counts, bleu_points
from unbidden.reply.bootstrap import paired_bootstrap
from unbidden.reply.length import match_length
from unbidden.reply.rescoring import released, replies_with_gold
from unbidden.report.faults.base import Context, Effect, Fault, from_interval
from unbidden.stats import jackknife

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from unbidden.reply.bootstrap import Difference
    from unbidden.reply.published import ReleasedTurn

_NAMES = {"bleu4": "BLEU-4", "rouge_l": "ROUGE-L"}


def _length(context: Context) -> list[Effect]:
    """Compare THEANINE's lead over memory retrieval as released and at equal length."""
    found = []
    for dataset, turns in _released():
        replies, gold, episodes = replies_with_gold(turns)
        ours, theirs = replies["theanine"], replies["msc-retrieval"]
        gap = _by_metric(paired_bootstrap(theirs, ours, gold, episodes, resamples=1))
        cut = match_length(theirs, ours)
        moved = paired_bootstrap(
            cut,
            theirs,
            gold,
            episodes,
            resamples=context.config.resamples,
            seed=context.config.seed,
        )
        for metric, change in _by_metric(moved).items():
            measure = f"{_NAMES[metric]}, Theanine minus Memory Retrieval"
            before = gap[metric].difference
            found.append(_effect("reply-length", dataset, measure, _LENGTHS, before, change))
    return _longest_first(found)


_LENGTHS = ("as released", "cut to Theanine's length")


def _cleaning(context: Context) -> list[Effect]:
    found = []
    for dataset, turns in _released():
        first, gold, episodes = replies_with_gold(turns, comedy="raw")
        for rule, name in (("last_colon", "after the last colon"), ("first_turn", "first turn")):
            second, _, _ = replies_with_gold(turns, comedy=rule)  # type: ignore[arg-type]
            moved = paired_bootstrap(
                first["comedy"],
                second["comedy"],
                gold,
                episodes,
                resamples=context.config.resamples,
                seed=context.config.seed,
            )
            for metric, change in _by_metric(moved).items():
                settings = ("raw", name)
                measure = f"{_NAMES[metric]} of COMEDY"
                found.append(
                    _effect("comedy-cleaning", dataset, measure, settings, change.first, change)
                )
    return found


def _bleu_form(context: Context) -> list[Effect]:
    """Compare BLEU of the corpus with the mean over replies, on THEANINE's own."""
    found = []
    for dataset, turns in _released():
        replies, gold, episodes = replies_with_gold(turns)
        counts = bleu_counts(replies["theanine"], gold).astype(float)
        single = np.array([float(bleu_points(row)) for row in counts])

        def gap(
            kept: NDArray[np.bool_],
            counts: NDArray[np.float64] = counts,
            single: NDArray[np.float64] = single,
        ) -> float:
            return float(np.nanmean(single[kept]) - bleu_points(counts[kept].sum(axis=0)))

        interval = jackknife(gap, episodes)
        whole = float(bleu_points(counts.sum(axis=0)))
        settings = ("of the corpus", "mean over replies")
        means = (whole, whole + (interval.mean or 0.0))
        measure = "BLEU-4 of Theanine"
        found.append(
            from_interval("bleu-form", dataset, measure, settings, means, interval, unit="points")
        )
    return found


def _released() -> Iterator[tuple[str, list[ReleasedTurn]]]:
    yield from ((str(name), turns) for name, turns in released().items())


def _by_metric(found: list[Difference]) -> dict[str, Difference]:
    return {one.metric: one for one in found}


def _effect(
    fault: str,
    dataset: str,
    measure: str,
    settings: tuple[str, str],
    before: float,
    change: Difference,
) -> Effect:
    """Return an effect of a bootstrapped change."""
    return Effect(
        fault=fault,
        dataset=dataset,
        measure=measure,
        first=settings[0],
        second=settings[1],
        before=before,
        after=before + change.difference,
        difference=change.difference,
        low=change.low,
        high=change.high,
        unit="points",
        n=change.n,
        clusters=change.episodes,
        interval=change.method,
    )


def _longest_first(found: list[Effect]) -> list[Effect]:
    """Return effects with the data set first on which the paper's lead rests."""
    return sorted(found, key=lambda one: one.dataset != "cc")


FAULTS = [
    Fault(
        "reply-length",
        "Length of replies",
        "The compared systems' replies are longer than the gold lines; Theanine's are not.",
        "THEANINE, released outputs",
        "release",
        "06_timelines: released",
        _length,
    ),
    Fault(
        "comedy-cleaning",
        "Cleaning of COMEDY's replies",
        "They hold headings and invented turns; the release cuts at the last colon.",
        "THEANINE, released outputs",
        "release",
        "06_timelines: released",
        _cleaning,
    ),
    Fault(
        "bleu-form",
        "Form of BLEU-4",
        "The paper does not say whether BLEU is of the corpus or a mean over replies.",
        "THEANINE, paper",
        "release",
        "",
        _bleu_form,
    ),
]
