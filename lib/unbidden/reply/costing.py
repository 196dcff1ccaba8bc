"""What a way to remember costs for one session of replies, in calls and tokens, before any is paid.

The paper's Table 8 gives dollars of an endpoint; calls and input tokens can be counted for every
system in the same way, from the same texts, whether or not a model was asked.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.llm.base import LLM, Call
from unbidden.llm.outcome import Outcome
from unbidden.llm.tokens import estimate_messages
from unbidden.memory.theanine.refining import ALL, ONE
from unbidden.reply.replaying import PROMPT, Arm, replay_replies

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.corpus.models import Conversation
    from unbidden.corpus.replay import NextTurn
    from unbidden.llm.client import Client

COST_ARMS = (
    Arm("memory-update", "memory-update", 6, {"candidates": None, "per_call": "pair"}),
    Arm("full-history", "full-history", 1, {}),
    Arm("all-memories", "all-memories", 1, {"form": "whole"}),
    Arm("rsum", "rsum", 1, {}),
    Arm("memochat", "memochat", 3, {}),
    Arm("comedy", "comedy", 1, {}),
    Arm(
        "theanine, every pair asked",
        "theanine",
        3,
        {"dialogues": "none", "early_stop": False, "refine_mode": "per_timeline"},
    ),
    Arm(
        "theanine-no-refinement, every pair asked",
        "theanine",
        3,
        {"dialogues": "none", "early_stop": False},
    ),
    Arm(
        "theanine, dialogues shown",
        "theanine",
        3,
        {"dialogues": "session", "refine_mode": "per_timeline"},
    ),
)
"""The paper's other systems; THEANINE as its Algorithm 1 is printed, without stopping early; and
with the relation prompt as the paper describes it, with both dialogues. The costs the paper prints
fit the former."""

PRINTED = "theanine, every pair asked"
"""The arm whose cost is 1, as the paper's Table 8 has it."""

BOUNDS = {
    **dict.fromkeys(("rsum", "memochat", "comedy"), "at least"),
    **dict.fromkeys(
        ("theanine", "theanine-no-refinement", "memory-update", "theanine, dialogues shown"),
        "at most",
    ),
}
"""What a count is while answers are not on record: calls that build on answers are left out; pairs
that stopping early, or merging, would have spared are counted."""


_LAST = frozenset({PROMPT, ONE, ALL})
"""Prompts whose answers change no further call's being made."""


class CountingLLM(LLM):
    """Answers what is on record and counts every call and its input tokens; it asks nothing.

    Attributes
    ----------
    calls, tokens : Counter
        By prompt; a call repeated word for word counts each time, as a system without the study's
        record would pay for it.
    unanswered : Counter
        Those that are not on record.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self.calls: Counter[str] = Counter()
        self.tokens: Counter[str] = Counter()
        self.unanswered: Counter[str] = Counter()

    def ask_many(self, calls: Iterable[Call], *, label: str = "") -> list[Outcome[Any]]:
        """Return known outcomes, and "planned" for the rest."""
        outcomes: list[Outcome[Any]] = []
        for call in calls:
            item = self._client.prepare(call)
            self.calls[call.prompt_name] += 1
            self.tokens[call.prompt_name] += estimate_messages(item.forms[0].body["messages"])
            found = self._client.known(item)
            self.unanswered[call.prompt_name] += found is None
            outcomes.append(found or Outcome("planned", "only counted"))
        return outcomes


def session_costs(
    conversation: Conversation,
    turns: Sequence[NextTurn],
    arms: Sequence[Arm],
    client: Client,
    *,
    base: str = PRINTED,
    **options: Any,
) -> pd.DataFrame:
    """Return what each arm costs for the replies of some turns, its memories included.

    An arm that shows as many memories as another is left out: it would cost both.

    Returns
    -------
    DataFrame
        Columns ``arm, calls, reply_calls, input_tokens, unanswered`` (calls not on record, whose
        answers other calls may build on), ``bound`` ("at least", "at most" or "") and ``ratio`` of
        input tokens to those of the arm `base`, missing without it.
    """
    rows = []
    for arm in arms:
        if arm.as_many_as is not None:
            continue
        counting = CountingLLM(client)
        replay_replies(conversation, turns, [arm], counting, memory_tokens=None, **options)
        rows.append(
            {
                "arm": arm.name,
                "calls": sum(counting.calls.values()),
                "reply_calls": counting.calls[PROMPT],
                "input_tokens": sum(counting.tokens.values()),
                "unanswered": counting.unanswered.total(),
                "bound": BOUNDS.get(arm.name, "") if _open(counting) else "",
            }
        )
    frame = pd.DataFrame(rows)
    one = frame.loc[frame["arm"] == base, "input_tokens"]
    return frame.assign(ratio=frame["input_tokens"] / (one.iloc[0] if len(one) else float("nan")))


def _open(counting: CountingLLM) -> bool:
    """Return whether calls are unanswered that other calls build on."""
    return any(n for prompt, n in counting.unanswered.items() if prompt not in _LAST)
