"""Switches of THEANINE's graph: how relations are read, and which links are made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.errors import NotRecorded
from unbidden.reply.published import DATASETS
from unbidden.reply.released_memory import released_queries
from unbidden.report.faults.base import Context, Effect, Fault, effect, from_interval
from unbidden.report.faults.graphs import graph_of, graph_of_released, graphs_on_record
from unbidden.stats import difference_of_means

if TYPE_CHECKING:
    from unbidden.memory.theanine import Theanine


def _relation_reading(context: Context) -> list[Effect]:
    """Compare strict reading of relations with the released code's: all but None is a link."""
    rows = []
    for name, system in graphs_on_record(context):
        found = system.counts()
        named = {
            word: n for word, n in found.unknown_labels.items() if "none" not in word.casefold()
        }
        loose = min(sum(named.values()), found.unknown)
        read = found.related + found.unrelated + found.unknown
        pairs = [(1.0, 1.0)] * found.related + [(0.0, 1.0)] * loose
        pairs += [(0.0, 0.0)] * (read - len(pairs))
        rows += [(name, *pair) for pair in pairs]
    frame = pd.DataFrame(rows, columns=["conversation", "strict", "loose"])
    tables = [frame.rename(columns={name: "value"}) for name in ("strict", "loose")]
    settings = ("known labels only", "anything but None")
    measure = "pairs of memories that are related"
    return [effect(context, "relation-parser", measure, settings, *tables)]


def _links_asked(context: Context) -> list[Effect]:
    """Compare the links of both rules where the model was asked about every pair."""
    rows: list[tuple[str, int, int]] = []
    missing: NotRecorded | None = None
    for talk in context.corpus.conversations:
        try:
            sizes = [
                graph_of(context, talk.id, link_rule=rule)
                for rule in ("latest_per_component", "all_related")
            ]
        except NotRecorded as error:
            missing = error
            continue
        degrees = [_indegrees(system) for system in sizes]
        rows += [(talk.id, degrees[0][key], degrees[1][key]) for key in degrees[0]]
    if missing is not None and not rows:
        raise missing
    return [_link_effect("link-rule", context.corpus.name, rows)]


def _links_released(context: Context) -> list[Effect]:
    """Compare both rules on the released memories, where every near memory counts as related."""
    found = []
    for dataset in DATASETS:
        rows: list[tuple[str, int, int]] = []
        for episode in released_queries(dataset):
            degrees = [
                _indegrees(graph_of_released(context, episode, link_rule=rule))
                for rule in ("latest_per_component", "all_related")
            ]
            rows += [(episode.conversation, degrees[0][key], degrees[1][key]) for key in degrees[0]]
        found.append(_link_effect("link-rule-released", dataset, rows))
    return found


def _link_effect(fault: str, dataset: str, rows: list[tuple[str, int, int]]) -> Effect:
    frame = pd.DataFrame(rows, columns=["conversation", "latest", "all"])
    interval = difference_of_means(frame["latest"], frame["all"], list(frame["conversation"]))
    settings = ("latest of each component", "all related")
    means = (frame["latest"].mean(), frame["all"].mean())
    return from_interval(fault, dataset, "links a memory", settings, means, interval, unit="count")


def _indegrees(system: Theanine) -> dict[str, int]:
    links = dict.fromkeys((memory.id for memory in system.graph), 0)
    for _, new, _ in system.graph.edges():
        links[new] += 1
    return links


FAULTS = [
    Fault(
        "relation-parser",
        "How a named relation is read",
        "The released code takes any text but None for a relation.",
        "THEANINE, code",
        "graph",
        "",
        _relation_reading,
    ),
    Fault(
        "link-rule",
        "Rule of links",
        "The paper keeps one link for each component, the released code every related memory.",
        "THEANINE, paper against code",
        "graph",
        "theanine: link_rule",
        _links_asked,
    ),
    Fault(
        "link-rule-released",
        "Rule of links, released memories",
        "The same, every near memory taken as related, so the most the rule can change.",
        "THEANINE, paper against code",
        "release",
        "theanine: link_rule",
        _links_released,
    ),
]
