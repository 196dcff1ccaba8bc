"""Worked examples of replies: what was said and is true, each way's reply, and the verdicts."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.judge.scoring import missing_record
from unbidden.report.replies.tables import ITEM, NOT_RUN, headline

if TYPE_CHECKING:
    from unbidden.queries.build import Query
    from unbidden.report.replies.run import ReplyRun

MOST = 400
"""Characters of a text that are shown."""


class ReplyExamples:
    """One query of each style beside the replies of every way, as escaped HTML.

    Parameters
    ----------
    items : DataFrame
        The verdicts of the run.
    """

    def __init__(self, run: ReplyRun, items: pd.DataFrame) -> None:
        self._run = run
        rows = headline(items)
        self._verdicts = {
            key: group for key, group in rows.groupby([*ITEM, "way"], sort=False)
        }  # fmt: skip
        self.chosen = _chosen(run)

    def _repr_html_(self) -> str:
        none = "<p>None: no query has a reply of every way on record.</p>"
        return "".join(self._example(query) for query in self.chosen) or none

    def __repr__(self) -> str:
        return f"{len(self.chosen)} examples"

    def _example(self, query: Query) -> str:
        talk = self._run.corpus.conversation(query.conversation)
        answers = {question.index: question.answer or "" for question in talk.questions}
        gold = "; ".join(answers[member] for member in query.members)
        replies = [one for one in self._run.answers if one.query == query]
        return "".join(
            [
                '<section class="unbidden-example">',
                f"<p><b>{html.escape(query.id)}</b> · {html.escape(query.style)}",
                f" · {html.escape(query.speaker)}" if query.speaker else "",
                f"</p><blockquote>{html.escape(_clip(query.text))}</blockquote>",
                f"<p>Gold answer: {html.escape(_clip(gold))}</p><ul>",
                *(
                    self._reply(query, way.name, one.text)
                    for way, one in zip(self._run.ways, replies, strict=True)
                ),
                "</ul></section>",
            ]
        )

    def _reply(self, query: Query, way: str, text: str | None) -> str:
        found = self._verdicts.get((query.style, query.id, way))
        labels = [] if found is None else [_said(row) for row in found.to_dict("records")]
        return (
            f"<li><b>{html.escape(way)}</b>: {html.escape(_clip(text or '(no reply)'))}"
            f"<br><small>{html.escape('; '.join(labels) or 'not judged')}</small></li>"
        )


def _said(row: dict[Any, Any]) -> str:
    if pd.notna(row["label"]):
        return f"{row['judge']}: {row['label']}"
    return f"{row['judge']}: {NOT_RUN if missing_record(row['unscored']) else 'unscored'}"


def _chosen(run: ReplyRun) -> list[Query]:
    """Return the first query of each style to which every way has a reply, of different needs."""
    made: dict[tuple[str, str], int] = {}
    for one in run.answers:
        key = (one.query.style, one.query.id)
        made[key] = made.get(key, 0) + (one.text is not None)
    found: dict[str, Query] = {}
    used: set[str] = set()
    for query in run.queries:
        whole = made.get((query.style, query.id)) == len(run.ways)
        if whole and query.style not in found and query.id not in used:
            found[query.style] = query
            used.add(query.id)
    return list(found.values())


def _clip(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= MOST else text[: MOST - 1] + "…"
