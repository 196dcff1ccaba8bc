"""The grid of query rewritings: kind, what the rewriter is told, parser, with the message or not.

One set of calls serves every row that reads the same prompt, so the grid costs a call for each
query and each of `call_sets`, not for each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.errors import DataError, NotRecorded
from unbidden.queries.facets import rewrite_for_search
from unbidden.retrieval.rewritten import DEPTH, retrieve_rewritten
from unbidden.retrieval.run import Rules, retrieve
from unbidden.retrieval.score import ITEM_COLUMNS, score_rankings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.llm.base import LLM
    from unbidden.queries.build import Query
    from unbidden.queries.facets import ProtocolName, RewriteKind, SearchTexts, Told
    from unbidden.retrieval.rewritten import FusionKey

AS_WRITTEN = "as written"
METRICS = ("recall", "mrr")
"""Recall at K, and the reciprocal rank of the first gold turn, which sees changes inside K."""
CallSet = tuple["RewriteKind", "ProtocolName", "Told"]


@dataclass(frozen=True, slots=True)
class Rewriting:
    """One row of the grid.

    Attributes
    ----------
    kind, protocol, told, parser
        See `unbidden.queries.facets.rewrite_for_search`.
    original : bool
        Whether the message itself is fused too; the paper does not.
    key : {"id", "text"}
        By what rankings are fused; the paper fuses by text.
    """

    name: str
    kind: RewriteKind
    protocol: ProtocolName
    parser: ProtocolName
    told: Told = "both"
    original: bool = False
    key: FusionKey = "id"

    @property
    def calls(self) -> CallSet:
        """What the calls depend on."""
        return self.kind, self.protocol, self.told


GRID: tuple[Rewriting, ...] = (
    Rewriting("convergent, paper", "convergent", "paper", "paper"),
    Rewriting("convergent, repaired", "convergent", "repaired", "repaired"),
    Rewriting("convergent, repaired + message", "convergent", "repaired", "repaired", "both", True),
    Rewriting("facets, paper", "facets", "paper", "paper", key="text"),
    Rewriting("facets, paper, fused by id", "facets", "paper", "paper"),
    Rewriting("facets, paper, repaired parser", "facets", "paper", "repaired"),
    Rewriting("facets, paper + message", "facets", "paper", "paper", original=True),
    Rewriting("facets, repaired", "facets", "repaired", "repaired"),
    Rewriting("facets, repaired + message", "facets", "repaired", "repaired", original=True),
    Rewriting("facets, repaired, speaker only", "facets", "repaired", "repaired", "speaker"),
    Rewriting("facets, repaired, date only", "facets", "repaired", "repaired", "date"),
)
"""The paper's two forms first of their kind; the names stand in the tables."""


@dataclass(frozen=True, slots=True)
class RewriteRun:
    """What the grid brought.

    Attributes
    ----------
    texts : mapping of str to list of SearchTexts
        By row, for the queries in order; a row whose calls are not on record is missing.
    items : DataFrame
        Recall and MRR, in the columns of the items table; `condition` is the row, or `AS_WRITTEN`.
    unrecorded : tuple of str
        Rows that were not run.
    """

    texts: dict[str, list[SearchTexts]]
    items: pd.DataFrame
    unrecorded: tuple[str, ...]


def rewrite_grid(
    llm: LLM,
    corpus: Corpus,
    queries: Sequence[Query],
    systems: Sequence[str],
    *,
    k: int,
    depth: int = DEPTH,
    grid: Sequence[Rewriting] = GRID,
    **options: Any,
) -> RewriteRun:
    """Return recall at `k` under every row of the grid and as written.

    Parameters
    ----------
    queries : sequence of Query
        Grouped by conversation, as `unbidden.queries.sampling.sample_queries` returns them.
    **options
        Of `unbidden.retrieval.run.retrieve` and, through it, of the systems.

    Raises
    ------
    BudgetExceeded, LLMError
        As `LLM.ask_many`; a call that is not on record leaves its rows out instead.
    """
    rules = Rules(unrecorded="unscored")
    shared = {"rules": rules, "llm": llm, **options}
    plain = retrieve(corpus, queries, systems, depth=depth, **shared)
    frames = [score_rankings(corpus.name, plain, ks=[k], condition=AS_WRITTEN)]
    texts, unrecorded = _texts(llm, corpus, queries, grid)
    for row in grid:
        if row.name not in texts:
            continue
        try:
            found = retrieve_rewritten(
                corpus,
                texts[row.name],
                systems,
                depth=depth,
                key=row.key,
                original=row.original,
                **shared,
            )
        except DataError:
            # No call of this row has an answer: every query is unscored, which its table counts.
            unrecorded.append(row.name)
            continue
        frames.append(score_rankings(corpus.name, found, ks=[k], condition=row.name))
    items = pd.concat(frames, ignore_index=True)
    kept = items[items["metric"].isin(METRICS)].reset_index(drop=True)[ITEM_COLUMNS]
    return RewriteRun(texts, kept, tuple(unrecorded))


def call_sets(grid: Sequence[Rewriting] = GRID) -> list[CallSet]:
    """Return the distinct sets of calls of a grid, in order."""
    return list(dict.fromkeys(row.calls for row in grid))


def _texts(
    llm: LLM, corpus: Corpus, queries: Sequence[Query], grid: Sequence[Rewriting]
) -> tuple[dict[str, list[SearchTexts]], list[str]]:
    texts: dict[str, list[SearchTexts]] = {}
    unrecorded = []
    for row in grid:
        try:
            texts[row.name] = rewrite_for_search(
                llm,
                corpus,
                queries,
                row.kind,
                protocol=row.protocol,
                parser=row.parser,
                told=row.told,
            )
        except NotRecorded:
            unrecorded.append(row.name)
    return texts, unrecorded
