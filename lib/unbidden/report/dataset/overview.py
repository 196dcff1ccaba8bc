"""The tables of the dataset chapter, from an audit."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.corpus.models import CATEGORIES, STYLES
from unbidden.queries.clusters import mine_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.audit import Audit
    from unbidden.corpus.models import Corpus
    from unbidden.queries.build import Query


def counts_table(found: Audit, pairs: dict[str, dict[str, int]]) -> pd.DataFrame:
    """Return what a corpus holds, one row per kind of thing.

    Parameters
    ----------
    pairs : dict of policy to dict of conversation to int
        Mined pairs under each evidence policy.
    """
    rows: list[tuple[str, int]] = [
        ("conversations", found.conversations),
        ("sessions", found.sessions),
        ("turns", found.turns),
        ("turns with an image caption", found.captions),
        ("questions", found.questions),
        *((f"questions, {name}", n) for name, n in list(found.denominators.items())[1:]),
        *(
            (f"overlapping pairs, {policy} evidence", sum(n.values()))
            for policy, n in pairs.items()
        ),
        ("composed queries in the files", found.clusters),
    ]
    return pd.DataFrame(rows, columns=["what", "count"])


def nested_table(corpus: Corpus) -> pd.DataFrame:
    """Return, per conversation, mined pairs and those where one evidence lies in the other's."""
    rows = [
        {"conversation": item.id, "pairs": len(pairs), "nested": sum(p.nested for p in pairs)}
        for item in corpus.conversations
        for pairs in [list(mine_pairs(item))]
    ]
    return pd.DataFrame(rows)


def categories_table(found: Audit) -> pd.DataFrame:
    """Return questions by conversation and category; a dash where a conversation has none."""
    rows: list[dict[str, Any]] = []
    for conversation, counts in found.categories.items():
        named = {CATEGORIES[number]: counts[number] or None for number in CATEGORIES}
        rows.append({"conversation": conversation, **named, "all": sum(counts.values())})
    frame = pd.DataFrame(rows, dtype=object)
    total = {name: int(frame[name].fillna(0).sum()) for name in frame.columns[1:]}
    return pd.concat(
        [frame, pd.DataFrame([{"conversation": "all", **total}], dtype=object)], ignore_index=True
    )


def irregularities_table(found: Audit) -> pd.DataFrame:
    """Return kinds of irregularities, how many there are, and where the first ones stand."""
    counts = Counter(item.kind for item in found.irregularities)
    rows = [
        {
            "irregularity": kind,
            "count": n,
            "where": ", ".join([i.where for i in found.irregularities if i.kind == kind][:4])
            + (", …" if n > 4 else ""),
        }
        for kind, n in counts.most_common()
    ]
    return pd.DataFrame(rows or [{"irregularity": "none", "count": 0, "where": ""}])


def evidence_table(found: Audit) -> pd.DataFrame:
    """Return each evidence string that needs repair, and what it becomes."""
    rows = [
        {"question": c.where, "as written": c.before, "repaired": ", ".join(c.after) or "dropped"}
        for c in found.evidence_changes
    ]
    return pd.DataFrame(rows or [{"question": "none", "as written": "", "repaired": ""}])


def styles_table(queries: Sequence[Query], words: pd.DataFrame) -> pd.DataFrame:
    """Return how many queries each style has, how long they are, and how many have gold."""
    rows = []
    for style in STYLES:
        asked = [query for query in queries if query.style == style]
        lengths = words.loc[words["style"] == style, "words"]
        rows.append(
            {
                "style": style,
                "queries": len(asked),
                "with gold": sum(bool(query.gold) for query in asked),
                "conversations": len({query.conversation for query in asked}),
                "median words": int(lengths.median()) if asked else None,
            }
        )
    return pd.DataFrame(rows, dtype=object)
