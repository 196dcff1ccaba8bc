"""Commands on local models and ledgers, mounted by the program `unbidden`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unbidden.llm.ledger import Ledger
from unbidden.llm.ledger.recording import record as write_recording
from unbidden.llm.local.engine import ServerOptions
from unbidden.llm.local.models import local_models, models_folder
from unbidden.llm.local.serve import serving
from unbidden.llm.local.weights import get_model, installed

models = typer.Typer(no_args_is_help=True, help="Local chat models: list, get, serve.")
ledger = typer.Typer(no_args_is_help=True, help="The record of model calls: record, stats.")
app = typer.Typer(no_args_is_help=True, help="The model layer.")
app.add_typer(models, name="models")
app.add_typer(ledger, name="ledger")

Name = Annotated[str, typer.Argument(help="A name from `unbidden models list`.")]
LedgerFile = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A ledger file.")]


@models.command("list")
def list_models() -> None:
    """Show the local models, their licences and which are on this machine."""
    for model in local_models().values():
        here = "here" if installed(model.name) else "not fetched"
        typer.echo(f"{model.name}  {model.bytes / 1e6:,.0f} MB  {model.licence}  {here}")
        typer.echo(f"    {model.title}; {model.use}")
        typer.echo(f"    sha256 {model.sha256}")


@models.command("get")
def get(
    name: Name,
    source: Annotated[
        str, typer.Option("--from", help="auto, parts, hub, or a GGUF file you have.")
    ] = "auto",
) -> None:
    """Fetch a model's file into the cache and check its sha256."""
    if source in ("auto", "parts", "hub"):
        path = get_model(name, way=source, say=typer.echo)  # type: ignore[arg-type]
    else:
        path = get_model(name, way=Path(source), say=typer.echo)
    typer.echo(f"{path.name} is in {models_folder()}, sha256 as pinned")


@models.command("serve")
def serve(
    name: Name,
    port: Annotated[int, typer.Option(help="0 takes a free one.")] = 0,
    threads: Annotated[int, typer.Option(help="More than 1 only on an idle machine.")] = 1,
    context: Annotated[
        int, typer.Option(help="Tokens of prompt and reply.")
    ] = ServerOptions().context,
    cache: Annotated[
        bool, typer.Option(help="Reuse prompt beginnings: faster, but not for recorded runs.")
    ] = False,
) -> None:
    """Serve a model on 127.0.0.1 until Ctrl-C."""
    with serving(name, ServerOptions(port, threads, context, cache)) as served:
        typer.echo(f"{served.name} ({served.engine}, {threads} thread) answers at:")
        for variable, value in served.environment().items():
            typer.echo(f"export {variable}={value}")
        _wait()


def _wait() -> None:
    import signal
    import threading

    done = threading.Event()
    # A terminal sends Ctrl-C to the child as well; both then end.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: done.set())
    typer.echo("Ctrl-C stops it.")
    done.wait()
    typer.echo("stopped")


@ledger.command("record")
def record(
    path: LedgerFile,
    folder: Annotated[Path, typer.Argument(help="Where recordings lie.")] = Path("results/ledger"),
    name: Annotated[str, typer.Option(help="Name of the recording.")] = "calls",
) -> None:
    """Write a ledger as sorted, compressed JSONL that can be committed and replayed."""
    with Ledger(path) as source:
        written = write_recording(source, folder, name)
    typer.echo(f"{written} ({written.stat().st_size:,} bytes)")


@ledger.command("stats")
def stats(path: LedgerFile) -> None:
    """Show calls, HTTP requests, tokens and seconds by prompt and status."""
    with Ledger(path) as source:
        rows = source.stats()
    if not rows:
        typer.echo("the ledger has no calls")
        return
    import pandas as pd

    typer.echo(pd.DataFrame(rows).to_string(index=False))
