"""Results for other tools: items as CSV, rankings as TREC run and qrels files."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pandas as pd

from unbidden.atomic import replacing
from unbidden.errors import DataError
from unbidden.report.comparing.runs import open_run

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_RANKINGS = ("rankings", "gold")


def export_csv(run: str, folder: Path) -> list[Path]:
    """Write every Parquet file of a run as CSV, named ``CHAPTER.NAME.csv``."""
    written = []
    for chapter, results in open_run(run).items():
        for name, path in results.item_files.items():
            target = folder / f"{chapter}.{name}.csv"
            with replacing(target) as partial:
                pd.read_parquet(path).to_csv(partial, index=False, lineterminator="\n")
            written.append(target)
    return written


def export_trec(run: str, folder: Path) -> tuple[list[Path], list[str]]:
    """Write the rankings of a run as TREC files; return them, and what to know of them.

    ``qrels`` has the gold turns of every query, ``SYSTEM.run`` a line per distinct turn, in the
    order in which a system's memories bring them. Queries that are unscored for a system are no
    zeros: it then has a ``SYSTEM.qrels`` without them, to be used in place of the common one.
    Category 5 is left out, as in the study's own tables. A query's id is ``STYLE:QUERY``, a
    document's ``CONVERSATION/TURN``; other characters than TREC tools take are percent-encoded.

    Raises
    ------
    DataError
        If no chapter of the run kept its rankings.
    """
    for results in open_run(run).values():
        if set(_RANKINGS) <= results.item_files.keys():
            rankings, gold = (pd.read_parquet(results.item_files[name]) for name in _RANKINGS)
            return _write_trec(_answerable(rankings), _answerable(gold), folder)
    raise DataError(
        f"the run {run!r} kept no rankings",
        expected="rankings.parquet and gold.parquet of 02_retrieval",
        next_step=f"`unbidden run 02_retrieval --run {run}`; recorded runs keep none",
    )


def _write_trec(
    rankings: pd.DataFrame, gold: pd.DataFrame, folder: Path
) -> tuple[list[Path], list[str]]:
    written, notes = [_write(folder / "qrels", _qrels(gold))], ["category 5 is left out"]
    for system, rows in rankings.groupby("system", sort=False):
        name = quote(str(system), safe="")
        unscored = rows.loc[rows["rank"].isna(), "query_id"].nunique()
        scored = rows[rows["rank"].notna()]
        if scored.empty:
            notes.append(f"{system}: not exported, as no query is scored")
            continue
        if (scored["turn"].isna() & scored["rank"].gt(0)).all():
            notes.append(f"{system}: not exported, as it cannot name source turns")
            continue
        written.append(_write(folder / f"{name}.run", _run_lines(scored, name)))
        if unscored:
            asked = pd.MultiIndex.from_frame(scored[["style", "query_id"]].drop_duplicates())
            kept = gold[pd.MultiIndex.from_frame(gold[["style", "query_id"]]).isin(asked)]
            written.append(_write(folder / f"{name}.qrels", _qrels(kept)))
            notes.append(f"{system}: {unscored} queries are unscored; use {name}.qrels")
    return written, notes


def _answerable(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[frame["category"].ne(5).fillna(True)]


def _qrels(gold: pd.DataFrame) -> Iterator[str]:
    for row in gold.itertuples(index=False):
        yield f"{_query(row.style, row.query_id)} 0 {_turn(row.conversation, row.turn)} 1"


def _run_lines(rows: pd.DataFrame, tag: str) -> Iterator[str]:
    """Yield a line per distinct turn; scores fall strictly, as tools reorder equal ones."""
    named = rows[rows["turn"].notna()]
    for (style, query), group in named.groupby(["style", "query_id"], sort=False):
        turns = group.drop_duplicates("turn")
        for rank, row in enumerate(turns.itertuples(index=False), start=1):
            turn = _turn(row.conversation, row.turn)
            yield f"{_query(style, query)} Q0 {turn} {rank} {len(turns) - rank + 1} {tag}"


def _query(style: object, query: object) -> str:
    return f"{style}:{quote(str(query), safe='#+._-')}"


def _turn(conversation: object, turn: object) -> str:
    return f"{quote(str(conversation), safe='._-')}/{quote(str(turn), safe=':._-')}"


def _write(path: Path, lines: Iterable[str]) -> Path:
    with replacing(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)
    return path
