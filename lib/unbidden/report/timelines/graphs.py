"""The memory graphs of the chapter on timelines: counts, relations, examples."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.corpus.models import Corpus
from unbidden.errors import NotRecorded
from unbidden.llm.local.models import local_models
from unbidden.memory.theanine import Theanine
from unbidden.memory.theanine.relations import RELATIONS
from unbidden.queries.build import build_queries
from unbidden.report.tables import points

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.config import TimelinesConfig
    from unbidden.corpus.models import Conversation
    from unbidden.llm import LLM
    from unbidden.memory.theanine.timelines import Timeline


_DIALOGUES_NOTE = {
    "none": "the two sentences alone, not the dialogues they come from as in the paper",
    "session": "the dialogues both sentences come from, as in the paper",
}


def graphs(
    corpus: Corpus, llm: LLM, options: Mapping[str, Any], **shared: Any
) -> tuple[dict[str, Theanine], pd.DataFrame]:
    """Return THEANINE's memory of each conversation, and one row of counts for each.

    A conversation whose calls are not on record is left out, as its absence shows.

    Raises
    ------
    NotRecorded
        If no conversation is on record.
    """
    built: dict[str, Theanine] = {}
    rows = []
    missing: NotRecorded | None = None
    for conversation in corpus.conversations:
        system = Theanine(llm=llm, **options, **shared)
        try:
            report = system.ingest(conversation)
        except NotRecorded as error:
            missing = error
            continue
        built[conversation.id] = system
        counted = asdict(system.counts())
        relations = counted.pop("relations")
        named: dict[str, int] = {str(name): relations.get(name, 0) for name in RELATIONS}
        unknown = counted.pop("unknown_labels")
        rows.append(
            {
                "conversation": conversation.id,
                "sessions": len(conversation.sessions),
                "units": report.units,
                "failed_units": report.failed,
                **counted,
                **named,
                "unknown_labels": ", ".join(f"{word} {n}" for word, n in unknown.items()),
            }
        )
    if missing is not None and not built:
        raise missing
    return built, pd.DataFrame(rows)


def shown_graphs(table: pd.DataFrame) -> pd.DataFrame:
    """Return size, cost and rates of each graph, as text."""
    read = table["related"] + table["unrelated"] + table["unknown"]
    return pd.DataFrame(
        {
            "conversation": table["conversation"],
            "memories": table["memories"],
            "links": table["edges"],
            "components": table["components"],
            "pairs": table["pairs"],
            "asked": table["asked"],
            "spared": table["saved"],
            "failed": table["failed"] + table["failed_units"],
            "unknown labels, %": [points(value) for value in table["unknown"] / read],
        },
        dtype=object,
    )


def shown_relations(table: pd.DataFrame) -> pd.DataFrame:
    """Return how often each relation was named, over all conversations, with its share."""
    totals = table[list(RELATIONS)].sum()
    whole = totals.sum()
    return pd.DataFrame(
        {
            "relation": list(totals.index),
            "links": [int(value) for value in totals],
            "share, %": [points(value / whole if whole else None) for value in totals],
        },
        dtype=object,
    )


@dataclass(frozen=True, slots=True)
class TimelineExamples:
    """Timelines before and after rewriting, for some messages, as escaped HTML."""

    system: Theanine
    messages: Sequence[tuple[str, str]]

    def _repr_html_(self) -> str:
        parts = []
        for speaker, text in self.messages:
            said = [f"{speaker}: {text}"]
            timelines = self.system.timelines(said)
            listed = "".join(
                f"<li>{html.escape(line.text())}<br>{rewritten}</li>"
                for line, rewritten in zip(timelines, self._rewritten(timelines, said), strict=True)
            )
            parts.append(
                f'<section class="unbidden-example"><blockquote>{html.escape(said[0])}'
                f"</blockquote><ol>{listed or '<li>no memory</li>'}</ol></section>"
            )
        return "".join(parts)

    def _rewritten(self, timelines: Sequence[Timeline], said: Sequence[str]) -> list[str]:
        try:
            refined = self.system.refined(timelines, said, "per_timeline")
        except NotRecorded:
            return ["<i>not rewritten:</i> not run, its model calls are not on record"] * len(
                timelines
            )
        return [
            f"<i>not rewritten:</i> {html.escape(one.unscored)}"
            if one.unscored
            else f"<i>rewritten:</i> {html.escape(one.text)}"
            for one in refined
        ]

    def __repr__(self) -> str:
        return f"timelines for {len(self.messages)} messages"


def graph_numbers(config: TimelinesConfig, corpus: Corpus, table: pd.DataFrame) -> dict[str, str]:
    """Return what the chapter's text says of the live graphs."""
    absent = [c.id for c in corpus.conversations if c.id not in set(table["conversation"])]
    read = int((table["related"] + table["unrelated"] + table["unknown"]).sum())
    small = config.answer_model in local_models()
    replied = ", ".join(config.reply_conversations) or str(table["conversation"].iloc[0])
    return {
        "answer_model": config.answer_model,
        "model_note": "It is a small local model that runs on a laptop." if small else "",
        "dialogues_note": _DIALOGUES_NOTE[config.dialogues],
        "unknown_rate": points(table["unknown"].sum() / read if read else None),
        "first_conversation": str(table["conversation"].iloc[0]),
        "reply_conversations": replied,
        "absent_note": f"Not on record and left out: {', '.join(absent)}." if absent else "",
        "links": f"{int(table['edges'].sum()):,}",
    }


def drawn_for_needs(corpus: Corpus, built: Mapping[str, Theanine]) -> pd.DataFrame:
    """Draw timelines for every implied need (without rewrites, every last turn), and count.

    Returns
    -------
    DataFrame
        One row a conversation: ``needs``, ``timelines``, ``fallback``, ``several_starts``,
        ``exhausted`` and ``memories``, the mean length of a timeline.
    """
    rows = []
    for name, system in built.items():
        conversation = corpus.conversation(name)
        before = system.counts()
        lengths: list[int] = []
        messages = first_messages(conversation, most=None)
        for speaker, text in messages:
            lengths += [len(line.ids) for line in system.timelines([f"{speaker}: {text}"])]
        after = system.counts()
        rows.append(
            {
                "conversation": conversation.id,
                "needs": len(messages),
                "timelines": after.timelines - before.timelines,
                "fallback": after.fallback - before.fallback,
                "several_starts": after.several_starts - before.several_starts,
                "exhausted": after.exhausted - before.exhausted,
                "memories": sum(lengths) / len(lengths) if lengths else None,
            }
        )
    return pd.DataFrame(rows)


def drawn_numbers(table: pd.DataFrame) -> dict[str, str]:
    """Return what the text says of the timelines that were drawn."""
    drawn = int(table["timelines"].sum())
    return {
        "drawn": f"{drawn:,}",
        "fallback_rate": points(table["fallback"].sum() / drawn if drawn else None),
        "start_rate": points(table["several_starts"].sum() / drawn if drawn else None),
    }


def first_messages(conversation: Conversation, *, most: int | None) -> list[tuple[str, str]]:
    """Return speaker and text of the first implied needs; without rewrites, the last turns."""
    found = [
        (query.speaker, query.text)
        for query in build_queries(Corpus(conversation.id, (conversation,)), styles=["implicit"])
        if query.speaker
    ]
    said = [(turn.speaker, turn.text) for turn in conversation.sessions[-1].turns]
    return (found or said)[:most]
