"""Queries that say nearly the same: exact Jaccard similarity of character n-grams.

Every pair of one style is compared, through a sparse product and with no hashing, so nothing is
missed: two thousand queries are two million pairs, about a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy import sparse

from unbidden.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unbidden.queries.build import Query

GRAM = 5
"""Characters in a gram: long enough that shared function words alone make no likeness."""
_BLOCK = 512


def near_duplicates(
    queries: Sequence[Query], *, threshold: float = 0.5, gram: int = GRAM
) -> pd.DataFrame:
    """Return the pairs of queries of one style whose texts are alike, most alike first.

    Letter case and runs of blanks do not count.

    Parameters
    ----------
    threshold : float
        Least Jaccard similarity, above 0 and at most 1.

    Returns
    -------
    DataFrame
        Columns ``style, conversation_a, a, conversation_b, b, jaccard``; `a` and `b` are query
        ids, `a` the earlier one.

    Raises
    ------
    ConfigError
        If `threshold` or `gram` is out of range.
    """
    if not 0 < threshold <= 1 or gram < 1:
        raise ConfigError(
            "`threshold` or `gram` is out of range",
            expected="0 < threshold <= 1 and gram >= 1",
            got=f"{threshold}, {gram}",
        )
    styles: dict[str, list[Query]] = {}
    for query in queries:
        styles.setdefault(query.style, []).append(query)
    records = [
        (style, group[i].conversation, group[i].id, group[j].conversation, group[j].id, value)
        for style, group in styles.items()
        for i, j, value in _alike([query.text for query in group], threshold, gram)
    ]
    columns = ["style", "conversation_a", "a", "conversation_b", "b", "jaccard"]
    frame = pd.DataFrame(records, columns=columns).astype({"jaccard": float})
    return frame.sort_values("jaccard", ascending=False, kind="stable", ignore_index=True)


def grams(text: str, gram: int = GRAM) -> frozenset[str]:
    """Return the distinct character n-grams of a text; the text itself if it is shorter.

    >>> sorted(grams("A  boat", 4))
    [' boa', 'a bo', 'boat']
    """
    plain = " ".join(text.casefold().split())
    if len(plain) <= gram:
        return frozenset([plain])
    return frozenset(plain[i : i + gram] for i in range(len(plain) - gram + 1))


def _alike(texts: Sequence[str], threshold: float, gram: int) -> Iterator[tuple[int, int, float]]:
    """Yield (i, j, similarity) with i < j for all pairs at or above the threshold."""
    sets = [grams(text, gram) for text in texts]
    numbers = {part: n for n, part in enumerate(sorted(frozenset().union(*sets)))}
    sizes = np.array([len(parts) for parts in sets], dtype=np.int64)
    columns = [numbers[part] for parts in sets for part in sorted(parts)]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    held = sparse.csr_array(
        (np.ones(len(columns), dtype=np.int32), columns, ends), shape=(len(sets), len(numbers))
    )
    for start in range(0, len(sets), _BLOCK):
        shared = (held[start : start + _BLOCK] @ held.T).tocoo()
        rows, others = shared.coords[0] + start, shared.coords[1]
        value = shared.data / (sizes[rows] + sizes[others] - shared.data)
        for k in np.flatnonzero((value >= threshold) & (rows < others)):
            yield int(rows[k]), int(others[k]), float(value[k])
