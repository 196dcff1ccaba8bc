"""What the chapter on implicit grounding says in words, from its tables, and its examples."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.grounding.silent import BOTH_ORDERS, ORACLE, TOTAL
from unbidden.judge.floors import WORD_FLOORS
from unbidden.llm.local.models import local_models
from unbidden.report.grounding.tables import ALL
from unbidden.report.replies import trust as replytrust
from unbidden.report.tables import points, with_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.config import GroundingConfig
    from unbidden.corpus.models import Corpus
    from unbidden.llm import LLM
    from unbidden.queries.build import Query

_LEAST = 10
_FURTHER = ("implicit", "pairwise")
"""Rubrics of this chapter beside `rubrics`; the three grades (quality) have no floor."""


def judge_trust(config: GroundingConfig, llm: LLM) -> tuple[pd.DataFrame, str]:
    """Return how far the judges agree with labelled replies, and a sentence on the model.

    The rubrics are those by which this chapter judges and which have a floor by words; nothing is
    asked, see `unbidden.report.replies.trust.trust`.
    """
    names = dict.fromkeys((*config.rubrics, *_FURTHER))
    floored = tuple(name for name in names if name in WORD_FLOORS)
    table = replytrust.trust(config.model_copy(update={"rubrics": floored}), llm)
    return table, replytrust.trust_note(config, table)


def grounding_numbers(
    config: GroundingConfig,
    *,
    decomposition: pd.DataFrame,
    margins: pd.DataFrame,
    facts: pd.DataFrame,
    pool: Sequence[str],
    waiting: pd.DataFrame,
) -> dict[str, str]:
    """Return what the chapter's text cites.

    Parameters
    ----------
    decomposition, margins : DataFrame
        The tables, of the first judge and of all.
    facts : DataFrame
        Fact scores of the first judge on the implicit replies.
    waiting : DataFrame
        Calls not on record, as `still_to_ask`.
    """
    ((_, implicit, scored, silent, share),) = silent_table(facts).itertuples(index=False)
    model = config.answer_model
    size = "a small local model" if model in local_models() else "the answer model"
    return {
        "answer_model": model,
        "judge_model": config.judge_model or model,
        "model_size": size,
        "dataset_name": config.dataset if "/" not in config.dataset else "a data set of your own",
        "implicit": str(implicit),
        "oracle_scored": str(scored),
        "silent": str(silent),
        "silent_share": points(share),
        "pool_note": pool_note(config.pool, len(pool)),
        "top_k": str(config.top_k),
        "neighbours": str(config.neighbours),
        "random_turns": str(config.random_turns),
        "answer_tokens": str(config.answer_tokens),
        "longer_tokens": str(config.longer_tokens),
        "condition_system": config.condition_system,
        "losses_note": losses_note(decomposition, config.condition_system),
        "silent_note": silent_note(margins, len(pool), everything=config.pool == "all"),
        "record_note": record_note(waiting),
    }


def losses_note(table: pd.DataFrame, way: str) -> str:
    """Return a sentence on where the points of one system go, of all styles together."""
    rows = table[(table["way"] == way) & (table["style"] == ALL)] if len(table) else table
    if rows.empty or not int(rows.iloc[0]["n"]):
        return "How the loss divides is not run here."
    row = rows.iloc[0]
    return (
        f"Of 100 points, {int(row['n'])} replies from the memories of {way} get "
        f"{points(row['score'])}; {points(row['retrieval'])} are lost because evidence was not "
        f"found, {points(row['representation'])} although all of it was, and "
        f"{points(row['response'])} even with the gold turns."
    )


def silent_table(facts: pd.DataFrame) -> pd.DataFrame:
    """Return how many replies from the gold turns do not state the fact, as one row.

    Parameters
    ----------
    facts : DataFrame
        Fact scores of one judge on the implicit replies.

    Returns
    -------
    DataFrame
        Columns ``way, implicit, scored, silent, share``; `share` is of the scored replies, missing
        without any.
    """
    values = facts[(facts["way"] == ORACLE) & (facts["metric"] == "fact_use")]["value"]
    scored = values.dropna()
    share = float((scored == 0).mean()) if len(scored) else None
    row = (ORACLE, len(values), len(scored), int((scored == 0).sum()), share)
    return pd.DataFrame([row], columns=["way", "implicit", "scored", "silent", "share"])


def pool_note(kind: str, pool: int) -> str:
    """Return a sentence on the queries the arms are compared on."""
    if kind == "all":
        return (
            f"This run compares the arms on all {pool} queries, whether or not a reply states the "
            "fact (`pool`): that tells what memory does for a reply, and not what it does silently."
        )
    return "On these the arms are compared."


def silent_note(margins: pd.DataFrame, pool: int, *, everything: bool = False) -> str:
    """Return a sentence on silent grounding: the margin of the gold turns in both orders.

    With `everything` the arms were compared on all implicit queries, silent or not.
    """
    rows = margins[
        (margins["counted"] == BOTH_ORDERS)
        & (margins["limits"] == "equal")
        & (margins["part"] == TOTAL)
        & (margins["n"] > 0)
    ]
    if rows.empty:
        return "Whether memory serves a reply that does not state the fact is not run here."
    told = " and ".join(
        f"{with_interval(row['margin'], row['low'], row['high'])} points over "
        f"{str(row['compared']).partition('− ')[2]}"
        for row in rows.to_dict("records")
    )
    few = f" Fewer than {_LEAST} replies decide nothing." if pool < _LEAST else ""
    where = (
        f"On all {pool} implicit queries, whether or not it states the fact, the reply with the "
        "gold turns is"
        if everything
        else f"Where the reply with the gold turns does not state the fact ({pool} replies), it is"
    )
    return f"{where} preferred by a margin of {told}, counting wins in both orders.{few}"


def record_note(waiting: pd.DataFrame) -> str:
    """Return a sentence on how much of the chapter is on record."""
    if waiting.empty:
        return "All calls of this page were made."
    asked, left = int(waiting["calls"].sum()), int(waiting["to_ask"].sum())
    if not left:
        return f"All {asked:,} calls of this page are on record."
    return f"Of at most {asked:,} calls of this page, {left:,} are not on record."


class SilentExamples:
    """Implicit queries with the replies of the arms side by side, as escaped HTML.

    Parameters
    ----------
    queries : sequence of Query
        Those of the run.
    table : DataFrame
        Replies with the column ``way``.
    chosen : sequence of str
        Ids to show; the first `most` that have every reply.
    ways : sequence of str
        Arms, in their order.
    """

    def __init__(
        self,
        corpus: Corpus,
        queries: Sequence[Query],
        table: pd.DataFrame,
        chosen: Sequence[str],
        ways: Sequence[str],
        *,
        most: int = 3,
    ) -> None:
        self._corpus = corpus
        self._queries = {query.id: query for query in queries}
        self._texts: dict[tuple[str, str], Any] = {
            (row["query_id"], row["way"]): row["text"] for row in table.to_dict("records")
        }
        self._ways = list(ways)
        whole = [key for key in chosen if all(self._texts.get((key, way)) for way in self._ways)]
        self.shown = whole[:most]

    def _repr_html_(self) -> str:
        if not self.shown:
            return "<p>Not run: no query has the replies of every arm on record.</p>"
        return "".join(map(self._example, self.shown))

    def __repr__(self) -> str:
        return f"{len(self.shown)} examples"

    def _example(self, key: str) -> str:
        query = self._queries[key]
        talk = self._corpus.conversation(query.conversation)
        gold = "".join(
            f"<li>{html.escape(turn.speaker)}: {html.escape(_clip(turn.text))}</li>"
            for turn in talk.turns
            if turn.id in query.gold
        )
        replies = "".join(
            f"<li><b>{html.escape(way)}</b>: {html.escape(_clip(str(self._texts[key, way])))}</li>"
            for way in self._ways
        )
        return (
            '<section class="unbidden-example">'
            f"<p><b>{html.escape(query.id)}</b></p>"
            f"<blockquote>{html.escape(query.text)}</blockquote>"
            f"<p>Gold:</p><ul>{gold}</ul><p>Replies:</p><ul>{replies}</ul></section>"
        )


def _clip(text: str, limit: int = 320) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def first_rows(table: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Return the rows to show: one judge in every style, the others over all styles.

    Where nothing was run the rows over all styles are enough to say so.
    """
    if table.empty:
        return table
    overall = table["style"] == ALL
    ran = bool((table["n"] > 0).any())
    return table[overall | ((table["judge"] == judge) & ran)]
