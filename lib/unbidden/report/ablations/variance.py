"""How much a number moves when nothing is changed: indices built anew, timelines drawn anew.

Between-run spread stands beside the spread over items, which is what an interval is made of. A
search without a model gives the same ranking every time; only a model's writing, its replies and
THEANINE's draws can differ.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from unbidden.errors import NotRecorded
from unbidden.memory.embed import Embedder, embedder
from unbidden.memory.presets import needs_model
from unbidden.memory.units import turn_units
from unbidden.memory.vectors import VectorCache
from unbidden.report.tables import points
from unbidden.retrieval import Rules, retrieve
from unbidden.retrieval.recall import recall_items

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.config import AblationsConfig
    from unbidden.corpus.models import Corpus
    from unbidden.llm.base import LLM
    from unbidden.queries.build import Query
    from unbidden.retrieval import Rankings

STYLE = "implicit"
NOISE = ["order", "texts", "largest_difference", "cosine", "neighbours_moved"]
COLUMNS = [
    *("system", "changed", "runs", "n", "mean", "between_runs", "between_items", "moved", "note")
]


def variance_table(
    corpus: Corpus, queries: Sequence[Query], llm: LLM, config: AblationsConfig
) -> pd.DataFrame:
    """Return, for each system, the spread of its recall over runs and over items.

    Asked with the implied needs alone, or with all queries where there are none.

    Returns
    -------
    DataFrame
        Columns ``system, changed, runs, n, mean, between_runs`` (standard deviation of the mean
        over runs), ``between_items`` (standard deviation of single items), ``moved`` (items whose
        value differs between any two runs) and ``note``; recall in 0..1.
    """
    asked = [query for query in queries if query.style == STYLE] or list(queries)
    asked = [query for query in asked if query.category != 5]
    shared: dict[str, Any] = {"protocol": config.protocol, "embedder": config.embedder}
    rows = []
    for name in config.systems:
        if needs_model(name):
            continue
        runs = [
            _recall(corpus, asked, name, config.top_k, **shared) for _ in range(config.rebuilds)
        ]
        rows.append(_row(name, "index built anew", runs))
    rows.append(_drawn(corpus, asked, llm, config))
    return pd.DataFrame(rows, columns=COLUMNS)


def encoding_noise(corpus: Corpus, config: AblationsConfig) -> pd.DataFrame:
    """Return how far vectors move when the turns of the first conversation are encoded anew.

    The cache is passed by and the order of the texts is changed, which changes how they are put
    together into batches.

    Returns
    -------
    DataFrame
        Columns ``order, texts, largest_difference`` (of any coordinate), ``cosine`` (the least
        between a text's two vectors) and ``neighbours_moved``: turns whose nearest ten others
        differ. Without rows if the config does not want it.
    """
    if not config.encoded_again:
        return pd.DataFrame(columns=NOISE)
    talk = corpus.conversations[0]
    texts = list(dict.fromkeys(unit.text for unit in turn_units(talk, config.protocol)))
    known = embedder(config.embedder)
    kept = known.encode(texts)
    rng = np.random.default_rng(config.seed)
    orders = {"reversed": np.arange(len(texts))[::-1], "shuffled": rng.permutation(len(texts))}
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, order in orders.items():
            cache = VectorCache(Path(folder) / f"{name}.sqlite", known.encoder.identity)
            again = np.empty_like(kept)
            again[order] = Embedder(known.encoder, cache).encode([texts[i] for i in order])
            moved = (_nearest(kept) != _nearest(again)).any(axis=1)
            rows.append(
                {
                    "order": name,
                    "texts": len(texts),
                    "largest_difference": float(np.abs(kept - again).max()),
                    "cosine": float((kept * again).sum(axis=1).min()),
                    "neighbours_moved": int(moved.sum()),
                }
            )
    return pd.DataFrame(rows, columns=NOISE)


def shown_variance(table: pd.DataFrame) -> pd.DataFrame:
    """Return `variance_table` as text, in points."""
    return pd.DataFrame(
        {
            "system": table["system"],
            "what is done anew": table["changed"],
            "runs": table["runs"],
            "items": table["n"],
            "recall": [points(v) for v in table["mean"]],
            "sd between runs": [points(v, 2) for v in table["between_runs"]],
            "sd between items": [points(v) for v in table["between_items"]],
            "items that moved": table["moved"],
            "note": table["note"],
        },
        dtype=object,
    )


def shown_noise(table: pd.DataFrame) -> pd.DataFrame:
    """Return `encoding_noise` as text."""
    return pd.DataFrame(
        {
            "order of texts": table["order"],
            "texts": table["texts"],
            "largest difference": [f"{v:.0e}" if v else "0" for v in table["largest_difference"]],
            "least cosine": [f"{v:.6f}" for v in table["cosine"]],
            "turns whose ten nearest change": table["neighbours_moved"],
        },
        dtype=object,
    )


def _drawn(
    corpus: Corpus, queries: Sequence[Query], llm: LLM, config: AblationsConfig
) -> dict[str, Any]:
    """Return the spread over seeds of drawing timelines, on the graphs that are on record."""
    changed = "timelines drawn anew"
    runs = []
    try:
        for seed in range(config.draw_seeds):
            own = {**config.system_options.get("theanine", {}), "seed": seed}
            runs.append(
                _recall(corpus, queries, "theanine", 3, own=own, llm=llm, embedder=config.embedder)
            )
    except NotRecorded:
        return _absent("theanine", changed)
    if all(run.isna().all() for run in runs):
        return _absent("theanine", changed)
    return _row("theanine", changed, runs, note="recall@3, credit by session")


def _recall(
    corpus: Corpus,
    queries: Sequence[Query],
    name: str,
    k: int,
    *,
    own: Mapping[str, Any] | None = None,
    **options: Any,
) -> pd.Series[float]:
    [ranking] = retrieve(
        corpus,
        queries,
        [name],
        depth=k,
        rules=Rules(unrecorded="unscored"),
        per_system={name: own or {}},
        **options,
    )
    return recall_values(corpus, ranking, k)


def recall_values(corpus: Corpus, ranking: Rankings, k: int) -> pd.Series[float]:
    """Return recall at K of each query, in order; NaN where unscored."""
    return recall_items(corpus.name, [ranking], k=k)["value"]


def _row(
    system: str, changed: str, runs: Sequence[pd.Series[float]], note: str = ""
) -> dict[str, Any]:
    table = pd.concat(runs, axis=1).dropna()
    return {
        "system": system,
        "changed": changed,
        "runs": len(runs),
        "n": len(table),
        "mean": float(table.to_numpy().mean()),
        "between_runs": float(table.mean().std(ddof=1)) if len(runs) > 1 else None,
        "between_items": float(table.iloc[:, 0].std(ddof=1)),
        "moved": int((table.nunique(axis=1) > 1).sum()),
        "note": note,
    }


def _absent(system: str, changed: str) -> dict[str, Any]:
    nothing = dict.fromkeys(("mean", "between_runs", "between_items"))
    return {
        "system": system,
        "changed": changed,
        "runs": 0,
        "n": 0,
        **nothing,
        "moved": 0,
        "note": "not run",
    }


def _nearest(vectors: np.ndarray[Any, Any], most: int = 10) -> np.ndarray[Any, Any]:
    cosines = vectors @ vectors.T
    np.fill_diagonal(cosines, -1.0)
    return np.sort(np.argsort(-cosines, axis=1, kind="stable")[:, :most], axis=1)
