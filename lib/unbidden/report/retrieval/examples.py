"""Worked examples: what was said, what should come to mind, what did."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from unbidden.corpus.models import Corpus
    from unbidden.queries.build import Query
    from unbidden.retrieval.run import Rankings


class Examples:
    """Queries beside their gold turns and each system's first memories, as escaped HTML."""

    def __init__(
        self, corpus: Corpus, rankings: Sequence[Rankings], chosen: Sequence[int], *, shown: int = 3
    ) -> None:
        self._corpus, self._rankings, self._chosen = corpus, rankings, chosen
        self._shown = shown

    def _repr_html_(self) -> str:
        return "".join(self._example(index) for index in self._chosen) or "<p>None.</p>"

    def __repr__(self) -> str:
        return f"{len(self._chosen)} examples"

    def _example(self, index: int) -> str:
        query = self._rankings[0].queries[index]
        conversation = self._corpus.conversation(query.conversation)
        gold = [turn for turn in conversation.turns if turn.id in query.gold]
        asked = [r for r in self._rankings if query.conversation not in r.refused]
        absent = [r.system for r in self._rankings if query.conversation in r.refused]
        parts = [
            '<section class="unbidden-example">',
            f"<p><b>{html.escape(query.id)}</b> · {query.style}",
            f" · {html.escape(query.speaker)}" if query.speaker else "",
            f"</p><blockquote>{html.escape(query.text)}</blockquote><p>Gold:</p><ul>",
            *(
                f"<li><b>{html.escape(turn.id)}</b> {html.escape(turn.speaker)}: "
                f"{html.escape(_clip(turn.text))}</li>"
                for turn in gold
            ),
            "</ul>",
            *(self._returned(ranking, index, query) for ranking in asked),
            f"<p>Not scored here: {html.escape(', '.join(absent))}</p>" if absent else "",
            "</section>",
        ]
        return "".join(parts)

    def _returned(self, ranking: Rankings, index: int, query: Query) -> str:
        hits = ranking.hits[index]
        found = next(
            (rank for rank, hit in enumerate(hits, 1) if set(hit.sources) & query.gold), None
        )
        where = f"first gold turn at rank {found}" if found else f"no gold turn in {len(hits)}"
        listed = "".join(
            f"<li>{mark}{html.escape(_clip(hit.text))}</li>"
            for hit in hits[: self._shown]
            for mark in ("✓ " if set(hit.sources) & query.gold else "",)
        )
        return f"<p>{html.escape(ranking.system)}: {where}</p><ol>{listed}</ol>"


class Notes:
    """What a reader should know about the runs behind the numbers, as an escaped list."""

    def __init__(self, rankings: Sequence[Rankings]) -> None:
        self.lines = [f"{ranking.system}: {note}" for ranking in rankings for note in ranking.notes]

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(line)}</li>" for line in self.lines)
        return f"<ul>{items}</ul>" if items else "<p>Nothing to note.</p>"

    def __repr__(self) -> str:
        return "\n".join(self.lines) or "Nothing to note."


def _clip(text: str, limit: int = 220) -> str:
    text = " ".join(text.split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def missed_queries(
    items: pd.DataFrame, queries: Sequence[Query], *, style: str, k: int, most: int
) -> list[int]:
    """Return positions of queries whose plain question every system answers and none of them here.

    One per conversation first, so that no conversation fills the list; in the corpus's order.
    """
    rows = items[(items["metric"] == "recall") & (items["k"] == k)]
    grouped = rows.groupby(["style", "query_id"])["value"]
    worst, best = grouped.min().to_dict(), grouped.max().to_dict()
    chosen: list[int] = []
    seen: set[str] = set()
    for i, query in enumerate(queries):
        if query.style != style or not query.gold or query.conversation in seen:
            continue
        if query.category == 5:
            continue
        if worst.get(("question", query.id)) == 1 and best.get((style, query.id)) == 0:
            chosen.append(i)
            seen.add(query.conversation)
    return chosen[:most]
