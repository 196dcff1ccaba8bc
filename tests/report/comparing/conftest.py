"""Two small runs on disk, with values that can be checked on paper."""

import json

import pandas as pd
import pytest

KEYS = ("dataset", "conversation", "query_id", "style", "category", "system", "condition")


def item(query, value, *, style="implicit", category=4, system="bm25", condition="paper", **more):
    home = query.partition("#")[0]
    row = dict(zip(KEYS, ("toy", home, query, style, category, system, condition), strict=True))
    row |= {"metric": "recall", "k": 10, "value": value, "unscored": None}
    return row | more


def write_run(root, run, rows, *, chapter="02_retrieval", tables=None, numbers=None, **facts):
    folder = root / "results" / "runs" / run / chapter
    (folder / "tables").mkdir(parents=True)
    frame = pd.DataFrame(rows)
    if len(frame):
        if "category" in frame:
            frame["category"] = frame["category"].astype("Int8")
        frame.to_parquet(folder / "items.parquet", index=False)
    for name, table in (tables or {}).items():
        table.to_csv(folder / "tables" / f"{name}.csv", index=False)
    record = {
        "chapter": chapter,
        "run": run,
        "parameters": {"run": run, "top_k": 10, "seed": 0},
        "data": [{"file": "toy.json", "sha256": "a" * 64, "bytes": 10}],
        "code": {"version": "1", "commit": "c" * 40, "changed": False, "library_sha256": "d" * 64},
        "packages": {"numpy": "2"},
        "python": "3.11",
        "finished": run,
        "seconds": 1.0,
        **facts,
    }
    (folder / "run.json").write_text(json.dumps(record))
    (folder / "numbers.json").write_text(json.dumps(numbers or {}))
    return folder


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "study.yaml").write_text("presets: {}")
    monkeypatch.chdir(tmp_path)
    return tmp_path
