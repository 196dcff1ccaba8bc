"""Judging a table of replies: cases from ids, gold answers from the corpus, verdicts as items.

Nothing here makes a reply or searches a memory, so stored replies are judged again by calls of the
judge alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd

from unbidden.errors import DataError
from unbidden.judge.asking import judge
from unbidden.judge.case import Case, GoldFact
from unbidden.judge.registry import rubric as named_rubric
from unbidden.judge.registry import rubrics_for
from unbidden.judge.verdict import Verdict
from unbidden.queries.build import build_queries
from unbidden.reply.material import Shown, places
from unbidden.reply.render import line
from unbidden.reply.rules import REPAIRED
from unbidden.retrieval.score import ITEM_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import Conversation, Corpus
    from unbidden.judge.rubric import Form, ProtocolName
    from unbidden.llm.base import LLM
    from unbidden.queries.build import Query

Reference = Literal["own", "gold"]
NO_REPLY = "no reply"
"""How the reason of a reply that was never made begins."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A row of the table with its case; the case is None where there is no reply."""

    position: int
    case: Case | None
    unscored: str | None


def cases(
    corpus: Corpus,
    table: pd.DataFrame,
    *,
    reference: Reference = "own",
    evidence: EvidencePolicy = "paper",
) -> list[Judged]:
    """Return the case of each row of a table of replies, in order.

    Parameters
    ----------
    reference : {"own", "gold"}
        The memories of a case: those the replying model was shown, or the gold turns, the same for
        every condition.
    evidence : {"paper", "repaired"}
        How the gold turns are read, as it was for the oracle.

    Raises
    ------
    DataError
        If a reply belongs to no query of the corpus.
    """
    queries = {(query.style, query.id): query for query in build_queries(corpus, evidence=evidence)}
    talks = {str(talk.id): talk for talk in corpus.conversations}
    rows = _rows(table)
    found = []
    for position, row in enumerate(rows):
        query = queries.get((row["style"], row["query_id"]))
        if query is None:
            raise DataError(
                "a reply belongs to no query of the corpus",
                expected=f"a query of {corpus.name}",
                got=f"{row['query_id']} ({row['style']})",
                next_step="load the corpus the replies were made for",
            )
        if row["text"] is None:
            found.append(Judged(position, None, f"{NO_REPLY}: {row['unscored']}"))
            continue
        found.append(
            Judged(position, _case(row, query, talks[query.conversation], reference), None)
        )
    return found


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _case(row: dict[str, Any], query: Query, talk: Conversation, reference: Reference) -> Case:
    by_index = {question.index: question for question in talk.questions}
    members = [by_index[index] for index in query.members]
    key = ("style", "query_id", "system", "condition", "k", "repeat", "model")
    return Case(
        id="|".join(str(row[name]) for name in key),
        conversation=query.conversation,
        speaker=query.speaker or "",
        message=query.text,
        reply=row["text"],
        facts=tuple(GoldFact(question.text, question.answer or "") for question in members),
        memories=tuple(row["memories"]) if reference == "own" else _gold(query, talk),
        trap=members[0].trap if len(members) == 1 else None,
    )


def _gold(query: Query, talk: Conversation) -> tuple[str, ...]:
    found = places(talk)
    return tuple(line(Shown.of_turn(t), found, REPAIRED) for t in found if t in query.gold)


def judge_replies(
    llm: LLM,
    corpus: Corpus,
    table: pd.DataFrame,
    *,
    rubrics: Sequence[str] | None = None,
    protocol: ProtocolName = "repaired",
    form: Form = "json",
    repeat: int = 0,
    evidence: EvidencePolicy = "paper",
) -> pd.DataFrame:
    """Return the verdicts on a table of replies as items, one row a reply and rubric.

    Memories, where a rubric looks at them, are those the condition showed; but faithfulness (rubric
    ``quality``) under the protocol "repaired" is judged against the gold turns for every condition.

    Parameters
    ----------
    rubrics : sequence of str, optional
        By default those of a reply's style and category that need no second reply; a named one is
        asked of the replies it is for.
    evidence : {"paper", "repaired"}
        See `cases`.

    Returns
    -------
    DataFrame
        Columns `ITEM_COLUMNS` and ``repeat, model, label, notes``; `metric` is the rubric, `notes`
        what the judge's guards found in the reply.

    Raises
    ------
    ConfigError, DataError, LLMError, BudgetExceeded
        As `rubric`, `cases` and `judge`.
    """

    def decide(name: str, cases: list[Case]) -> list[Verdict]:
        return judge(llm, named_rubric(name), cases, protocol=protocol, form=form, repeat=repeat)

    return verdict_items(
        corpus, table, decide, rubrics=rubrics, protocol=protocol, evidence=evidence
    )


def verdict_items(
    corpus: Corpus,
    table: pd.DataFrame,
    decide: Callable[[str, list[Case]], list[Verdict]],
    *,
    rubrics: Sequence[str] | None = None,
    protocol: ProtocolName = "repaired",
    evidence: EvidencePolicy = "paper",
) -> pd.DataFrame:
    """Return the verdicts of anything that decides on cases, as `judge_replies` has them.

    Parameters
    ----------
    decide : callable
        Takes the name of a rubric and cases, and returns a verdict for each.
    """
    rows = _rows(table)
    wanted = _wanted(rows, rubrics)
    items: list[dict[str, Any]] = []
    for name in rubrics or wanted:
        positions = wanted.get(name, [])
        reference: Reference = "gold" if (name, protocol) == ("quality", "repaired") else "own"
        judged = cases(corpus, table.iloc[positions], reference=reference, evidence=evidence)
        verdicts = iter(decide(name, [one.case for one in judged if one.case is not None]))
        for position, one in zip(positions, judged, strict=True):
            verdict = next(verdicts) if one.case else Verdict.none(one.unscored or NO_REPLY)
            items.append(_item(rows[position], name, verdict))
    frame = pd.DataFrame(items, columns=[*ITEM_COLUMNS, "repeat", "model", "label", "notes"])
    return frame.astype({"category": "Int8", "k": "Int64", "value": "float64"})


def _wanted(rows: Sequence[dict[str, Any]], rubrics: Sequence[str] | None) -> dict[str, list[int]]:
    """Return the positions of the replies each rubric is for."""
    wanted: dict[str, list[int]] = {}
    for position, row in enumerate(rows):
        category = None if pd.isna(row["category"]) else int(row["category"])
        for name in rubrics_for(row["style"], category):
            if name != "pairwise" and (rubrics is None or name in rubrics):
                wanted.setdefault(name, []).append(position)
    return wanted


def _item(row: dict[str, Any], metric: str, verdict: Verdict) -> dict[str, Any]:
    head = {name: row[name] for name in ITEM_COLUMNS if name in row and name != "unscored"}
    return {
        **head,
        "metric": metric,
        "value": verdict.score,
        "unscored": verdict.unscored,
        "repeat": row["repeat"],
        "model": row["model"],
        "label": verdict.label,
        "notes": verdict.noted_text,
    }


def pair_cases(
    corpus: Corpus,
    first: pd.DataFrame,
    second: pd.DataFrame,
    *,
    evidence: EvidencePolicy = "paper",
) -> list[tuple[Case | None, str | None]]:
    """Return the cases that compare two tables of replies, against the gold turns.

    Replies are paired by style and query, in the order of the first table.

    Returns
    -------
    list of (Case or None, str or None)
        The case, or why there is none: a reply is missing.

    Raises
    ------
    DataError
        If a table has a query twice, or a reply belongs to no query of the corpus.
    """
    others = {(row["style"], row["query_id"]): row for row in _rows(second)}
    keys = list(zip(first["style"], first["query_id"], strict=True))
    if len(others) < len(second) or len(set(keys)) < len(keys):
        raise DataError(
            "replies cannot be paired",
            expected="one reply a query in each table",
            got="a query with several",
            next_step="choose one system, condition and repeat of each table",
        )
    gold = cases(corpus, first, reference="gold", evidence=evidence)
    pairs: list[tuple[Case | None, str | None]] = []
    for key, one in zip(keys, gold, strict=True):
        other = others.get(key)
        if one.case is None:
            pairs.append((None, one.unscored))
        elif other is None or other["text"] is None:
            reason = other["unscored"] if other else "not in the second table"
            pairs.append((None, f"{NO_REPLY}: {reason}"))
        else:
            pairs.append((replace(one.case, other=other["text"]), None))
    return pairs
