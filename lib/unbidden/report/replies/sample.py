"""Which queries the chapter on replies asks, by the rubrics it is to be judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.corpus.models import STYLES
from unbidden.errors import ConfigError
from unbidden.judge.registry import rubrics_for
from unbidden.queries.build import build_queries
from unbidden.queries.sampling import adversarial_sample, balanced_sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.config import RepliesConfig
    from unbidden.corpus.models import Corpus
    from unbidden.queries.build import Query

HALLUCINATION = rubrics_for("question", 5)
"""The rubrics of category 5, where 1 is bad."""


def sampled(config: RepliesConfig, corpus: Corpus) -> list[Query]:
    """Return the queries of the run: those of category 5 last, and only if a rubric is for them.

    Raises
    ------
    ConfigError
        As `balanced_sample` and `check_rubrics`.
    """
    queries = build_queries(
        corpus, styles=config.styles, evidence=config.evidence, limit=config.limit
    )
    found: list[Query] = []
    if set(config.rubrics) - set(HALLUCINATION):
        found += balanced_sample(queries, per_style=config.queries_per_style, seed=config.seed)
    if set(config.rubrics) & set(HALLUCINATION):
        found += adversarial_sample(queries, per_style=config.queries_per_style, seed=config.seed)
    check_rubrics(config.rubrics, found)
    return found


def check_rubrics(rubrics: Sequence[str], queries: Sequence[Query]) -> None:
    """Refuse rubrics by which nothing of a run would be shown.

    A rubric of a style that is not asked does no harm beside others.

    Raises
    ------
    ConfigError
        If no rubric gives a score that tables show, or one is for no style and no query of the run.
    """
    fitting = [rubrics_for(query.style, query.category) for query in queries]
    shown = {name for own in fitting for name in (own if own == HALLUCINATION else own[:1])}
    usual = {name for style in STYLES for name in rubrics_for(style)}
    alien = [name for name in rubrics if name not in usual | {n for own in fitting for n in own}]
    if alien or not shown & set(rubrics):
        raise ConfigError(
            "`rubrics` are for no query of this run",
            expected=f"some of {', '.join(sorted(shown)) or 'none: this run has no query'}",
            got=", ".join(alien or rubrics) or "none",
            next_step="correct `rubrics`, or ask `styles` and a data set that they are for",
        )
