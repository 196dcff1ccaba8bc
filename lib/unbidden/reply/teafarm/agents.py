"""Agents put to TeaFarm's questions one conversation at a time, in both forms.

In TeaFarm's form an agent is the other speaker and says the next line of the talk. In LoCoMo-Conv's
form it is an assistant that is sent the same message and replies. What a replayed run has no answer
for on record is unscored, conversation by conversation, and counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.llm.attempt import attempt
from unbidden.queries.build import build_queries
from unbidden.reply.answer import Answer, answer
from unbidden.reply.conditions import condition
from unbidden.reply.material import ORIGINAL, Material
from unbidden.reply.replaying import NO_MEMORY, Arm
from unbidden.reply.rules import REPAIRED
from unbidden.reply.table import answer_table
from unbidden.reply.teafarm.choosing import NOT_RECORDED
from unbidden.reply.teafarm.convert import STYLE, with_items
from unbidden.reply.teafarm.replies import ORACLE, TeaReply, tea_replies
from unbidden.retrieval.run import retrieve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import Conversation, Corpus
    from unbidden.llm import LLM
    from unbidden.queries.build import Query
    from unbidden.reply.conditions import Condition
    from unbidden.reply.teafarm.items import TeaItem

PUBLISHED_K = {"theanine": 3, "msc-retrieval": 6}
WAITING = f"{NOT_RECORDED}: a model call of this conversation"
ASKED_COLUMNS = ["step", "agent", "protocol", "conversation", "calls", "input_tokens"]
"""Of what is still to be asked."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What all agents share in both forms.

    Attributes
    ----------
    memory_tokens, reply_tokens : int
        Most tokens of memories and of a reply.
    search_with : {"dialogue", "question"}
        See `tea_replies`.
    options : mapping, optional
        Of systems that take them.
    evidence : {"paper", "repaired"}
        How the turns that show the truth are read.
    """

    memory_tokens: int
    reply_tokens: int
    search_with: Any = "dialogue"
    options: Mapping[str, Any] | None = None
    evidence: EvidencePolicy = "paper"

    @property
    def shared(self) -> dict[str, Any]:
        """Options of every system that takes them."""
        return {"protocol": "repaired", **(self.options or {})}


def agents(
    systems: Sequence[str],
    *,
    top_k: int,
    memory_tokens: int,
    own: Mapping[str, Mapping[str, Any]],
) -> list[Arm]:
    """Return the agents of a run: one without memory, one with the true turns, and the systems.

    Parameters
    ----------
    top_k : int
        Memories asked for, but see `PUBLISHED_K`.
    memory_tokens : int
        The whole history keeps the last turns that fit into it.
    own : mapping of str to mapping
        Options by system name.
    """
    fitted: dict[str, dict[str, Any]] = {"full-history": {"budget": memory_tokens}}
    return [
        Arm(NO_MEMORY, NO_MEMORY, 0, {}),
        Arm(ORACLE, ORACLE, 0, {}),
        *(
            Arm(
                name,
                name,
                PUBLISHED_K.get(name, top_k),
                {**fitted.get(name, {}), **own.get(name, {})},
            )
            for name in systems
        ),
    ]


def talk_replies(
    corpus: Corpus, items: Sequence[TeaItem], arms: Sequence[Arm], llm: LLM, limits: Limits
) -> tuple[list[TeaReply], pd.DataFrame]:
    """Return the replies in TeaFarm's form, agent by agent, and the calls that are missing.

    Returns
    -------
    list of TeaReply
        One for each agent and item.
    DataFrame
        Columns `ASKED_COLUMNS`, one row for each agent and conversation that is not on record.

    Raises
    ------
    ConfigError, LLMError, BudgetExceeded
        As `tea_replies`.
    """
    replies: list[TeaReply] = []
    missing: list[tuple[Any, ...]] = []
    for arm in arms:
        for talk, own in _by_conversation(corpus, items):
            done = attempt(llm, partial(_talk, talk, own, arm, limits))
            replies += done.value or [
                TeaReply(item, arm.name, arm.k or None, None, unscored=item.unscored or WAITING)
                for item in own
            ]
            if done.value is None:
                missing.append(("reply", arm.name, "", talk.id, done.calls, done.input_tokens))
    return replies, pd.DataFrame(missing, columns=ASKED_COLUMNS)


def _talk(
    talk: Conversation, items: Sequence[TeaItem], arm: Arm, limits: Limits, llm: LLM
) -> list[TeaReply]:
    return tea_replies(
        talk,
        items,
        [arm],
        llm,
        search_with=limits.search_with,
        evidence=limits.evidence,
        memory_tokens=limits.memory_tokens,
        reply_tokens=limits.reply_tokens,
        **limits.shared,
    )


def message_replies(
    corpus: Corpus,
    items: Sequence[TeaItem],
    arms: Sequence[Arm],
    llm: LLM,
    limits: Limits,
    *,
    model: str,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the replies to the same items as LoCoMo-Conv's counterfactual queries.

    Returns
    -------
    DataFrame
        A table of replies (`unbidden.reply.table`) whose `system` is the agent.
    DataFrame
        As from `talk_replies`.

    Raises
    ------
    ConfigError, LLMError, BudgetExceeded
        As `retrieve` and `answer`.
    """
    questions = with_items(corpus, items)
    queries = build_queries(questions, styles=[STYLE], evidence=limits.evidence)
    answers: list[Answer] = []
    missing: list[tuple[Any, ...]] = []
    for arm in arms:
        for talk, _ in _by_conversation(corpus, items):
            own = [query for query in queries if query.conversation == talk.id]
            if not own:
                continue
            done = attempt(llm, partial(_message, questions, own, arm, limits))
            answers += done.value or [
                Answer(query, arm.name, "waiting", arm.k or None, 0, None, unscored=WAITING)
                for query in own
            ]
            if done.value is None:
                missing.append(("message", arm.name, "", talk.id, done.calls, done.input_tokens))
    return (
        answer_table(corpus.name, model, answers),
        pd.DataFrame(missing, columns=ASKED_COLUMNS),
    )


def _message(
    corpus: Corpus, queries: Sequence[Query], arm: Arm, limits: Limits, llm: LLM
) -> list[Answer]:
    rules = replace(REPAIRED, memory_tokens=limits.memory_tokens, answer_tokens=limits.reply_tokens)
    rankings = {}
    if arm.system not in (NO_MEMORY, ORACLE):
        (found,) = retrieve(
            corpus,
            queries,
            [arm.system],
            depth=arm.k,
            per_system={arm.system: arm.options},
            llm=llm,
            **limits.shared,
        )
        rankings[ORIGINAL] = found
    material = Material(corpus, queries, rankings, llm, rules)
    said = answer(material, _condition(arm), llm)
    return [replace(one, system=arm.name) for one in said]


def _condition(arm: Arm) -> Condition:
    if arm.system == NO_MEMORY:
        return condition("no_memory")
    return condition("oracle") if arm.system == ORACLE else condition("top_k", k=arm.k)


def query_ids(items: Sequence[TeaItem]) -> dict[str, str]:
    """Return the item's id for each query that `with_items` makes of these items."""
    found: dict[str, str] = {}
    counts: dict[str, int] = {}
    for item in items:
        if item.unscored is None:
            place = counts.get(item.conversation, 0)
            counts[item.conversation] = place + 1
            found[f"{item.conversation}#{place}"] = item.id
    return found


def _by_conversation(
    corpus: Corpus, items: Sequence[TeaItem]
) -> list[tuple[Conversation, list[TeaItem]]]:
    grouped = [
        (talk, [item for item in items if item.conversation == talk.id])
        for talk in corpus.conversations
    ]
    return [(talk, own) for talk, own in grouped if own]
