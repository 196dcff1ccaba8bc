"""The chapter on replies, from its parameters: replies, verdicts, and what is still to be asked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from unbidden.judge.scoring import (
    model_verdicts,
    similarity_verdicts,
    with_stand_ins,
    word_verdicts,
)
from unbidden.llm.session import PlanningLLM
from unbidden.memory.embed import embedder as load_embedder
from unbidden.memory.presets import all_options
from unbidden.reply.rules import reply_rules
from unbidden.reply.study import Way, reply_all, search, way_name, ways
from unbidden.reply.table import answer_table
from unbidden.report.replies.sample import sampled
from unbidden.report.replies.tables import headline
from unbidden.report.timelines.replays import client_of
from unbidden.retrieval.run import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.config import RepliesConfig
    from unbidden.corpus.models import Corpus
    from unbidden.llm import LLM
    from unbidden.queries.build import Query
    from unbidden.reply.answer import Answer
    from unbidden.reply.rules import ReplyRules
    from unbidden.retrieval.run import Rankings

PLAN = ["prompt", "model", "calls", "on_record", "to_ask", "input_tokens", "output_tokens"]
"""Columns of `still_to_ask`; tokens are estimated, of the output the most there can be."""
JUDGE_NAMES = {"words": "word rule", "similarity": "similarity"}


@dataclass(frozen=True)
class ReplyRun:
    """The replies of a run.

    Attributes
    ----------
    found : dict
        Rankings by system and name.
    answers : list of Answer
        By query, then way.
    table : DataFrame
        The same as a table, with a column ``way`` in the end.
    """

    corpus: Corpus
    queries: list[Query]
    ways: list[Way]
    found: dict[str, dict[str, Rankings]]
    rules: ReplyRules
    answers: list[Answer]
    table: pd.DataFrame


def make_replies(config: RepliesConfig, corpus: Corpus, llm: LLM, asked: LLM) -> ReplyRun:
    """Return the replies of a run.

    Parameters
    ----------
    llm : LLM
        As opened: systems that need a model take in whole conversations, or leave them out.
    asked : LLM
        From `asking`: what replies are asked of.

    Returns
    -------
    ReplyRun
        A conversation whose memories are not on record is left out, with that reason.

    Raises
    ------
    ConfigError, DataError, LLMError, BudgetExceeded
        As `sampled`, `search` and `reply_all`.
    """
    queries = sampled(config, corpus)
    chosen = ways(
        config.systems,
        config.conditions,
        k=config.top_k,
        of=config.condition_system,
        seed=config.seed,
    )
    found = memories_found(config, corpus, queries, chosen, llm)
    rules = rules_of(config)
    answers = reply_all(corpus, queries, chosen, found, asked, rules)
    return ReplyRun(corpus, queries, chosen, found, rules, answers, tabled(config, corpus, answers))


def memories_found(
    config: RepliesConfig,
    corpus: Corpus,
    queries: Sequence[Query],
    chosen: Sequence[Way],
    llm: LLM,
) -> dict[str, dict[str, Rankings]]:
    """Return what each system finds for the queries, set as the chapter's parameters say.

    Raises
    ------
    ConfigError, DataError, LLMError, BudgetExceeded
        As `search`.
    """
    systems = list(dict.fromkeys(way.system for way in chosen if way.system))
    return search(
        corpus,
        queries,
        chosen,
        llm,
        depth=config.top_k,
        rules=Rules(config.max_failed, "unscored"),
        per_system=all_options(systems, config.settings, config.system_options),
        protocol="repaired",
        embedder=config.embedder,
    )


def rules_of(config: RepliesConfig) -> ReplyRules:
    """Return our rules with the limits of the run."""
    return replace(
        reply_rules("repaired"),
        memory_tokens=config.memory_tokens,
        answer_tokens=config.answer_tokens,
        thinking_tokens=2 * config.answer_tokens,
        compressed_tokens=config.memory_tokens,
        wording=config.wording,
    )


def tabled(config: RepliesConfig, corpus: Corpus, answers: Sequence[Answer]) -> pd.DataFrame:
    """Return answers as the table of a run."""
    table = answer_table(corpus.name, config.answer_model, answers)
    return table.assign(way=_ways(table))


def _ways(frame: pd.DataFrame) -> list[str]:
    return [
        way_name(system, condition)
        for system, condition in zip(frame["system"], frame["condition"], strict=True)
    ]


def record_only(llm: LLM) -> PlanningLLM:
    """Return a fresh view of what is on record; it asks nothing, whatever the run does.

    Raises
    ------
    ConfigError
        If the model is none that has a record.
    """
    return PlanningLLM(client_of(llm))


def judge_name(config: RepliesConfig) -> str:
    """Return what tables call the model as a judge."""
    return f"{config.judge_model or config.answer_model}, {config.judge_form}"


def score_replies(
    config: RepliesConfig, corpus: Corpus, table: pd.DataFrame, llm: LLM
) -> pd.DataFrame:
    """Return the verdicts of every judge of the run on a table of replies.

    Parameters
    ----------
    llm : LLM
        From `asking`.

    Returns
    -------
    DataFrame
        Items, with the columns ``judge`` and ``way`` before them.

    Raises
    ------
    ConfigError, DataError, LLMError, BudgetExceeded
        As `model_verdicts`.
    """
    evidence = config.evidence
    frames = []
    if "model" in config.judges:
        found = model_verdicts(
            llm,
            corpus,
            table,
            config.rubrics,
            form=config.judge_form,
            protocol=config.judge_protocol,
            evidence=evidence,
        )
        frames.append(found.assign(judge=judge_name(config)))
    if "words" in config.judges:
        found = word_verdicts(corpus, table, config.rubrics, evidence=evidence)
        frames.append(found.assign(judge=JUDGE_NAMES["words"]))
    if "similarity" in config.judges:
        encoder = load_embedder(config.embedder)
        found = similarity_verdicts(corpus, table, config.rubrics, encoder, evidence=evidence)
        frames.append(found.assign(judge=JUDGE_NAMES["similarity"]))
    items = pd.concat(frames, ignore_index=True)
    items = items.assign(way=_ways(items))
    return items[["judge", "way", *items.columns.drop(["judge", "way"])]]


def by_model(config: RepliesConfig, items: pd.DataFrame) -> pd.DataFrame:
    """Return the model's verdicts of `score_replies`, of each style's headline rubric."""
    own = headline(items)
    return own[own["judge"] == judge_name(config)]


def still_to_ask(
    config: RepliesConfig, corpus: Corpus, table: pd.DataFrame, llm: LLM
) -> pd.DataFrame:
    """Return the calls of a run that only replays or plans, by prompt; nothing is asked.

    A verdict on a reply that is not there yet is counted with a stand-in of usual length. Replies
    that build on other calls (compression, rewriting) are counted once those are on record.

    Returns
    -------
    DataFrame
        Columns `PLAN`; no row where everything was asked.
    """
    if not isinstance(llm, PlanningLLM):
        return pd.DataFrame(columns=PLAN)
    if "model" in config.judges:
        score_replies(config.model_copy(update={"judges": ("model",)}), corpus,
                      with_stand_ins(table), llm)  # fmt: skip
    return planned_calls(llm)


def planned_calls(llm: PlanningLLM) -> pd.DataFrame:
    """Return what was asked of a model that only plans, by prompt; columns `PLAN`."""
    rows = [
        (row.prompt, row.model, row.calls - row.same, row.hits, row.to_ask, row.input_tokens,
         row.output_high)
        for row in llm.plan().rows
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=PLAN)


def shown_plan(table: pd.DataFrame) -> pd.DataFrame:
    """Return `still_to_ask` as text, with its total."""
    if table.empty:
        return table
    sums = table[["calls", "on_record", "to_ask", "input_tokens", "output_tokens"]].sum()
    total = pd.DataFrame([{"prompt": "all", "model": "", **sums.to_dict()}])
    both = pd.concat([table, total], ignore_index=True)
    return pd.DataFrame(
        {
            "prompt": both["prompt"],
            "model": both["model"],
            "calls": [int(value) for value in both["calls"]],
            "on record": [int(value) for value in both["on_record"]],
            "still to ask": [int(value) for value in both["to_ask"]],
            "input tokens": [int(value) for value in both["input_tokens"]],
            "output tokens, at most": [int(value) for value in both["output_tokens"]],
        },
        dtype=object,
    )
