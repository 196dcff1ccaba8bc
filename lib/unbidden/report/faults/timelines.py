"""Switches of THEANINE's timelines: where they begin, and how they are rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.memory.tokens import count_tokens
from unbidden.queries.overlap import content_words
from unbidden.reply.published import DATASETS
from unbidden.reply.released_memory import released_queries
from unbidden.report.faults.base import Context, Effect, Fault, answerable, by_style, from_interval
from unbidden.report.faults.graphs import (
    ASKED,
    graph_of,
    graph_of_released,
    graphs_on_record,
    searched,
)
from unbidden.report.timelines.graphs import first_messages
from unbidden.stats import difference_of_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.memory.theanine import Theanine
    from unbidden.memory.theanine.refining import RefineMode

MESSAGES = 4
"""Messages of each conversation whose timelines are rewritten."""


_RULES = ("component_oldest", "any_root")
_STARTS = ("the component's oldest", "any root")


def _start_rule(context: Context) -> list[Effect]:
    values = []
    for rule in _RULES:
        ranking = searched(context, "theanine", {**ASKED, "start_rule": rule}, depth=3)
        values.append(answerable(context.values(ranking, k=3)))
    rows: list[tuple[str, float]] = []
    for name, system in graphs_on_record(context):
        other = graph_of(context, name, start_rule=_RULES[1])
        messages = first_messages(context.corpus.conversation(name), most=None)
        said = [f"{speaker}: {text}" for speaker, text in messages]
        rows += [(name, differs) for differs in _differing(system, other, said)]
    changed = _changed("start-rule", context.corpus.name, "needs whose timelines differ", rows)
    return [changed, *by_style(context, "start-rule", "recall@3", _STARTS, *values)]


def _starts_released(context: Context) -> list[Effect]:
    """Count the turns that are shown other timelines, over the released talks and memories."""
    found = []
    for dataset in DATASETS:
        rows: list[tuple[str, float]] = []
        for episode in released_queries(dataset):
            first, second = (
                graph_of_released(context, episode, start_rule=rule) for rule in _RULES
            )
            differing = _differing(first, second, list(episode.queries.values()))
            rows += [(episode.conversation, differs) for differs in differing]
        measure = "turns whose timelines differ"
        found.append(_changed("start-rule-released", dataset, measure, rows))
    return found


def _differing(first: Theanine, second: Theanine, messages: Sequence[str]) -> list[float]:
    """Return 1 for each message to which two graphs bring other timelines, else 0."""
    return [
        float(
            [line.ids for line in first.timelines([text])]
            != [line.ids for line in second.timelines([text])]
        )
        for text in messages
    ]


def _changed(fault: str, dataset: str, measure: str, rows: list[tuple[str, float]]) -> Effect:
    frame = pd.DataFrame(rows, columns=["conversation", "value"])
    nothing = [0.0] * len(frame)
    interval = difference_of_means(nothing, frame["value"], list(frame["conversation"]))
    means = (0.0, frame["value"].mean())
    return from_interval(fault, dataset, measure, _STARTS, means, interval)


def _refinement(context: Context) -> list[Effect]:
    """Compare what a reply is given: timelines as they are, rewritten each alone, or together."""
    rows: list[dict[str, Any]] = []
    for name, system in graphs_on_record(context):
        for speaker, text in first_messages(context.corpus.conversation(name), most=MESSAGES):
            said = [f"{speaker}: {text}"]
            lines = system.timelines(said)
            modes: list[RefineMode] = ["off", "per_timeline", "joint"]
            texts = [
                "\n".join(one.text for one in system.refined(lines, said, mode)) for mode in modes
            ]
            rows.append({"conversation": name, **_kept(texts)})
    frame = pd.DataFrame(rows)
    found = []
    for first, second in (("per_timeline", "joint"), ("off", "per_timeline")):
        for measure, unit in (("words kept", "share"), ("tokens", "count")):
            a, b = frame[f"{measure} {first}"], frame[f"{measure} {second}"]
            interval = difference_of_means(a, b, list(frame["conversation"]))
            title = {"words kept": "content words of the timelines kept", "tokens": "tokens shown"}
            found.append(
                from_interval(
                    "refinement-mode",
                    context.corpus.name,
                    title[measure],
                    (first.replace("_", " "), second.replace("_", " ")),
                    (a.mean(), b.mean()),
                    interval,
                    unit=unit,  # type: ignore[arg-type]
                )
            )
    return found


def _kept(texts: Sequence[str]) -> dict[str, float]:
    whole = content_words(texts[0])
    found: dict[str, float] = {}
    for mode, text in zip(("off", "per_timeline", "joint"), texts, strict=True):
        held = len(whole & content_words(text)) / len(whole) if whole else float("nan")
        found[f"words kept {mode}"] = held
        found[f"tokens {mode}"] = float(count_tokens(text))
    return found


FAULTS = [
    Fault(
        "start-rule",
        "Where a timeline begins",
        "At the component's oldest memory in the paper, at any root in the released code.",
        "THEANINE, paper against code",
        "graph",
        "theanine: start_rule",
        _start_rule,
    ),
    Fault(
        "start-rule-released",
        "Where a timeline begins, released memories",
        "The same on graphs of the released memories, where only the first session has roots.",
        "THEANINE, paper against code",
        "release",
        "theanine: start_rule",
        _starts_released,
    ),
    Fault(
        "refinement-mode",
        "Rewriting of timelines",
        "One call for each in the released code, one for all in the released outputs.",
        "THEANINE, code against outputs",
        "graph",
        "theanine: refine_mode",
        _refinement,
    ),
]
