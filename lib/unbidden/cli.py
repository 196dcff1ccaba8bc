"""The command `unbidden`."""

from __future__ import annotations

import dataclasses
import enum
import json
import sys
from pathlib import Path  # noqa: TC003 - typer reads the annotation
from typing import Annotated, Any

import typer
import yaml

from unbidden.corpus import load_corpus, sources
from unbidden.corpus.audit import Audit, audit
from unbidden.errors import ConfigError, UnbiddenError
from unbidden.llm.cli import ledger, models
from unbidden.memory.registry import SYSTEMS
from unbidden.queries.clusters import count_pairs

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Unbidden: which memory systems bring to mind what matters before anyone asks?",
)


class ExportForm(enum.StrEnum):
    """Forms of `unbidden export`."""

    csv = "csv"
    trec = "trec"


data = typer.Typer(no_args_is_help=True, help="Get and check data sets.")
app.add_typer(data, name="data")
app.add_typer(models, name="models")
app.add_typer(ledger, name="ledger")


def main() -> None:
    """Run the command; a known error is one clear message and exit code 1."""
    for stream in (sys.stdout, sys.stderr):
        # A finished run must not be lost because a console cannot show a character.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        app()
    except UnbiddenError as error:
        typer.echo(f"{type(error).__name__}: {error}", err=True)
        raise SystemExit(1) from None


@data.command("get")
def data_get(
    name: Annotated[str, typer.Argument(help=f"One of: {', '.join(sources.SOURCES)}.")],
    sha256: Annotated[
        list[str] | None,
        typer.Option(help="FILE=HASH for a file whose hash we could not pin."),
    ] = None,
) -> None:
    """Download a data set into the cache, checked by sha256; its licence is printed."""
    given = dict(item.partition("=")[::2] for item in sha256 or [])
    for item, path in zip(sources.source(name), sources.get(name, sha256=given), strict=True):
        typer.echo(f"{path}  (licence: {item.licence})")


@data.command("check")
def data_check(
    path: Annotated[str, typer.Argument(help="A name, a LoCoMo-shaped file or a folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Read a data set, count it and list everything irregular in it."""
    corpus = load_corpus(path)
    found = audit(corpus)
    pairs = {
        policy: sum(count_pairs(corpus.conversations, policy).values())
        for policy in ("paper", "repaired")
    }
    report = _check_report(found, pairs, corpus.sources)
    if as_json:
        typer.echo(json.dumps(report, indent=1, ensure_ascii=False))
        return
    for key, value in report.items():
        if isinstance(value, int):
            typer.echo(f"{key:>28}  {value:,}")
    for name, count in found.denominators.items():
        typer.echo(f"{name:>44}  {count:,}")
    for item in found.irregularities:
        typer.echo(f"- {item.kind}: {item.where}: {item.detail}")


def _check_report(found: Audit, pairs: dict[str, int], files: tuple[Any, ...]) -> dict[str, Any]:
    return {
        "conversations": found.conversations,
        "sessions": found.sessions,
        "turns": found.turns,
        "questions": found.questions,
        "pairs_paper": pairs["paper"],
        "pairs_repaired": pairs["repaired"],
        "captions": found.captions,
        "composed_queries": found.clusters,
        "denominators": found.denominators,
        "categories": found.categories,
        "files": [dataclasses.asdict(item) for item in files],
        "irregularities": [dataclasses.asdict(item) for item in found.irregularities],
    }


@app.command()
def systems() -> None:
    """List the memory systems by name."""
    for name in SYSTEMS:
        info = getattr(SYSTEMS.factory(name), "info", None)
        about = f"{info.paper}; provenance {info.provenance}" if info else ""
        typer.echo(f"{name:16} {about}")


@app.command()
def run(
    notebook: Annotated[str, typer.Argument(help="A chapter, such as 02_retrieval.")],
    run: Annotated[str, typer.Option("--run", help="Name of the run.")] = "scratch",
    parameter: Annotated[
        list[str] | None,
        typer.Option("-p", "--parameter", metavar="K=V", help="A parameter; V is YAML."),
    ] = None,
    params_json: Annotated[
        str, typer.Option(help="Parameters as one JSON object (-p goes before it).")
    ] = "{}",
) -> None:
    """Execute a chapter; its results appear under results/runs/RUN/ when it has succeeded."""
    from unbidden.execute import reasons_to_run, run_chapter

    parameters = {**_json_object(params_json), **dict(map(_pair, parameter or []))}
    reasons = reasons_to_run(notebook, run=run, parameters=parameters)
    typer.echo(f"{notebook}: {'; '.join(reasons or ['executed again as asked'])}", err=True)
    typer.echo(run_chapter(notebook, run=run, parameters=parameters))


@app.command()
def status(
    run: Annotated[str, typer.Argument(help="Name of the run.")] = "default",
) -> None:
    """Say which chapters of a run are fresh, and why the others are not."""
    from unbidden.execute import run_status

    for chapter, reasons in run_status(run).items():
        typer.echo(f"{chapter:24} {'; '.join(reasons) or 'fresh'}")


@app.command()
def plan(
    notebook: Annotated[str, typer.Argument(help="A chapter, such as 02_retrieval.")],
    parameter: Annotated[
        list[str] | None,
        typer.Option("-p", "--parameter", metavar="K=V", help="A parameter; V is YAML."),
    ] = None,
) -> None:
    """Count a chapter's model calls, tokens and price, and what is on record; no call is made."""
    from unbidden.execute import plan_chapter

    typer.echo(plan_chapter(notebook, parameters=dict(map(_pair, parameter or []))))


def _pair(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign or not name.isidentifier():
        raise ConfigError(
            f"{text!r} is no parameter",
            expected="NAME=VALUE, such as top_k=20 or 'systems=[\"bm25\"]'",
        )
    try:
        read = yaml.safe_load(value)
        json.dumps(read)
    except (yaml.YAMLError, TypeError) as error:
        raise ConfigError(
            f"the value of {name!r} cannot be read",
            expected="YAML of texts, numbers and lists",
            got=value[:200],
            next_step="put a text that looks like a date in quotes",
        ) from error
    return name, read


def _json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ConfigError("--params-json is not JSON", got=text[:200]) from error
    if not isinstance(value, dict):
        raise ConfigError("--params-json is not an object", got=text[:200])
    return value


@app.command()
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


@app.command()
def pages(
    run: Annotated[str, typer.Argument(help="Name of the run.")] = "default",
    allow_stale: Annotated[
        bool, typer.Option(help="Take pages made from other code or parameters.")
    ] = False,
    against: Annotated[
        str, typer.Option(help="A run to compare with on the page 'Compare runs'.")
    ] = "",
) -> None:
    """Put the executed chapters of a run into the book."""
    from unbidden.pages import make_pages

    for path in make_pages(run, allow_stale=allow_stale, against=against):
        typer.echo(path.name)


@app.command()
def export(
    run: Annotated[str, typer.Argument(help="A run, or recorded/NAME for one kept here.")],
    out: Annotated[Path, typer.Argument(help="A folder to write to.")],
    form: Annotated[
        ExportForm, typer.Option(help="csv: every Parquet file; trec: rankings, run and qrels.")
    ] = ExportForm.csv,
) -> None:
    """Write a run's results for other tools: CSV, or TREC files that `ir_measures` reads."""
    from unbidden.report.export import export_csv, export_trec

    if form is ExportForm.csv:
        written, notes = export_csv(run, out), []
    else:
        written, notes = export_trec(run, out)
    for line in (*written, *(f"- {note}" for note in notes)):
        typer.echo(line)


@app.command()
def record(
    run: Annotated[str, typer.Argument(help="Name of the run.")],
    name: Annotated[str, typer.Argument(help="Name under results/recorded/.")],
) -> None:
    """Keep the numbers of a run under results/recorded/: ids and values, no text of the data."""
    from unbidden.recorded import record_run

    for path in record_run(run, name):
        typer.echo(path)
