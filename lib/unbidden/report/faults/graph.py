"""Switches of THEANINE's graph: relations read, links made, timelines begun and rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.errors import NotRecorded
from unbidden.memory.summaries import SummaryMemory
from unbidden.memory.theanine import Theanine
from unbidden.memory.tokens import count_tokens
from unbidden.queries.overlap import content_words
from unbidden.reply.published import DATASETS
from unbidden.reply.released_memory import released_queries
from unbidden.report.faults.base import (
    Context,
    Effect,
    Fault,
    answerable,
    by_style,
    effect,
    from_interval,
)
from unbidden.report.timelines.graphs import first_messages
from unbidden.retrieval import Rules, retrieve
from unbidden.stats import difference_of_means

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from unbidden.memory.theanine.refining import RefineMode
    from unbidden.reply.released_memory import EpisodeQueries
    from unbidden.retrieval import Rankings

ASKED = {"dialogues": "none"}
"""How the recorded graphs were made."""
MESSAGES = 4
"""Messages of each conversation whose timelines are rewritten."""


def _relation_reading(context: Context) -> list[Effect]:
    """Compare strict reading of relations with the released code's: all but None is a link."""
    rows = []
    for name, system in _graphs(context):
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


_RULES = ("component_oldest", "any_root")
_STARTS = ("the component's oldest", "any root")


def _start_rule(context: Context) -> list[Effect]:
    values = []
    for rule in _RULES:
        ranking = _searched(context, "theanine", {**ASKED, "start_rule": rule}, depth=3)
        values.append(answerable(context.values(ranking, k=3)))
    rows: list[tuple[str, float]] = []
    for name, system in _graphs(context):
        other = _graph(context, name, start_rule=_RULES[1])
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
            first, second = (_unasked(context, episode, start_rule=rule) for rule in _RULES)
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


def _cited(context: Context) -> list[Effect]:
    values = []
    for sources in ("batch", "cited"):
        ranking = _searched(context, "msc-retrieval", {"sources": sources}, depth=context.k)
        values.append(answerable(context.values(ranking)))
    settings = ("the whole session", "the turns the model cites")
    return by_style(context, "provenance-cited", f"recall@{context.k}", settings, *values)


def _links_asked(context: Context) -> list[Effect]:
    """Compare the links of both rules where the model was asked about every pair."""
    rows: list[tuple[str, int, int]] = []
    missing: NotRecorded | None = None
    for talk in context.corpus.conversations:
        try:
            sizes = [
                _graph(context, talk.id, link_rule=rule)
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
                _indegrees(_unasked(context, episode, link_rule=rule))
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


def _refinement(context: Context) -> list[Effect]:
    """Compare what a reply is given: timelines as they are, rewritten each alone, or together."""
    rows: list[dict[str, Any]] = []
    for name, system in _graphs(context):
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


def _graphs(context: Context) -> Iterator[tuple[str, Theanine]]:
    """Yield the graph of each conversation on record.

    Raises
    ------
    NotRecorded
        If there is none.
    """
    found, missing = 0, None
    for talk in context.corpus.conversations:
        try:
            system = _graph(context, talk.id)
        except NotRecorded as error:
            missing = error
            continue
        found += 1
        yield talk.id, system
    if missing is not None and not found:
        raise missing


def _graph(context: Context, conversation: str, **options: Any) -> Theanine:
    system = Theanine(llm=context.llm, embedder=context.config.embedder, **{**ASKED, **options})
    system.ingest(context.corpus.conversation(conversation))
    return system


def _unasked(context: Context, episode: EpisodeQueries, **options: Any) -> Theanine:
    """Return a graph of released memories, linked by nearness alone: no model is asked."""
    system = Theanine(
        llm=context.llm,
        embedder=context.config.embedder,
        relations=False,
        seed=context.config.seed,
        **{**ASKED, **options},
    )
    memories = [
        SummaryMemory(key, text, int(key.partition("-")[0][1:]), None, ())
        for key, text in episode.memories.items()
    ]
    system.ingest_memories(memories)
    return system


def _indegrees(system: Theanine) -> dict[str, int]:
    links = dict.fromkeys((memory.id for memory in system.graph), 0)
    for _, new, _ in system.graph.edges():
        links[new] += 1
    return links


def _searched(context: Context, name: str, options: Mapping[str, Any], *, depth: int) -> Rankings:
    [ranking] = retrieve(
        context.corpus,
        context.queries(),
        [name],
        depth=depth,
        rules=Rules(unrecorded="unscored"),
        per_system={name: options},
        llm=context.llm,
        embedder=context.config.embedder,
    )
    if not ranking.ingests:
        raise NotRecorded(f"no conversation of {name} is on record with {dict(options)}")
    return ranking


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
    Fault(
        "provenance-cited",
        "Turns credited to a summary",
        "The whole session it was made of, or the turns the model names.",
        "LoCoMo-Conv, code",
        "graph",
        "msc-retrieval: sources",
        _cited,
    ),
]
