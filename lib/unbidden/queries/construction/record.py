"""Recording a construction with a local model, and replaying it without one.

A recorded construction is a recording of calls, and a folder with ``run.json`` (what was built,
how and by what) and ``report.json`` (its numbers). ``python -m
unbidden.queries.construction.record`` makes one; `replayed` builds the same again from the
recording alone.
"""

from __future__ import annotations

import dataclasses
import json
import time
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer

from unbidden.atomic import write_text
from unbidden.corpus import load_corpus
from unbidden.llm.client import connect
from unbidden.llm.ledger import Ledger
from unbidden.llm.ledger.recording import Recording
from unbidden.llm.ledger.recording import record as write_recording
from unbidden.llm.local.engine import ServerOptions
from unbidden.llm.local.serve import serving
from unbidden.llm.settings import LLMSettings
from unbidden.queries.construction.building import BuildOptions, Construction, construct
from unbidden.queries.construction.counting import CountingLLM
from unbidden.queries.construction.rules import PROTOCOLS, Protocol, Rules, default_rules

if TYPE_CHECKING:
    from collections.abc import Collection

    from unbidden.corpus.models import Corpus, Style
    from unbidden.llm.base import LLM
    from unbidden.llm.local.serve import Served

SECOND_JUDGE = "the same model, asked in other words (validate_brief.v1)"
RECORDED = "construction"
"""Name of the recording; the folder has it too, with the protocol."""

app = typer.Typer(add_completion=False)


def replayed(folder: Path, recordings: Path) -> Construction:
    """Return a recorded construction, built again from its recorded calls.

    Parameters
    ----------
    folder : Path
        Holds ``run.json``.
    recordings : Path
        A recording or a folder of recordings.

    Raises
    ------
    LLMError
        If a call is not recorded.
    """
    run = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    with connect(
        LLMSettings.of(run["model"]), "replay", recorded=recordings, run=f"recorded {folder.name}"
    ) as llm:
        return build(run, llm)


def build(run: dict[str, Any], llm: LLM) -> Construction:
    """Return the construction that a ``run.json`` describes."""
    options = BuildOptions(
        protocol=cast("Protocol", run["protocol"]),
        styles=cast("list[Style]", run["styles"]),
        questions=run["questions"],
        groups=run["groups"],
        seed=run["seed"],
        rules=limited(run["protocol"], run["regenerations"]),
    )
    return construct(llm, corpus_of(run), options, second=llm if run["second_judge"] else None)


def limited(protocol: Protocol, regenerations: int | None) -> dict[Style, Rules]:
    """Return a protocol's rules with no more than so many regenerations; None changes nothing."""
    rules = default_rules(protocol)
    if regenerations is None:
        return rules
    return {
        style: dataclasses.replace(rule, regenerations=min(rule.regenerations, regenerations))
        for style, rule in rules.items()
    }


def corpus_of(run: dict[str, Any]) -> Corpus:
    """Return the corpus that a ``run.json`` names."""
    return load_corpus(run["dataset"], conversations=[run["conversation"]])


def describe(
    served: Served, protocol: Protocol, *, conversation: str, styles: list[str], **more: Any
) -> dict[str, Any]:
    """Return the content of ``run.json``, without what only the end of a run can tell."""
    return {
        "dataset": "harbour",
        "conversation": conversation,
        "protocol": protocol,
        "styles": styles,
        **more,
        "model": served.name,
        "model_sha256": served.sha256,
        "engine": served.engine,
        "threads": served.options.threads,
        "context": served.options.context,
        "concurrency": 1,
        "temperature": served.settings().rewriter.temperature,
        "prefix_reuse": True,
        "note": "Made by a small local model. The server reused the beginnings of prompts, so "
        "texts depend on the calls before them and asking again may give others; the recorded "
        "calls replay exactly.",
    }


@app.command()
def main(
    ledger: Annotated[Path, typer.Option(help="SQLite file; a stopped run goes on from it.")],
    results: Annotated[Path, typer.Option(help="The folder `results` of the project.")],
    conversation: Annotated[str, typer.Option(help="A conversation of harbour.")] = "harbour-2",
    protocol: Annotated[str, typer.Option(help="paper or repaired.")] = "repaired",
    styles: Annotated[str, typer.Option(help="Styles, separated by commas.")] = (
        "dialog,implicit,counterfactual,composed"
    ),
    questions: Annotated[
        int | None, typer.Option(help="The most questions; all if left out.")
    ] = None,
    groups: Annotated[int | None, typer.Option(help="The most groups; all if left out.")] = None,
    regenerations: Annotated[
        int | None, typer.Option(help="The most of a query; the protocol's if left out.")
    ] = None,
    second: Annotated[bool, typer.Option(help="Ask a second judge.")] = True,
    model: Annotated[str, typer.Option(help="A local model.")] = "qwen2.5-coder-1.5b",
) -> None:
    """Build the queries of one harbour conversation with a local model, and record the calls."""
    if protocol not in PROTOCOLS:
        raise typer.BadParameter(f"protocol is one of {', '.join(get_args(Protocol))}")
    start = time.time()
    with serving(model, ServerOptions(cache=True)) as served:
        run = describe(
            served,
            protocol,
            conversation=conversation,
            styles=styles.split(","),
            questions=questions,
            groups=groups,
            seed=0,
            regenerations=regenerations,
            second_judge=SECOND_JUDGE if second else None,
        )
        with connect(served.settings(), "record", ledger=ledger, run=RECORDED) as llm:
            used = CountingLLM(llm)
            build(run, used)
    keep(run, ledger, used.keys, results)
    made = replayed(results / "recorded" / RECORDED / protocol, results / "ledger")
    typer.echo(made.report.frame("rates").to_string())
    typer.echo(f"{time.time() - start:.0f} s")


def keep(run: dict[str, Any], ledger: Path, keys: Collection[str], results: Path) -> None:
    """Write the recording, ``run.json`` and ``report.json`` of a finished build.

    Only the calls the build used are recorded: a ledger may hold others, of earlier prompts. The
    report is that of the replay, so that it is proven to replay.
    """
    with Ledger(ledger) as calls:
        rows = [row for row in calls.rows() if row.key in keys]
    write_recording(Recording(rows), results / "ledger", RECORDED)
    folder = results / "recorded" / RECORDED / run["protocol"]
    sources = [dataclasses.asdict(source) for source in corpus_of(run).sources]
    dates = sorted(row.created for row in rows)
    more = {"sources": sources, "first_call": dates[0], "last_call": dates[-1]}
    write_text(folder / "run.json", _json(run | more))
    write_text(folder / "report.json", _json(replayed(folder, results / "ledger").report.as_dict()))


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    app()
