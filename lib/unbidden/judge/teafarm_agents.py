"""TeaFarm's agents judged in both forms, conversation by conversation, and what is left to ask."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.judge.replies import judge_replies
from unbidden.judge.teafarm import COLUMNS, METRIC, judge_tea
from unbidden.llm.attempt import attempt, planned
from unbidden.llm.client import Client
from unbidden.llm.session import PlanningLLM
from unbidden.reply.teafarm.agents import ASKED_COLUMNS
from unbidden.reply.teafarm.choosing import NOT_RECORDED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import Corpus
    from unbidden.judge.rubric import Form, ProtocolName
    from unbidden.llm.base import LLM
    from unbidden.reply.teafarm import TeaReply

MESSAGE_RUBRIC = "counterfactual"
WAITING = f"{NOT_RECORDED}: a verdict of this conversation"
_STAND_IN = "Some twenty words stand here for a reply that has not been made yet, so that a call "
_PLANNED = "planned"


def judge_talk(
    dataset: str,
    replies: Sequence[TeaReply],
    llm: LLM,
    *,
    protocol: ProtocolName = "repaired",
    form: Form = "json",
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the verdicts on replies in TeaFarm's form, and the calls that are missing.

    Returns
    -------
    DataFrame
        As from `judge_tea`; a verdict that is not on record is unscored.
    DataFrame
        Columns `ASKED_COLUMNS`. A reply that is itself missing counts as one verdict to come, at
        the length of a usual reply.

    Raises
    ------
    ConfigError, LLMError, BudgetExceeded
        As `judge_tea`.
    """
    groups: dict[tuple[str, str], list[TeaReply]] = {}
    for reply in replies:
        groups.setdefault((reply.agent, reply.item.conversation), []).append(reply)
    frames, missing = [], []
    for (agent, home), own in groups.items():
        ask = partial(_talk, dataset, protocol=protocol, form=form)
        done = attempt(llm, partial(ask, own))
        frames.append(_unjudged(dataset, own) if done.value is None else done.value)
        later = [
            replace(reply, text=_stand_in(agent), unscored=None)
            for reply in own
            if waits(reply.unscored)
        ]
        calls, tokens = _to_come(llm, partial(ask, later)) if later else (0, 0)
        calls, tokens = calls + done.calls, tokens + done.input_tokens
        if calls:
            missing.append(("verdict", agent, protocol, home, calls, tokens))
    found = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)
    return found, pd.DataFrame(missing, columns=ASKED_COLUMNS)


def _talk(
    dataset: str, replies: Sequence[TeaReply], llm: LLM, *, protocol: ProtocolName, form: Form
) -> pd.DataFrame:
    return judge_tea(dataset, replies, llm, protocol=protocol, form=form)


def _unjudged(dataset: str, replies: Sequence[TeaReply]) -> pd.DataFrame:
    """Return the rows of replies whose verdicts are not on record."""
    blank = [replace(reply, text=None, unscored=reply.unscored or WAITING) for reply in replies]
    frame = judge_tea(dataset, blank, None).assign(metric=METRIC)
    return _waiting(frame, [reply.text is not None for reply in replies])


def _waiting(frame: pd.DataFrame, replied: Sequence[bool]) -> pd.DataFrame:
    """Say of items whose reply is there that their verdict is what is missing."""
    reasons = frame["unscored"].to_list()
    pairs = zip(reasons, replied, strict=True)
    return frame.assign(unscored=[WAITING if there else reason for reason, there in pairs])


def judge_messages(
    corpus: Corpus,
    table: pd.DataFrame,
    llm: LLM,
    *,
    form: Form = "json",
    evidence: EvidencePolicy = "paper",
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the verdicts on replies in LoCoMo-Conv's form, and the calls that are missing.

    Parameters
    ----------
    corpus : Corpus
        Whose questions are the items (`unbidden.reply.teafarm.with_items`).
    table : DataFrame
        From `message_replies`.
    evidence : {"paper", "repaired"}
        How its queries' gold turns were read.

    Returns
    -------
    DataFrame
        As from `unbidden.judge.replies.judge_replies`, rubric "counterfactual".
    DataFrame
        As from `judge_talk`.
    """
    frames, missing = [], []
    for (agent, home), own in table.groupby(["system", "conversation"], sort=False):
        ask = partial(_messages, corpus, form=form, evidence=evidence)
        done = attempt(llm, partial(ask, own))
        if done.value is None:
            unjudged = own.assign(text=None, unscored=own["unscored"].fillna(WAITING))
            blank = ask(unjudged, llm)
            frames.append(_waiting(blank, [text is not None for text in own["text"]]))
        else:
            frames.append(done.value)
        later = own[own["unscored"].map(waits)]
        calls, tokens = 0, 0
        if len(later):
            stood = later.assign(text=_stand_in(str(agent)), unscored=None)
            calls, tokens = _to_come(llm, partial(ask, stood))
        calls, tokens = calls + done.calls, tokens + done.input_tokens
        if calls:
            missing.append(("message verdict", agent, "repaired", home, calls, tokens))
    found = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=COLUMNS)
    return found, pd.DataFrame(missing, columns=ASKED_COLUMNS)


def _messages(
    corpus: Corpus, table: pd.DataFrame, llm: LLM, *, form: Form, evidence: EvidencePolicy
) -> pd.DataFrame:
    return judge_replies(llm, corpus, table, rubrics=[MESSAGE_RUBRIC], form=form, evidence=evidence)


def waits(reason: str | None) -> bool:
    """Return whether something is unscored only because this run makes no call for it.

    >>> waits("not on record: a model call"), waits("timeout: slow"), waits(None)
    (True, False, False)
    """
    return (
        reason is not None and not pd.isna(reason) and (NOT_RECORDED in reason or _planned(reason))
    )


def _planned(reason: str) -> bool:
    return any(part.strip() == _PLANNED for part in reason.split(":"))


def _stand_in(agent: str) -> str:
    """Return a text of a usual reply's length, another for each agent: equal calls count once."""
    return f"{_STAND_IN}is counted for {agent}."


def _to_come(llm: LLM, ask: Callable[[LLM], Any]) -> tuple[int, int]:
    """Count the verdicts on replies that are still to be made; a planning model counts them too."""
    if isinstance(llm, PlanningLLM):
        ask(llm)
        return 0, 0
    if not isinstance(llm, Client):
        return 0, 0
    counting = PlanningLLM(llm)
    ask(counting)
    return planned(counting.plan())
