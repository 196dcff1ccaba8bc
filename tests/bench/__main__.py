"""Ratios against plain reference implementations, and cost against size, in this very run.

python -m tests.bench [--data locomo] [--sizes 5882 58820 588200 1000000] [--record]

Times are processor seconds of one thread, so that a busy machine disturbs them little; the load is
noted. `--record` keeps the tables under results/recorded/bench, which chapter 09_cost shows.
"""

from __future__ import annotations

import argparse
import datetime as dt
import os
import platform
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pandas as pd

from tests.bench import growth, steps
from tests.conftest import ROOT
from unbidden.atomic import replacing
from unbidden.corpus import load_corpus
from unbidden.memory.embed import MINILM, embedder
from unbidden.memory.units import turn_units
from unbidden.queries.build import build_queries
from unbidden.report.cost import exponents
from unbidden.report.folder import code_version, package_versions, write_json

FOLDER = ROOT / "results" / "recorded" / "bench" / "09_cost"


def grown(corpus: Any, vectors: Any, sizes: list[int], part: str | None) -> list[dict[str, Any]]:
    """Measure cost against size, printing as it goes."""
    base = vectors.encode([u.text for c in corpus.conversations for u in turn_units(c)])
    asked = vectors.encode([query.text for query in build_queries(corpus)])
    rows: list[dict[str, Any]] = []
    for n in sizes:
        # A graph of a million takes ten minutes to build on one core: measured at LoCoMo's size.
        names = ["exact", "bits", *(["usearch"] if n <= 10_000 and _has_usearch() else [])]
        if part in (None, "dense"):
            rows += _printed(growth.vector_search(base, asked, n, names))
        if part in (None, "bm25"):
            rows += _printed(growth.word_search(n))
    for n in (1_000, 10_000, 100_000) if part in (None, "graph") else ():
        rows += _printed(growth.linking(base, n))
        rows += _printed(growth.timelines(n))
    for n in (300, 3_000, 30_000) if part in (None, "ledger") else ():
        rows += _printed(growth.ledger(n))
    return rows


def _has_usearch() -> bool:
    import importlib.util

    return importlib.util.find_spec("usearch") is not None


def _printed(rows: Any) -> list[dict[str, Any]]:
    kept = []
    for row in rows:
        print(
            f"{row['part']:15} {row['n']:>9,} {row['what']:24} {row['cpu_ms']:12.2f} ms cpu "
            f"{row['wall_ms']:12.2f} ms  recall {row.get('recall', '')}  MB {row.get('mb', '')}",
            flush=True,
        )
        kept.append(row)
    return kept


def compared(corpus: Any, vectors: Any, options: Any) -> list[dict[str, Any]]:
    """Measure every step against its reference, printing as it goes."""
    rows = []
    data = f"{corpus.name}, {', '.join(options.conversations) or 'all conversations'}"
    with tempfile.TemporaryDirectory() as name:
        small = (
            steps.small_steps(corpus),
            steps.embedding(corpus, Path(name), most=options.embed),
        )
        for one in (
            *(() if options.only == "study" else small),
            *(() if options.only == "steps" else (steps.whole_study(corpus, vectors),)),
        ):
            for row in one:
                print(
                    f"{row['step']:34} {row['n']:>6} {row['reference_s']:10.3f} s "
                    f"{row['ours_s']:10.3f} s  ratio {row['ratio']:8.1f}  vs {row['reference']}",
                    flush=True,
                )
                rows.append({**row, "data": data})
    return rows


def main() -> None:
    """Print the tables, and keep them if asked."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="harbour")
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=[growth.LOCOMO, 10 * growth.LOCOMO],
        help="numbers of synthetic memories",
    )  # fmt: skip
    parser.add_argument("--embed", type=int, default=300, help="texts encoded cold")
    parser.add_argument("--only", choices=("steps", "study", "growth"))
    parser.add_argument("--conversations", nargs="*", default=[], help="of the data; all if none")
    parser.add_argument("--part", choices=("dense", "bm25", "graph", "ledger"), help="of growth")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    corpus, vectors = (
        load_corpus(options.data, conversations=options.conversations),
        embedder(MINILM),
    )
    load = os.getloadavg()[0]
    if options.only != "growth":
        keep(options, "steps", compared(corpus, vectors, options), corpus, load)
    if options.only in (None, "growth"):
        keep(options, "growth", grown(corpus, vectors, options.sizes, options.part), corpus, load)


def keep(options: Any, name: str, rows: Any, corpus: Any, load: float) -> None:
    """Write one table and the facts of its measurement, if they are to be recorded."""
    if not options.record:
        return
    path = FOLDER / "tables" / f"{name}.csv"
    keys = ["step"] if name == "steps" else ["part", "n", "what"]
    frame = pd.DataFrame(rows)
    if path.is_file():  # a part measured again takes the place of its rows
        frame = pd.concat([pd.read_csv(path), frame]).drop_duplicates(keys, keep="last")
    with replacing(path) as partial:
        frame.round(6).to_csv(partial, index=False, lineterminator="\n")
    if name == "growth":
        with replacing(FOLDER / "tables" / "exponents.csv") as partial:
            exponents(frame).round(6).to_csv(partial, index=False, lineterminator="\n")
    facts = {
        "chapter": "09_cost",
        "run": "bench",
        "data": [{"file": s.name, "sha256": s.sha256, "bytes": s.size} for s in corpus.sources],
        "dataset": corpus.name,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "load": {"before": round(load, 1), "after": round(os.getloadavg()[0], 1)},
        "code": code_version(),
        "packages": package_versions(),
        "finished": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
    }
    write_json(FOLDER / "run.json", facts)


if __name__ == "__main__":
    main()
