"""Real votes on real answers in the chapter on judges: counted now, or shown as recorded."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.corpus import load_corpus
from unbidden.corpus.sources import locate
from unbidden.judge.floors import judge_by_words
from unbidden.judge.votes import KEY_FAULTS, faulty_keys, load_answers, vote_table
from unbidden.report.kept import KeptTables
from unbidden.report.paired import paired_differences
from unbidden.report.tables import points, shown_differences, with_interval

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from unbidden.judge.verdict import Verdict
    from unbidden.judge.votes import Answer
    from unbidden.report.folder import RunFolder

RECORDED = ("audit", "08_judges")
"""Run and chapter under which the counts are recorded."""
TABLES = ("votes", "votes_difference")
JUDGED = ("votes_judges", "votes_judges_difference")
"""Tables of models and floors on a sample of the answers."""
VOTES, WORDS = "three GPT votes", "word rule"
KINDS = {
    "wrong: specific": "wrong, specific",
    "wrong: vague": "wrong, vague",
    "real: gpt-4o-mini": "real, GPT-4o-mini",
    "real: gpt-4.1-mini": "real, GPT-4.1-mini",
}
"""Kinds of answers by source, in the order they are shown."""
ALL_KEYS, SOUND_KEYS = "all", "sound gold answers"


class VotesReport(KeptTables):
    """How often answers are accepted, by the audit's judge and by words.

    Parameters
    ----------
    now : bool
        Whether to count the audit's files, which must be there, and write the tables into
        `folder`; otherwise the recorded tables are shown, or a row that says there are none.
    """

    def __init__(self, folder: RunFolder, *, now: bool, seed: int = 0) -> None:
        super().__init__(folder, RECORDED)
        self.sources: list[dict[str, Any]] = []
        self.answers: list[Answer] = []
        if now:
            self.sources, self.answers, frames = _counted(seed)
            self.add(frames)
        else:
            self.take_recorded((*TABLES, *JUDGED))

    def accepted(self) -> pd.DataFrame | None:
        """Return what the figure draws, or None without tables."""
        frame = self.frames.get("votes")
        return None if frame is None else _whole(frame)

    def numbers(self) -> dict[str, str]:
        """Return what the chapter's text says of the votes; a dash without tables.

        Names: ``votes_KIND`` and ``words_KIND`` with intervals, for ``specific, vague, short,
        long`` (the two models' real answers), ``words_kept_KIND``, what the word rule accepts of
        real answers that all votes accept, and ``words_marks_KIND``, its score of wrong answers if
        a half counts.
        """
        frame = self.frames.get("votes")
        short = dict(zip(KINDS, ("specific", "vague", "short", "long"), strict=True))
        names = [f"{who}_{kind}" for who in ("votes", "words") for kind in short.values()]
        names += ["words_kept_short", "words_kept_long"]
        numbers = dict.fromkeys((*names, "words_marks_specific", "words_marks_vague"), "–")
        if frame is None:
            return numbers
        for row in frame[frame["keys"] == ALL_KEYS].to_dict("records"):
            who, kind = "votes" if row["judge"] == VOTES else "words", short[row["source"]]
            text = with_interval(*(_number(row[name]) for name in ("accepted", "low", "high")))
            if row["group"] == "all":
                numbers[f"{who}_{kind}"] = text
                if who == "words" and row["source"].startswith("wrong"):
                    numbers[f"words_marks_{kind}"] = points(row["accepted"] + row["half"] / 2)
            elif who == "words" and row["group"] == "all votes accept":
                numbers[f"words_kept_{kind}"] = text
        return numbers


def count(
    answers: Sequence[Answer], words: Sequence[Verdict], faulty: Collection[str] = ()
) -> pd.DataFrame:
    """Return `vote_table` of the audit's votes and of the word rule.

    Parameters
    ----------
    words : sequence of Verdict
        The word rule's, in the order of the answers.
    faulty : collection of str
        Ids of questions with a faulty gold answer; with any, the counts without them follow.

    Returns
    -------
    DataFrame
        Columns ``judge, keys`` and those of `vote_table`, and ``split``: the share of answers on
        which the votes differ, missing for the word rule.
    """
    frames = []
    for keys, excluded in ((ALL_KEYS, ()), (SOUND_KEYS, faulty)):
        if keys == SOUND_KEYS and not excluded:
            continue
        kept = [answer for answer in answers if answer.question_id not in excluded]
        split = pd.Series([answer.accepted is None for answer in kept]).groupby(
            [answer.source for answer in kept]
        )
        votes = vote_table(answers, excluded=excluded)
        whole = votes["group"] == "all"
        votes["split"] = votes["source"].map(split.mean()).where(whole)
        rule = vote_table(answers, words, excluded=excluded).assign(split=float("nan"))
        frames += [votes.assign(judge=VOTES, keys=keys), rule.assign(judge=WORDS, keys=keys)]
    found = pd.concat(frames, ignore_index=True)
    return found[["judge", "keys", *(c for c in found.columns if c not in ("judge", "keys"))]]


def differences(
    answers: Sequence[Answer], words: Sequence[Verdict], *, seed: int = 0
) -> pd.DataFrame:
    """Return the word rule's acceptance minus that of the votes, paired by answer, by source."""
    return paired_differences(_pairs(answers, words), seed=seed)


def _pairs(
    answers: Sequence[Answer], words: Sequence[Verdict]
) -> Iterator[tuple[dict[str, str], list[float], list[float], list[str]]]:
    for source in KINDS:
        own = [(a, w) for a, w in zip(answers, words, strict=True) if a.source == source]
        if own:
            votes = [float(sum(a.votes) > len(a.votes) / 2) for a, _ in own]
            rule = [float("nan") if w.score is None else float(w.score == 1) for _, w in own]
            yield {"source": source}, votes, rule, [a.conversation for a, _ in own]


def shown_votes(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the shares of all answers of each kind, as text."""
    rows = _whole(frame)
    return pd.DataFrame(
        {
            "answers": rows["kind"],
            "judge": rows["judge"],
            "n": rows["items"],
            "unscored": rows["unscored"],
            "accepted": _intervals(rows),
            "half": ["–" if judge == VOTES else points(v) for judge, v in _both(rows, "half")],
            "rejected": [points(value) for value in rows["rejected"]],
            "votes differ": [points(value) for value in rows["split"]],
        },
        dtype=object,
    )


def shown_kept(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what the word rule makes of real answers on which all votes agree, as text."""
    rows = frame[(frame["judge"] == WORDS) & (frame["keys"] == ALL_KEYS)]
    rows = rows[rows["group"] != "all"]
    rows = rows.sort_values("source", key=lambda s: s.map(list(KINDS).index), kind="stable")
    return pd.DataFrame(
        {
            "answers": rows["source"].map(KINDS),
            "of them": rows["group"],
            "n": rows["items"],
            "unscored": rows["unscored"],
            "word rule accepts": _intervals(rows),
            "half": [points(value) for value in rows["half"]],
            "rejects": [points(value) for value in rows["rejected"]],
        },
        dtype=object,
    )


def shown_keys(frame: pd.DataFrame) -> pd.DataFrame:
    """Return acceptance over all questions and over those with a sound gold answer, as text."""
    rows = _whole(frame, keys=None)
    records: dict[tuple[str, str], dict[str, str]] = {}
    for row, text in zip(rows.to_dict("records"), _intervals(rows), strict=True):
        key = row["kind"], row["judge"]
        record = records.setdefault(key, {"answers": row["kind"], "judge": row["judge"]})
        record["all questions" if row["keys"] == ALL_KEYS else row["keys"]] = text
    return pd.DataFrame(list(records.values()), dtype=object)


def shown_vote_differences(frame: pd.DataFrame) -> pd.DataFrame:
    """Return `differences` as text."""
    return shown_differences(frame.assign(answers=frame["source"].map(KINDS)), ["answers"])


def _whole(frame: pd.DataFrame, keys: str | None = ALL_KEYS) -> pd.DataFrame:
    """Return the rows over whole sources, by kind in the order they are shown."""
    rows = frame[frame["group"] == "all"]
    if keys is not None:
        rows = rows[rows["keys"] == keys]
    rows = rows.sort_values("source", key=lambda s: s.map(list(KINDS).index), kind="stable")
    return rows.assign(kind=rows["source"].map(KINDS)).reset_index(drop=True)


def _both(rows: pd.DataFrame, column: str) -> Iterator[tuple[Any, Any]]:
    return zip(rows["judge"], rows[column], strict=True)


def _intervals(rows: pd.DataFrame) -> list[str]:
    triples = zip(rows["accepted"], rows["low"], rows["high"], strict=True)
    return [with_interval(*map(_number, triple)) for triple in triples]


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _counted(seed: int) -> tuple[list[dict[str, Any]], list[Answer], dict[str, pd.DataFrame]]:
    corpus, paths = load_corpus("locomo"), locate("locomo-audit")
    folder = paths[0].parent
    answers = load_answers(folder, corpus)
    keys = folder / KEY_FAULTS
    faulty = faulty_keys(folder, corpus) if keys.is_file() else frozenset()
    words = judge_by_words("fact_use", [answer.case for answer in answers])
    files = [*paths, keys] if keys.is_file() else paths
    sources = [
        {"file": p.name, "sha256": hashlib.sha256(p.read_bytes()).hexdigest()} for p in files
    ]
    tables = (count(answers, words, faulty), differences(answers, words, seed=seed))
    return sources, answers, dict(zip(TABLES, tables, strict=True))
