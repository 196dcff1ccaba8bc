"""All replies and verdicts of the chapter on TeaFarm, in an order in which they are worth having.

A run that records may stop anywhere: what was answered is kept, and first come the replies to
harbour's own questions and our verdicts on them, last the questions a model makes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from unbidden.judge.labelled import load_items
from unbidden.judge.panel import run_forms
from unbidden.judge.teafarm import COLUMNS, judge_tea
from unbidden.judge.teafarm_agents import MESSAGE_RUBRIC, judge_messages, judge_talk
from unbidden.reply.replaying import NO_MEMORY
from unbidden.reply.teafarm import FIXED, fixed_replies, with_items
from unbidden.reply.teafarm.agents import (
    ASKED_COLUMNS,
    Limits,
    agents,
    message_replies,
    query_ids,
    talk_replies,
)
from unbidden.reply.teafarm.choosing import converted, made
from unbidden.reply.teafarm.replies import ORACLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.config import TeafarmConfig
    from unbidden.corpus.models import Corpus
    from unbidden.judge.panel import Run
    from unbidden.judge.rubric import ProtocolName
    from unbidden.llm import LLM
    from unbidden.reply.replaying import Arm
    from unbidden.reply.teafarm import TeaItem, TeaReply

OWN, MADE = "converted", "made"
"""Where a question comes from: LoCoMo-Conv's counterfactual queries, or TeaFarm's procedure."""


@dataclass(frozen=True)
class TeaRuns:
    """What a run of the chapter has.

    Attributes
    ----------
    items : dict of str to list of TeaItem
        By source, unscored ones too.
    replies : list of TeaReply
        In TeaFarm's form, fixed agents too.
    talk : DataFrame
        Verdicts on them: columns of `unbidden.judge.teafarm.COLUMNS`, ``source`` and ``judge``
        (a protocol, or "words").
    messages : DataFrame
        Verdicts on the same items in LoCoMo-Conv's form; `query_id` is the item's.
    missing : DataFrame
        Calls that are not on record, columns `ASKED_COLUMNS`.
    trust : list of Run
        The judge on the labelled set.
    """

    dataset: str
    items: dict[str, list[TeaItem]]
    replies: list[TeaReply]
    talk: pd.DataFrame
    messages: pd.DataFrame
    missing: pd.DataFrame
    trust: list[Run]

    @property
    def asked(self) -> list[TeaItem]:
        """Every item that can be asked."""
        return [item for own in self.items.values() for item in own if item.unscored is None]


def run_teafarm(corpus: Corpus, config: TeafarmConfig, llm: LLM) -> TeaRuns:
    """Return everything the chapter shows; see the module for the order of calls.

    Raises
    ------
    ConfigError, LLMError, BudgetExceeded
        As the agents and the judge.
    """
    arms = agents(
        config.systems,
        top_k=config.top_k,
        memory_tokens=config.memory_tokens,
        own=config.system_options,
    )
    work = _Work(corpus, config, llm, arms)
    items = converted(corpus, config.per_conversation)
    work.add(OWN, items)
    trust = run_forms(
        llm,
        load_items(split="test", rubrics=["teafarm", MESSAGE_RUBRIC]),
        forms=[config.judge_form],
        protocols=config.judge_protocols,
    )
    talks = corpus.conversations[: config.made]
    own, attempts = made(llm, talks, utterances=config.utterances)
    work.missing += [
        _row("question", talk.id, one.calls, one.input_tokens)
        for talk, one in zip(talks, attempts, strict=True)
        if one.calls
    ]
    work.add(MADE, own)
    return work.finished({OWN: items, MADE: own}, trust)


def _row(step: str, home: str, calls: int, tokens: int) -> pd.DataFrame:
    return pd.DataFrame([(step, "", "", home, calls, tokens)], columns=ASKED_COLUMNS)


class _Work:
    """Collects the replies and verdicts of several sources of items."""

    def __init__(
        self, corpus: Corpus, config: TeafarmConfig, llm: LLM, arms: Sequence[Arm]
    ) -> None:
        self.corpus, self.config, self.llm, self.arms = corpus, config, llm, arms
        self.limits = Limits(
            config.memory_tokens,
            config.reply_tokens,
            config.search_with,
            {"embedder": config.embedder},
            config.evidence,
        )
        self.replies: list[TeaReply] = []
        self.talk: list[pd.DataFrame] = []
        self.messages: list[pd.DataFrame] = []
        self.missing: list[pd.DataFrame] = []

    def add(self, source: str, items: Sequence[TeaItem]) -> None:
        """Have all agents reply to items, in both forms, and judge what they say."""
        if not items:
            return
        said, missing = talk_replies(self.corpus, items, self.arms, self.llm, self.limits)
        said += [reply for name in FIXED for reply in fixed_replies(name, items)]
        self.replies += said
        self.missing.append(missing)
        first, *others = self.config.judge_protocols
        self._judge(source, said, first)
        self._message(source, items)
        for protocol in others:
            self._judge(source, said, protocol)
        words = judge_tea(self.corpus.name, said, None)
        self.talk.append(words.assign(source=source, judge="words"))

    def _judge(self, source: str, said: Sequence[TeaReply], protocol: ProtocolName) -> None:
        found, missing = judge_talk(
            self.corpus.name, said, self.llm, protocol=protocol, form=self.config.judge_form
        )
        self.talk.append(found.assign(source=source, judge=protocol))
        self.missing.append(missing)

    def _message(self, source: str, items: Sequence[TeaItem]) -> None:
        """Ask the agents without memory and with the true turns, and the systems chosen."""
        names = {NO_MEMORY, ORACLE, *self.config.asked_systems}
        ready = [item for item in items if item.unscored is None]
        arms = [arm for arm in self.arms if arm.name in names]
        if not ready:
            return
        table, missing = message_replies(
            self.corpus, ready, arms, self.llm, self.limits, model=self.config.answer_model
        )
        questions = with_items(self.corpus, ready)
        found, later = judge_messages(
            questions,
            table,
            self.llm,
            form=self.config.judge_form,
            evidence=self.config.evidence,
        )
        ids = query_ids(ready)
        found = found.assign(query_id=[ids[name] for name in found["query_id"]], source=source)
        self.messages.append(found)
        self.missing += [missing, later]

    def finished(self, items: dict[str, list[TeaItem]], trust: list[Run]) -> TeaRuns:
        """Return all of it."""
        return TeaRuns(
            self.corpus.name,
            items,
            self.replies,
            _joined(self.talk, [*COLUMNS, "source", "judge"]),
            _joined(self.messages, [*COLUMNS, "source"]),
            _joined(self.missing, ASKED_COLUMNS),
            trust,
        )


def _joined(frames: Sequence[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Return the frames as one; the columns are those of the result where there is no row."""
    full = [frame for frame in frames if len(frame)]
    return pd.concat(full, ignore_index=True) if full else pd.DataFrame(columns=list(columns))


def all_items(runs: TeaRuns) -> pd.DataFrame:
    """Return the verdicts in both forms as one long table, without texts.

    Returns
    -------
    DataFrame
        The study's columns of items and ``label, notes, source, judge``; `metric` tells the forms
        apart ("teafarm", "teafarm_words", "counterfactual").
    """
    columns = [*COLUMNS, "source", "judge"]
    messages = runs.messages.assign(judge="repaired").reindex(columns=columns)
    full = [frame for frame in (runs.talk[columns], messages) if len(frame)]
    found = pd.concat(full, ignore_index=True) if full else runs.talk.reindex(columns=columns)
    return found.astype({"category": "Int8", "k": "Int64", "value": "float64"})
