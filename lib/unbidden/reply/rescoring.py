"""THEANINE's released replies scored anew: plain, cut to one length, and compared in pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.reply.bootstrap import RESAMPLES, paired_bootstrap
from unbidden.reply.cleaning import RULES, Rule, clean
from unbidden.reply.length import CUTS, match_length
from unbidden.reply.metrics import score_replies
from unbidden.reply.published import DATASETS, SYSTEMS, Dataset, ReleasedTurn, released_turns

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.reply.metrics import ReplyScores

COMEDY_RULE: Rule = "last_colon"
"""The rule of the release's own transformed file, and the nearest to the paper's numbers."""

Released = dict[Dataset, list[ReleasedTurn]]


def released(datasets: Sequence[Dataset] = DATASETS) -> Released:
    """Return the released turns of each data set; pass it to the functions below."""
    return {dataset: released_turns(dataset) for dataset in datasets}


def replies_with_gold(
    turns: Sequence[ReleasedTurn], *, comedy: Rule = COMEDY_RULE
) -> tuple[dict[str, list[str]], list[str], list[int]]:
    """Return each system's replies, the gold texts and the episodes of the turns that have gold.

    Parameters
    ----------
    comedy : {"raw", "last_colon", "first_turn"}
        How COMEDY's replies are cleaned; the other systems' are taken as released. (Fourteen of
        theirs begin with a speaker's name, which moves a score by 0.01 points at most.)
    """
    names = _speakers(turns)
    scored = [(turn, turn.gold) for turn in turns if turn.gold is not None]
    replies = {
        system: [
            clean(
                turn.replies[system], comedy if system == "comedy" else "raw", names[turn.episode]
            )
            for turn, _ in scored
        ]
        for system in SYSTEMS
    }
    return replies, [gold for _, gold in scored], [turn.episode for turn, _ in scored]


def _speakers(turns: Sequence[ReleasedTurn]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = {}
    for turn in turns:
        names = {line.partition(":")[0].strip() for line in turn.dialogue}
        found.setdefault(turn.episode, set()).update(names)
    return found


def rescore(turns: Released, *, comedy: Rule = COMEDY_RULE) -> pd.DataFrame:
    """Return the scores of every system on every data set, and their means over data sets.

    THEANINE's tables are unweighted means of the data sets, so the rows "mean" are too.

    Returns
    -------
    DataFrame
        Columns ``dataset, system, n, bleu4, rouge_l, words``; scores in points. The system "gold"
        has its length only. ``attrs["signature"]`` is the account of the metrics' settings.
    """
    records, signature = [], ""
    for dataset, items in turns.items():
        replies, gold, _ = replies_with_gold(items, comedy=comedy)
        for system in SYSTEMS:
            scores = score_replies(replies[system], gold)
            signature = scores.signature
            records.append(_record({"dataset": dataset, "system": system}, scores))
        words = scores.gold_words
        records.append({"dataset": dataset, "system": "gold", "n": len(gold), "words": words})
    frame = pd.DataFrame(records)
    if len(turns) > 1:
        grouped = frame.groupby("system", sort=False)
        means = grouped[["bleu4", "rouge_l", "words"]].mean().assign(n=grouped["n"].sum())
        frame = pd.concat([frame, means.reset_index().assign(dataset="mean")], ignore_index=True)
    frame = frame[["dataset", "system", "n", "bleu4", "rouge_l", "words"]]
    frame.attrs["signature"] = signature
    return frame


def _record(keys: Mapping[str, str], scores: ReplyScores) -> dict[str, object]:
    return {
        **keys,
        "n": scores.n,
        "bleu4": scores.bleu4,
        "rouge_l": scores.rouge_l,
        "words": scores.words,
    }


def comedy_by_rule(turns: Released) -> pd.DataFrame:
    """Return COMEDY's scores under each cleaning rule, as `rescore` gives them, by ``rule``."""
    frames = [
        rescore(turns, comedy=rule).query("system == 'comedy'").assign(rule=rule) for rule in RULES
    ]
    return pd.concat(frames, ignore_index=True)


def length_matched(turns: Released, *, reference: str = "theanine") -> pd.DataFrame:
    """Return scores of every system, as released and cut to the length of one of them.

    Returns
    -------
    DataFrame
        Columns ``dataset, system, reference, cut, n, bleu4, rouge_l, words``; `cut` is "none",
        "words" or "sentences".
    """
    records = []
    for dataset, items in turns.items():
        replies, gold, _ = replies_with_gold(items)
        for system in SYSTEMS:
            forms = {"none": replies[system]} | {
                cut: match_length(replies[system], replies[reference], cut=cut)
                for cut in CUTS
                if system != reference
            }
            for cut, texts in forms.items():
                keys = {"dataset": dataset, "system": system, "reference": reference, "cut": cut}
                records.append(_record(keys, score_replies(texts, gold)))
    return pd.DataFrame(records)


def compare_released(
    turns: Released,
    *,
    second: str = "theanine",
    against: Sequence[str] = SYSTEMS,
    cut: bool = False,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> pd.DataFrame:
    """Return one system minus each other, with intervals from resampling whole episodes.

    Parameters
    ----------
    against : sequence of str
        The others.
    cut : bool
        Whether the others' replies are first cut to the word count of `second`'s.

    Returns
    -------
    DataFrame
        Columns ``dataset, first, second, metric, difference, low, high, n, episodes, differs``.
    """
    records = []
    for dataset, items in turns.items():
        replies, gold, episodes = replies_with_gold(items)
        for first in against:
            if first == second:
                continue
            theirs = match_length(replies[first], replies[second]) if cut else replies[first]
            for found in paired_bootstrap(
                theirs, replies[second], gold, episodes, resamples=resamples, seed=seed
            ):
                records.append(
                    {
                        "dataset": dataset,
                        "first": first,
                        "second": second,
                        "metric": found.metric,
                        "difference": found.difference,
                        "low": found.low,
                        "high": found.high,
                        "n": found.n,
                        "episodes": found.episodes,
                        "differs": found.differs,
                    }
                )
    return pd.DataFrame(records)
