"""Commands on the results of runs, mounted by the program `unbidden`."""

from __future__ import annotations

import enum
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import Annotated

import typer


class ExportForm(enum.StrEnum):
    """Forms of `unbidden export`."""

    csv = "csv"
    trec = "trec"


def compare(
    first: Annotated[str, typer.Argument(help="A run, or recorded/NAME for one kept here.")],
    second: Annotated[str, typer.Argument(help="The other run; differences are second - first.")],
    chapter: Annotated[
        list[str] | None, typer.Option(help="A chapter, such as 02_retrieval; all by default.")
    ] = None,
    metric: Annotated[str, typer.Option(help="Metric of item files, or all.")] = "recall",
    k: Annotated[
        list[int] | None, typer.Option("-k", help="A cut-off; top_k of both runs by default.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the page to this .md file, its tables as CSV beside.")
    ] = None,
) -> None:
    """Compare two runs: paired differences, and what changed in parameters, code and data."""
    from unbidden.report.comparing import (
        Choice,
        compare_runs,
        comparison_page,
        one_line,
        write_comparison,
    )

    choice = Choice(tuple(chapter or ()), metric, tuple(k or ()))
    found = compare_runs(first, second, choice)
    if out is None:
        typer.echo(comparison_page(found, escape=one_line))
        return
    for path in write_comparison(found, out):
        typer.echo(path)


def status(
    run: Annotated[str, typer.Argument(help="Name of the run.")] = "default",
) -> None:
    """Say which chapters of a run are fresh, and why the others are not."""
    from unbidden.execute import run_status
    from unbidden.freshness import NEVER

    found = run_status(run)
    for chapter, reasons in found.items():
        typer.echo(f"{chapter:24} {'; '.join(reasons) or 'fresh'}")
    if run != "default" and [NEVER] in found.values():
        typer.echo(
            f"Of chapters that {run!r} lacks, `unbidden pages {run}` takes those of `default`."
        )


def export(
    run: Annotated[str, typer.Argument(help="A run, or recorded/NAME for one kept here.")],
    out: Annotated[Path, typer.Argument(help="A folder to write to.")],
    form: Annotated[
        ExportForm, typer.Option(help="csv: every Parquet file; trec: rankings, run and qrels.")
    ] = ExportForm.csv,
) -> None:
    """Write a run's results for other tools: CSV, or TREC files that `ir_measures` reads."""
    from unbidden.report.export import export_csv, export_trec

    notes: list[str] = []
    if form is ExportForm.csv:
        written = export_csv(run, out)
    else:
        written, notes = export_trec(run, out)
    for line in (*written, *(f"- {note}" for note in notes)):
        typer.echo(line)
