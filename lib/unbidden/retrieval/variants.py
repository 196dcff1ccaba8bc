"""One system in several variants over the same queries: the items behind a table of ablations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.errors import ConfigError
from unbidden.retrieval.run import STRICT, Rules, retrieve
from unbidden.retrieval.score import score_rankings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.queries.build import Query
    from unbidden.retrieval.run import Rankings


def retrieve_variants(
    corpus: Corpus,
    queries: Sequence[Query],
    system: str,
    variants: Mapping[str, Mapping[str, object]],
    *,
    depth: int,
    rules: Rules = STRICT,
    **options: object,
) -> dict[str, Rankings]:
    """Return the rankings of a system for each variant, by the variant's name.

    Parameters
    ----------
    variants : mapping of str to mapping
        Options of the system for each variant, such as `unbidden.memory.cued.ABLATIONS`.
    **options
        Of `unbidden.retrieval.run.retrieve` and, through it, of the system in every variant.

    Raises
    ------
    ConfigError
        If there is no variant, or one has an option the system lacks.
    """
    if not variants:
        raise ConfigError(
            "there is no variant to run",
            expected="options by name, such as unbidden.memory.cued.ABLATIONS",
            got="none",
            next_step="name at least one variant",
        )
    return {
        name: retrieve(
            corpus,
            queries,
            [system],
            depth=depth,
            rules=rules,
            per_system={system: own},
            **options,
        )[0]
        for name, own in variants.items()
    }


def variant_items(
    dataset: str,
    variants: Mapping[str, Rankings],
    *,
    ks: Sequence[int],
    token_budgets: Sequence[int] = (),
) -> pd.DataFrame:
    """Return the study's items of all variants; the column `condition` holds the variant's name.

    Rankings of other systems may be among them under names of their own, to be compared with.
    """
    frames = [
        score_rankings(dataset, [ranking], ks=ks, token_budgets=token_budgets, condition=name)
        for name, ranking in variants.items()
    ]
    return pd.concat(frames, ignore_index=True)
