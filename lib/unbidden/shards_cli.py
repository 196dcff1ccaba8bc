"""Commands that make a retrieval run in pieces, mounted by the program `unbidden`."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from unbidden.config import RetrievalConfig
from unbidden.errors import ConfigError
from unbidden.shards import merge_shards, run_shard, shards

app = typer.Typer(no_args_is_help=True, help="A retrieval run in pieces: list, run one, merge all.")

Run = Annotated[str, typer.Option("--run", help="Name of the run.")]
Parameters = Annotated[str, typer.Option("--params-json", help="Parameters as one JSON object.")]


def _config(run: str, params_json: str) -> RetrievalConfig:
    try:
        given: Any = json.loads(params_json)
    except ValueError as error:
        raise ConfigError("--params-json is not JSON", got=params_json[:200]) from error
    if not isinstance(given, dict):
        raise ConfigError("--params-json is not an object", got=params_json[:200])
    return RetrievalConfig.of(**{**given, "chapter": "02_retrieval", "run": run})


@app.command("list")
def list_shards(run: Run = "scratch", params_json: Parameters = "{}") -> None:
    """Show each piece: its number, system and conversation."""
    for one in shards(_config(run, params_json)):
        typer.echo(f"{one.number:5d}  {one.system}  {one.conversation!r}")


@app.command("run")
def run_one(
    number: Annotated[int, typer.Argument(help="From `unbidden shards list`.")],
    run: Run = "scratch",
    params_json: Parameters = "{}",
) -> None:
    """Make one piece."""
    typer.echo(run_shard(_config(run, params_json), number))


@app.command("merge")
def merge(run: Run = "scratch", params_json: Parameters = "{}") -> None:
    """Join all pieces into the table that one process would have written."""
    typer.echo(merge_shards(_config(run, params_json)))
