"""Tables and examples of the chapter on timelines."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.corpus.models import Corpus
from unbidden.corpus.replay import next_turns
from unbidden.errors import ConfigError
from unbidden.llm.client import Client
from unbidden.llm.localmodels import local_models
from unbidden.llm.session import PlanningLLM
from unbidden.memory.theanine import Theanine
from unbidden.memory.theanine.relations import RELATIONS
from unbidden.queries.build import build_queries
from unbidden.reply.bootstrap import paired_bootstrap
from unbidden.reply.metrics import score_replies
from unbidden.report.published import theanine_table
from unbidden.report.tables import points, with_interval
from unbidden.stats import clustered_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.config import TimelinesConfig
    from unbidden.corpus.models import Conversation
    from unbidden.corpus.replay import NextTurn
    from unbidden.llm import LLM
    from unbidden.reply.replaying import Reply


_DIALOGUES_NOTE = {
    "none": "the two sentences alone, not the dialogues they come from as in the paper",
    "session": "the dialogues both sentences come from, as in the paper",
}


def graphs(
    corpus: Corpus, llm: LLM, options: Mapping[str, Any], **shared: Any
) -> tuple[dict[str, Theanine], pd.DataFrame]:
    """Return THEANINE's memory of each conversation, and one row of counts for each."""
    built: dict[str, Theanine] = {}
    rows = []
    for conversation in corpus.conversations:
        system = Theanine(llm=llm, **options, **shared)
        report = system.ingest(conversation)
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
            refined = self.system.refined(timelines, said, "per_timeline")
            listed = "".join(
                f"<li>{html.escape(line.text())}<br><i>rewritten:</i> "
                + (
                    f"not rewritten: {html.escape(one.unscored)}"
                    if one.unscored
                    else html.escape(one.text)
                )
                + "</li>"
                for line, one in zip(timelines, refined, strict=True)
            )
            parts.append(
                f'<section class="unbidden-example"><blockquote>{html.escape(said[0])}'
                f"</blockquote><ol>{listed or '<li>no memory</li>'}</ol></section>"
            )
        return "".join(parts)

    def __repr__(self) -> str:
        return f"timelines for {len(self.messages)} messages"


def reply_table(replies: Sequence[Reply]) -> pd.DataFrame:
    """Return the scores of each arm, with an interval of ROUGE-L over sessions.

    Returns
    -------
    DataFrame
        Columns ``arm, n, unscored, bleu4, rouge_l, low, high, words, gold_words``; points.
    """
    rows = []
    for arm in dict.fromkeys(reply.arm for reply in replies):
        mine = [reply for reply in replies if reply.arm == arm]
        scores = score_replies([r.text for r in mine], [r.turn.gold for r in mine])
        scored = [r for r in mine if r.text is not None]
        each = [score_replies([r.text], [r.turn.gold]).rouge_l for r in scored]
        sessions = [f"{r.turn.conversation} {r.turn.session}" for r in scored]
        interval = clustered_mean(pd.Series(each, dtype=float) / 100, sessions)
        rows.append(
            {
                "arm": arm,
                "n": scores.n,
                "unscored": scores.unscored,
                "bleu4": scores.bleu4,
                "rouge_l": scores.rouge_l,
                "low": interval.low,
                "high": interval.high,
                "interval": interval.method,
                "words": scores.words,
                "gold_words": scores.gold_words,
            }
        )
    return pd.DataFrame(rows)


def shown_replies(table: pd.DataFrame) -> pd.DataFrame:
    """Return `reply_table` as text."""
    rouge = [None if pd.isna(value) else value / 100 for value in table["rouge_l"]]
    return pd.DataFrame(
        {
            "memories": table["arm"],
            "n": table["n"],
            "unscored": table["unscored"],
            "BLEU-4": [_decimal(value, 2) for value in table["bleu4"]],
            "ROUGE-L": [
                with_interval(*triple)
                for triple in zip(rouge, table["low"], table["high"], strict=True)
            ],
            "words": [_decimal(value) for value in table["words"]],
            "gold words": [_decimal(value) for value in table["gold_words"]],
        },
        dtype=object,
    )


def reply_differences(
    replies: Sequence[Reply], reference: str = "msc-retrieval", *, seed: int = 0
) -> pd.DataFrame:
    """Return each arm minus one of them, resampling sessions, over turns that both replied to."""
    texts = {(r.arm, r.turn.id): r for r in replies if r.text is not None}
    rows: list[dict[str, Any]] = []
    for arm in dict.fromkeys(reply.arm for reply in replies):
        if arm == reference:
            continue
        ids = [name for (a, name) in texts if a == arm and (reference, name) in texts]
        if not ids:
            continue
        first = [texts[reference, name] for name in ids]
        second = [texts[arm, name] for name in ids]
        for found in paired_bootstrap(
            [str(r.text) for r in first],
            [str(r.text) for r in second],
            [r.turn.gold for r in first],
            [f"{r.turn.conversation} {r.turn.session}" for r in first],
            seed=seed,
        ):
            rows.append({"arm": arm, "against": reference, **asdict(found)})
    return pd.DataFrame(rows)


def shown_reply_differences(table: pd.DataFrame) -> pd.DataFrame:
    """Return `reply_differences` as text."""
    if table.empty:
        return table
    names = {"bleu4": "BLEU-4", "rouge_l": "ROUGE-L"}
    return pd.DataFrame(
        {
            "memories": table["arm"],
            "against": table["against"],
            "metric": [names[name] for name in table["metric"]],
            "difference": [
                with_interval(*(None if pd.isna(v) else v / 100 for v in triple))
                for triple in zip(table["difference"], table["low"], table["high"], strict=True)
            ],
            "turns": table["n"],
            "sessions": table["episodes"],
        },
        dtype=object,
    )


def shown_costs(table: pd.DataFrame) -> pd.DataFrame:
    """Return what each arm costs beside the paper's ratio, as text."""
    return pd.DataFrame(
        {
            "memories": table["arm"],
            "calls": _bounded(table, "calls"),
            "of them replies": table["reply_calls"],
            "input tokens": _bounded(table, "input_tokens"),
            "ratio": [f"{value:.2f}" for value in table["ratio"]],
            "paper's ratio, $": [paper_ratio(name) for name in table["arm"]],
        },
        dtype=object,
    )


def paper_ratio(arm: str) -> str:
    """Return the paper's cost of a system relative to its own, from Table 8, or a dash."""
    table = theanine_table(8)
    rows = table[(table["system"] == arm) & (table["metric"] == "api_cost_ratio")]
    return "–" if rows.empty else f"{float(rows['value'].iloc[0]):.2f}"


def _bounded(table: pd.DataFrame, column: str) -> list[str]:
    return [
        f"{bound} {count:,}".strip()
        for bound, count in zip(table["bound"], table[column], strict=True)
    ]


def _decimal(value: float | None, digits: int = 1) -> str:
    return "–" if value is None or pd.isna(value) else f"{value:.{digits}f}"


def graph_numbers(config: TimelinesConfig, table: pd.DataFrame) -> dict[str, str]:
    """Return what the chapter's text says of the live graphs."""
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
    for conversation in corpus.conversations:
        system = built[conversation.id]
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


def replied_conversations(corpus: Corpus, config: TimelinesConfig) -> list[Conversation]:
    """Return the conversations replies are made for."""
    wanted = config.reply_conversations or (corpus.conversations[0].id,)
    return [corpus.conversation(name) for name in wanted]


def last_session_turns(conversation: Conversation, most: int | None) -> list[NextTurn]:
    """Return the points of the last session at which a reply is wanted."""
    last = max(session.number for session in conversation.sessions)
    return list(next_turns(conversation, sessions=[last]))[:most]


def episode(conversation: Conversation, *, sessions: int) -> Conversation:
    """Return a conversation's first sessions, an episode as THEANINE's data have it."""
    return replace(conversation, sessions=conversation.sessions[:sessions])


def client_of(llm: LLM) -> Client:
    """Return the client that knows what is on record.

    Raises
    ------
    ConfigError
        If the model is none that has a record.
    """
    client = llm.client if isinstance(llm, PlanningLLM) else llm
    if not isinstance(client, Client):
        raise ConfigError("costs are counted from a client's record", got=type(llm).__name__)
    return client
