"""Replies of replayed sessions as the chapter on timelines shows them, and what they cost."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.corpus.replay import next_turns
from unbidden.errors import ConfigError
from unbidden.llm.client import Client
from unbidden.llm.session import PlanningLLM
from unbidden.reply.bootstrap import paired_bootstrap
from unbidden.reply.metrics import score_replies
from unbidden.report.published import theanine_table
from unbidden.report.tables import with_interval
from unbidden.stats import clustered_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.config import TimelinesConfig
    from unbidden.corpus.models import Conversation, Corpus
    from unbidden.corpus.replay import NextTurn
    from unbidden.llm import LLM
    from unbidden.reply.replaying import Reply


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
    low, high = (table[name].astype(float).clip(0, 1) for name in ("low", "high"))
    return pd.DataFrame(
        {
            "memories": table["arm"],
            "n": table["n"],
            "unscored": table["unscored"],
            "BLEU-4": [_decimal(value, 2) for value in table["bleu4"]],
            "ROUGE-L": [with_interval(*triple) for triple in zip(rouge, low, high, strict=True)],
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


def replied_conversations(
    corpus: Corpus, config: TimelinesConfig, first: str
) -> list[Conversation]:
    """Return the conversations replies are made for: those asked for, else the first."""
    wanted = config.reply_conversations or (first,)
    return [corpus.conversation(name) for name in wanted]


def last_session_turns(conversation: Conversation, most: int | None) -> list[NextTurn]:
    """Return the points of the last session at which a reply is wanted."""
    last = max(session.number for session in conversation.sessions)
    return list(next_turns(conversation, sessions=[last]))[:most]


def shown_costs(table: pd.DataFrame) -> pd.DataFrame:
    """Return what each arm costs beside the paper's ratio, as text."""
    return pd.DataFrame(
        {
            "memories": table["arm"],
            "calls": _bounded(table, "calls"),
            "of them replies": table["reply_calls"],
            "input tokens": _bounded(table, "input_tokens"),
            "ratio": [_decimal(value, 2) for value in table["ratio"]],
            "paper's ratio, $": [paper_ratio(name) for name in table["arm"]],
        },
        dtype=object,
    )


def paper_ratio(arm: str) -> str:
    """Return the paper's cost of a system relative to its own, from Table 8, or a dash.

    The paper's own system asks about every pair, so its figures stand beside the arms that do.
    """
    every = ", every pair asked"
    table = theanine_table(8)
    stops_early = {"theanine", "theanine-no-refinement"}
    arm = "" if arm in stops_early else arm.removesuffix(every)
    rows = table[(table["system"] == arm) & (table["metric"] == "api_cost_ratio")]
    return "–" if rows.empty else f"{float(rows['value'].iloc[0]):.2f}"


def _bounded(table: pd.DataFrame, column: str) -> list[str]:
    return [
        f"{bound} {count:,}".strip()
        for bound, count in zip(table["bound"], table[column], strict=True)
    ]


def _decimal(value: float | None, digits: int = 1) -> str:
    return "–" if value is None or pd.isna(value) else f"{value:.{digits}f}"


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
