"""Recall by words: whether what a gold turn says is still in the text that is shown.

A system that rewrites turns may name the right source and lose the fact, or keep the fact and not
know its source. This measure looks at the shown text alone, so it also serves systems without
provenance. It cannot tell a paraphrase from a loss: read it beside recall by turn ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from unbidden.errors import ConfigError
from unbidden.queries.overlap import content_words
from unbidden.retrieval.score import ITEM_COLUMNS, NO_GOLD, check_cutoffs, item_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from unbidden.corpus.models import Corpus
    from unbidden.memory.protocol import Retrieved
    from unbidden.queries.build import Query
    from unbidden.retrieval.run import Rankings

NO_WORDS = "no gold turn has a content word"

Words = frozenset[str]
_NOWHERE = 2**31  # a rank beyond every K


def text_recall_items(
    corpus: Corpus,
    rankings: Iterable[Rankings],
    *,
    ks: Sequence[int],
    share: float = 0.6,
    condition: str = "top_k",
) -> pd.DataFrame:
    """Return ``text_recall`` of each query, system and K, in the columns of the items table.

    The value is the share of gold turns of which at least `share` of the distinct content words
    occur together in the text of one of the first K memories. Words of several memories are not
    added up. Gold turns without a content word ("Me too!") cannot be looked for and are left out
    of the count; a query that has no other is unscored. The caption of an image is not counted.

    LoCoMo-Conv's own text rule (a turn's whole wording inside a memory) is the strict form of
    this; it gives 0 to every system that rewrites.

    Parameters
    ----------
    share : float
        In (0, 1]: how much of a turn's words one memory must hold.

    Raises
    ------
    ConfigError
        If `share` is out of range, or a K is not positive or exceeds the depth retrieved.
    """
    if not 0 < share <= 1:
        raise ConfigError(
            "`share` is out of range",
            expected="above 0 and at most 1",
            got=str(share),
            next_step="0.6 is the default",
        )
    said: dict[tuple[str, str], Words] = {
        (conversation.id, turn.id): content_words(turn.text)
        for conversation in corpus.conversations
        for turn in conversation.turns
    }
    frames = []
    words: dict[str, Words] = {}
    for ranking in rankings:
        check_cutoffs(ranking, ks)
        ranks, reasons = [], []
        for i, (query, hits) in enumerate(zip(ranking.queries, ranking.hits, strict=True)):
            gold = _looked_for(query, said)
            missing = NO_WORDS if query.gold else NO_GOLD
            reasons.append(ranking.unfit(i) if gold else missing)
            ranks.append([_first_holding(turn, hits, share, words) for turn in gold])
        base = item_keys(corpus.name, ranking, condition)
        for k in ks:
            value = [
                np.mean([rank < k for rank in found]) if reason is None else np.nan
                for found, reason in zip(ranks, reasons, strict=True)
            ]
            unscored = pd.Series(reasons, dtype="str")
            frames.append(base.assign(metric="text_recall", k=k, value=value, unscored=unscored))
    return pd.concat(frames, ignore_index=True)[ITEM_COLUMNS]


def _looked_for(query: Query, said: Mapping[tuple[str, str], Words]) -> list[Words]:
    """Return the content words of each gold turn that has some.

    A cited turn that is not in the conversation cannot be looked for either.
    """
    found = [said.get((query.conversation, turn), frozenset()) for turn in sorted(query.gold)]
    return [words for words in found if words]


def _first_holding(
    turn: Words, hits: Sequence[Retrieved], share: float, cache: dict[str, Words]
) -> int:
    """Return the rank from 0 of the first memory that holds enough of a turn's words."""
    for rank, hit in enumerate(hits):
        if hit.text not in cache:
            cache[hit.text] = content_words(hit.text)
        # The small allowance keeps 0.6 * 5 words at 3 whatever the floating point says.
        if len(turn & cache[hit.text]) >= share * len(turn) - 1e-9:
            return rank
    return _NOWHERE
