"""Searches without a model beside each other, each paired with the one it differs from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.report.paired import paired_differences
from unbidden.report.summary import means, select
from unbidden.report.tables import points, with_interval
from unbidden.retrieval.recall import recall_items
from unbidden.retrieval.searches import SEARCHES, search_rankings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from unbidden.config import AblationsConfig
    from unbidden.corpus.models import Corpus
    from unbidden.queries.build import Query


def search_items(corpus: Corpus, queries: Sequence[Query], config: AblationsConfig) -> pd.DataFrame:
    """Return recall at K of every search the config names, in the columns of the items table."""
    names = with_bases(config.searches)
    rankings = search_rankings(
        corpus,
        queries,
        names,
        depth=config.top_k,
        protocol=config.protocol,
        embedder=config.embedder,
    )
    return recall_items(corpus.name, rankings, k=config.top_k, condition=config.protocol)


def with_bases(names: Sequence[str]) -> list[str]:
    """Return searches with those they are compared with, in the table's order; empty means all.

    >>> with_bases(["bm25-rm3"])
    ['bm25', 'bm25-rm3']
    """
    wanted = set(names) | {SEARCHES[name].base for name in names if name in SEARCHES}
    known = [name for name in SEARCHES if name in wanted]
    return known + [name for name in names if name not in SEARCHES] if names else list(SEARCHES)


def search_effects(items: pd.DataFrame, *, seed: int = 0) -> pd.DataFrame:
    """Return recall of each search and style, and its paired change from the search's base.

    Returns
    -------
    DataFrame
        Columns ``style, system, base, mean`` and those of a paired comparison; the bases
        themselves are missing. P-values are Holm's over all rows.
    """
    rows = select(items, "recall")

    def pairs() -> Iterator[tuple[dict[str, str], Any, Any, list[Any]]]:
        for style, group in rows.groupby("style", sort=False):
            wide = group.pivot(index="query_id", columns="system", values="value")
            homes = group.drop_duplicates("query_id").set_index("query_id")["conversation"]
            for name, search in SEARCHES.items():
                if name != search.base and {name, search.base} <= set(wide.columns):
                    keys = {"style": str(style), "system": name, "base": search.base}
                    yield keys, wide[search.base], wide[name], list(homes.loc[wide.index])

    found = paired_differences(pairs(), seed=seed)
    if found.empty:
        return found
    average = rows.groupby(["style", "system"])["value"].mean()
    keys = zip(found["style"], found["system"], strict=True)
    found.insert(3, "mean", [average[key] for key in keys])
    return found


def search_means(items: pd.DataFrame) -> pd.DataFrame:
    """Return mean recall of each search and style, with intervals."""
    return means(select(items, "recall"), ["style", "system"])


def shown_searches(effects: pd.DataFrame, rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row for each search: its recall if it is a base, else its change, by style.

    Parameters
    ----------
    effects, rows : DataFrame
        From `search_effects` and `search_means`.
    """
    styles = list(dict.fromkeys(rows["style"]))
    base = {(r["style"], r["system"]): r for r in rows.to_dict("records")}
    moved = {(r["style"], r["system"]): r for r in effects.to_dict("records")}
    records = []
    for name in dict.fromkeys(rows["system"]):
        search = SEARCHES[name]
        record = {"search": name, "what it does": search.title}
        record["against"] = "–" if name == search.base else search.base
        for style in styles:
            found = moved.get((style, name))
            if found is not None:
                sign = "+" if found["difference"] > 0 else ""
                text = with_interval(found["difference"], found["low"], found["high"])
                record[style] = sign + text
            else:
                record[style] = points(base[style, name]["mean"])
        records.append(record)
    return pd.DataFrame(records, dtype=object)


def search_numbers(items: pd.DataFrame, effects: pd.DataFrame) -> dict[str, str]:
    """Return what the text says: recall and change by style and search, as text.

    Names: ``search_STYLE_NAME`` and ``moved_STYLE_NAME`` (with interval).
    """
    rows = means(select(items, "recall"), ["style", "system"])
    numbers = {
        f"search_{row['style']}_{row['system']}": points(row["mean"])
        for row in rows.to_dict("records")
    }
    for row in effects.to_dict("records"):
        text = with_interval(row["difference"], row["low"], row["high"])
        numbers[f"moved_{row['style']}_{row['system']}"] = text
    return numbers
