"""Models and floors as judges of real answers, and of answers that are known to be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.errors import NotRecorded
from unbidden.judge import rubric
from unbidden.judge.asking import judge
from unbidden.judge.floors import judge_by_words
from unbidden.judge.similarity import judge_by_similarity
from unbidden.judge.votes import subset, vote_table
from unbidden.llm.client import Client
from unbidden.memory.embed import embedder
from unbidden.report.judges.votes import JUDGED, KINDS, VOTES, WORDS
from unbidden.report.paired import paired_differences
from unbidden.report.tables import points, shown_differences, with_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from unbidden.config import JudgesConfig
    from unbidden.judge.verdict import Verdict
    from unbidden.judge.votes import Answer
    from unbidden.llm.base import LLM

SIMILARITY = "similarity"
FLOORS = (WORDS, SIMILARITY)
Verdicts = dict[str, "list[Verdict] | None"]


def judged_answers(
    answers: Sequence[Answer], llm: LLM, config: JudgesConfig
) -> tuple[list[Answer], Verdicts]:
    """Return a sample of the audit's answers, and what each judge makes of them.

    The judges are the audit's votes (None), both floors, the model in each form under the first
    protocol, and what is on record of further models. A way of asking a model of which a call is
    not on record is left out.

    Raises
    ------
    LLMError, BudgetExceeded
        As `unbidden.judge.asking.judge`.
    """
    drawn = subset(answers, config.audit_per_kind, seed=config.seed)
    cases = [answer.case for answer in drawn]
    found: Verdicts = {VOTES: None, WORDS: judge_by_words("fact_use", cases)}
    if config.similarity:
        found[SIMILARITY] = judge_by_similarity("fact_use", cases, embedder(config.embedder))
    models = {config.judge_model: llm}
    if isinstance(llm, Client):
        models |= {name: llm.replaying_judge(name) for name in config.also_judges}
    for name, model in models.items():
        for form in config.forms:
            try:
                found[f"{name}, {form}"] = judge(
                    model, rubric("fact_use"), cases, protocol=config.protocols[0], form=form
                )
            except NotRecorded:
                continue
    return drawn, found


def acceptance(drawn: Sequence[Answer], found: Verdicts) -> pd.DataFrame:
    """Return `unbidden.judge.votes.vote_table` of each judge, with a column ``judge``."""
    tables = [vote_table(drawn, verdicts).assign(judge=name) for name, verdicts in found.items()]
    table = pd.concat(tables, ignore_index=True)
    return table[["judge", *table.columns.drop("judge")]]


def against_votes(drawn: Sequence[Answer], found: Verdicts, *, seed: int = 0) -> pd.DataFrame:
    """Return each judge's acceptance minus that of the votes, paired by answer, by source."""
    return paired_differences(_pairs(drawn, found), seed=seed)


def _pairs(
    drawn: Sequence[Answer], found: Verdicts
) -> Iterator[tuple[Mapping[str, Any], list[float], list[float], list[str]]]:
    for source in KINDS:
        places = [i for i, answer in enumerate(drawn) if answer.source == source]
        votes = [float(sum(drawn[i].votes) > len(drawn[i].votes) / 2) for i in places]
        homes = [drawn[i].conversation for i in places]
        for name, verdicts in found.items():
            if verdicts is None or not places:
                continue
            scores = [verdicts[i].score for i in places]
            own = [float("nan") if score is None else float(score == 1) for score in scores]
            yield {"source": source, "judge": name}, votes, own, homes


def shown_acceptance(table: pd.DataFrame) -> pd.DataFrame:
    """Return `acceptance` as a grid: judges by kind of answer, with unscored answers.

    *Kept* is what a judge accepts of the real answers that all votes accept; one less that is its
    false-reject rate as far as the votes can be trusted.
    """
    rows = []
    for judge_name, own in table.groupby("judge", sort=False):
        whole = own[own["group"] == "all"]
        row: dict[str, Any] = {"judge": judge_name}
        for source, kind in KINDS.items():
            row[kind] = _cell(whole[whole["source"] == source])
        for source, kind in KINDS.items():
            if not source.startswith("wrong"):
                kept = own[(own["source"] == source) & (own["group"] == "all votes accept")]
                row[f"kept: {kind}"] = _cell(kept)
        row["unscored"] = int(whole["unscored"].sum())
        rows.append(row)
    return pd.DataFrame(rows, dtype=object)


def _cell(rows: pd.DataFrame) -> str:
    values = [rows[name].iloc[0] if len(rows) else None for name in ("accepted", "low", "high")]
    return with_interval(*(None if pd.isna(value) else float(value) for value in values))


def shown_against_votes(table: pd.DataFrame) -> pd.DataFrame:
    """Return `against_votes` as text."""
    return shown_differences(table.assign(answers=table["source"].map(KINDS)), ["answers", "judge"])


def model_note(table: pd.DataFrame | None) -> str:
    """Return what the text says of the models' verdicts on wrong answers.

    Parameters
    ----------
    table : DataFrame or None
        From `acceptance`.
    """
    if table is None:
        return "No model of ours was asked about them here."
    whole = table[(table["group"] == "all") & table["source"].str.startswith("wrong")]
    models = [name for name in dict.fromkeys(whole["judge"]) if name not in (*FLOORS, VOTES)]
    if not models:
        return "No model of ours was asked about them here."
    parts = []
    for name in models:
        own = whole[(whole["judge"] == name) & whole["accepted"].notna()]
        by_source = dict(zip(own["source"], own["accepted"], strict=True))
        shares = [
            f"{points(by_source[source])} % ({kind})"
            for source, kind in KINDS.items()
            if source in by_source
        ]
        parts.append(f"{name} accepts {' and '.join(shares) or 'none that it scored'}")
    return f"Of the wrong answers {'; '.join(parts)}."


def judged_tables(
    answers: Sequence[Answer], llm: LLM, config: JudgesConfig
) -> dict[str, pd.DataFrame]:
    """Return `acceptance` and `against_votes` of `judged_answers`, by name of their table."""
    drawn, found = judged_answers(answers, llm, config)
    tables = acceptance(drawn, found), against_votes(drawn, found, seed=config.seed)
    return dict(zip(JUDGED, tables, strict=True))


def audit_numbers(frames: Mapping[str, pd.DataFrame]) -> dict[str, str]:
    """Return what the text says of `judged_tables`, counted now or recorded."""
    table = frames.get(JUDGED[0])
    whole = None if table is None else table[table["group"] == "all"]
    return {
        "audit_per_kind": "No part" if whole is None else f"{int(whole['items'].max()):,}",
        "audit_note": model_note(table),
    }
