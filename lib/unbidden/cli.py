"""The command `unbidden`."""

from __future__ import annotations

import dataclasses
import errno
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
from unbidden.results_cli import compare, export, status
from unbidden.shards_cli import app as shards

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM}
"""What the system says of a full disk, a quota, and a folder closed to us."""

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="""Unbidden: which memory systems bring to mind what matters before anyone asks?

    A study of notebooks ("chapters") over a library. First steps, from the project's folder:

    \b
      unbidden data check harbour                        what the embedded data set holds
      unbidden run 02_retrieval --run mine -p top_k=20   one chapter with other parameters
      unbidden compare default mine                      did it matter, and what changed
      unbidden pages mine && jupyter-book build book     its page in the book

    \b
    Results lie in results/runs/RUN/CHAPTER. `papermill --help-notebook notebooks/NN_name.ipynb`
    describes the parameters of a chapter. An error says what was expected and what to do next.
    """,
    rich_markup_mode=None,
)

data = typer.Typer(no_args_is_help=True, help="Get and check data sets.")
app.add_typer(data, name="data")
app.add_typer(models, name="models")
app.add_typer(ledger, name="ledger")
app.add_typer(shards, name="shards")
for command in (status, compare, export):
    app.command()(command)


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
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        typer.echo(
            f"a file cannot be written: {error.strerror} ({error.filename})\n"
            "  next: make room or allow writing there, and repeat; what was finished is kept",
            err=True,
        )
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


@data.command("export")
def data_export(
    path: Annotated[str, typer.Argument(help="A name, a LoCoMo-shaped file or a folder.")],
    folder: Annotated[Path, typer.Argument(help="A folder to write to.")],
    licence: Annotated[
        str, typer.Option(help="The data's licence; that of harbour is known.")
    ] = "",
    language: Annotated[
        list[str] | None, typer.Option(help="ISO 639 code; once for each language.")
    ] = None,
) -> None:
    """Write a data set as Parquet with a data card, in the form Hugging Face shows."""
    from unbidden.queries.export import export_named

    for written in export_named(path, folder, licence=licence, languages=language or ()):
        typer.echo(written)


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
def record(
    run: Annotated[str, typer.Argument(help="Name of the run.")],
    name: Annotated[str, typer.Argument(help="Name under results/recorded/.")],
) -> None:
    """Keep the numbers of a run under results/recorded/: ids and values, no text of the data."""
    from unbidden.recorded import record_run

    for path in record_run(run, name):
        typer.echo(path)
