"""All evidence on the claims that is on record, and what a chapter adds of its own.

A chapter that measures a claim writes a table ``evidence`` (`evidence_frame`); once its run is
recorded it is read here. Chapters that were recorded before claims were judged are read from the
tables they have.
"""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.config import project_root
from unbidden.errors import DataError, closest
from unbidden.recorded import has_recorded, recorded_facts, recorded_folder, recorded_items
from unbidden.report.claims.listing import CLAIMS
from unbidden.report.claims.misled import misled_evidence
from unbidden.report.claims.retrieval import rank_evidence, style_evidence, writers
from unbidden.report.claims.rule import Measured
from unbidden.report.claims.timelines import (
    cost_evidence,
    linking_evidence,
    printed_evidence,
    released_evidence,
)
from unbidden.report.published import published, published_path

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

COLUMNS = tuple(field.name for field in fields(Measured))
_NEEDED = ("claim", "part", "dataset", "model", "estimate", "low", "high", "n", "clusters", "table")
_TEXTS = ("claim", "part", "dataset", "model", "table", "chapter", "unit", "note")
_ONE = "LoCoMo-Conv, conv-26"
_MSC = "Multi-Session Chat"


def evidence_frame(rows: Iterable[Measured]) -> pd.DataFrame:
    """Return evidence as a table that a chapter writes, one row a measured part."""
    return pd.DataFrame([asdict(row) for row in rows], columns=list(COLUMNS))


def read_evidence(path: Path) -> list[Measured]:
    """Return the evidence of a file ``evidence.csv`` in a chapter's folder of tables.

    Raises
    ------
    DataError
        If a column is missing or a claim is unknown.
    """
    frame = pd.read_csv(path, dtype=dict.fromkeys(_TEXTS, "object"))
    if absent := [name for name in _NEEDED if name not in frame]:
        raise DataError(
            f"{path.name} is no table of evidence",
            expected=", ".join(_NEEDED),
            got=f"no {', '.join(absent)}",
            next_step="write it with `evidence_frame`",
        )
    defaults: dict[str, Any] = {
        "unit": "share",
        "exact": False,
        "note": "",
        "chapter": path.parent.parent.name,
    }
    for name, value in defaults.items():
        if name not in frame:
            frame[name] = value
    frame = frame.fillna({"note": "", "model": "none", "unit": "share"})
    rows = []
    for record in frame[list(COLUMNS)].to_dict("records"):
        if record["claim"] not in CLAIMS:
            raise DataError(
                f"{path.name} speaks of an unknown claim {str(record['claim'])[:60]!r}",
                expected=closest(str(record["claim"]), CLAIMS),
                next_step="correct the key, or add the claim to unbidden.report.claims.listing",
            )
        rows.append(_row({str(name): value for name, value in record.items()}))
    return rows


def _row(record: dict[str, Any]) -> Measured:
    numbers = {
        name: None if pd.isna(record[name]) else float(record[name])
        for name in ("estimate", "low", "high")
    }
    counts = {name: 0 if pd.isna(record[name]) else int(record[name]) for name in ("n", "clusters")}
    return Measured(**{**record, **numbers, **counts, "exact": bool(record["exact"])})


def recorded_evidence(*, except_for: tuple[str, str] = ("", "")) -> list[Measured]:
    """Return the evidence of every recorded run, and of the papers' printed numbers.

    Parameters
    ----------
    except_for : (str, str)
        A chapter and data set whose evidence is given anew.
    """
    found = [*_retrieval(), *_released(), *_graphs(), *_misled()]
    if published_path("theanine").is_file():
        found += printed_evidence(published("theanine"))
    folder = project_root() / "results" / "recorded"
    for path in sorted(folder.glob("*/*/tables/evidence.csv")):
        found += [
            part for part in read_evidence(path) if (part.chapter, part.dataset) != except_for
        ]
    return found


def _retrieval() -> list[Measured]:
    found: list[Measured] = []
    chapter = "02_retrieval"
    if has_recorded("locomo", chapter):
        items = recorded_items("locomo", chapter)
        items = items[items["condition"] == "paper"]
        found += style_evidence(items, dataset=_ONE, table="tab-locomo-drop", models={})
    if has_recorded("subset", chapter):
        items = recorded_items("subset", chapter)
        given = recorded_facts("subset", chapter)["parameters"]
        models = writers(
            map(str, items["system"].unique()), given["memory_model"], given["memory_models"]
        )
        found += style_evidence(
            items, dataset=_ONE, table="tab-subset", models=models, systems=list(models)
        )
        found += rank_evidence(items, dataset=_ONE, table="tab-subset", models=models)
    return found


def _released() -> list[Measured]:
    tables = recorded_folder("theanine", "06_timelines") / "tables"
    found: list[Measured] = []
    for name, claim, sign, table in (
        ("published_difference", "theanine_replies", 1, "tab-released-difference"),
        ("published_difference_cut", "theanine_replies_cut", 1, "fig-released"),
        ("published_update", "merging_hurts", -1, "tab-released-update"),
    ):
        path = tables / f"{name}.csv"
        if path.is_file():
            frame = pd.read_csv(path)
            wanted = "memory-update" if claim == "merging_hurts" else "theanine"
            frame = frame[frame["second"] == wanted]
            found += released_evidence(frame, claim, sign=sign, table=table)
    return found


def _misled() -> list[Measured]:
    chapter = "07_teafarm"
    found: list[Measured] = []
    folder = project_root() / "results" / "recorded"
    for run in sorted(path.parent.name for path in folder.glob(f"*/{chapter}")):
        if (folder / run / chapter / "items.parquet").is_file():
            given = recorded_facts(run, chapter)["parameters"]
            found += misled_evidence(
                recorded_items(run, chapter),
                dataset=str(given["dataset"]),
                model=f"{given['answer_model']}, judged by {given['judge_model']}",
            )
    return found


def _graphs() -> list[Measured]:
    found: list[Measured] = []
    for run, dataset in (("theanine", "harbour"), ("msc", _MSC)):
        if not has_recorded(run, "06_timelines"):
            continue
        tables = recorded_folder(run, "06_timelines") / "tables"
        model = str(recorded_facts(run, "06_timelines")["model"])
        if (tables / "costs.csv").is_file():
            costs = pd.read_csv(tables / "costs.csv")
            if "bound" in costs:  # an older table does not say which counts are bounds
                found += cost_evidence(costs, dataset=dataset, model=model)
        if (tables / "graphs.csv").is_file():
            graphs = pd.read_csv(tables / "graphs.csv")
            found += linking_evidence(graphs, dataset=dataset, model=model)
    return found
