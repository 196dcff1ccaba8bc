"""The rules by which replies are made: ours, and the paper's with each difference a switch.

LoCoMo-Conv's script makes its conditions unequal in several ways (section 9.3 of our notes on it).
`reply_rules("paper")` has them all; ``dataclasses.replace(reply_rules("repaired"), ...)`` sets one.

No switches: the script never retries a failed call on resume, our ledger asks failures again under
either protocol; and the temperature is a setting of the role, so all conditions share it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from unbidden.errors import ConfigError, closest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unbidden.corpus.models import Style

Wording = Literal["neutral", "short", "proactive", "corrective"]
WORDINGS: Mapping[str, str] = {
    "neutral": "reply.v1",
    "short": "reply_short.v1",
    "proactive": "reply_proactive.v1",
    "corrective": "reply_corrective.v1",
}
"""Prompt of each wording; all take the same variables."""

STYLE_WORDINGS: Mapping[Style, Wording] = {
    "implicit": "proactive",
    "composed": "proactive",
    "counterfactual": "corrective",
}
"""A wording for each style, for the ablation of the prompt; other styles stay neutral."""


@dataclass(frozen=True, slots=True)
class ReplyRules:
    """How memories are shown and replies are asked for; the defaults are ours.

    Attributes
    ----------
    turn_lines : {"same", "own"}
        "same" shows a turn in one form, whoever brings it. "own" is the paper's: conditions made
        of turns have a line form of their own, systems' memories another.
    turn_captions : bool
        Whether conditions made of turns show captions of images; the paper's do not.
    one_line : bool
        Whether each memory is put on one line, so that no memory can imitate the prompt.
    memory_tokens : int or None
        Most tokens of all memories of a prompt, by `count_tokens`, the same for every condition.
    history_characters : int or None
        Most characters of the condition ``all_memory``, the paper's only limit.
    clip_marker : bool
        Whether the model is told that something was clipped; it is noted in any case.
    answer_tokens : int
        Output tokens of a reply.
    thinking_tokens : int
        Output tokens on top of them where the model thinks first.
    own_budgets : mapping of str to int
        Output tokens of single conditions in place of these; the paper has 800 for two of them.
    cut_replies : {"unscored", "kept"}
        A reply that the limit cut, or thoughts without a reply: no reply, or all that is there,
        thoughts included. A judge sees the first `unbidden.judge.guards.MAX_TOKENS` of it, so with
        thoughts in front the end of a long reply may be cut off from it.
    thinking_form : {"json", "sections"}
        How thoughts and reply are told apart.
    compressed_tokens : int
        Output tokens of a compression; the paper's 200 cut long ones.
    missing_rewrite : {"unscored", "hint"}
        Without a rewrite: no reply, or a reply to the original search with a hint after the
        message, counted as a rewritten one.
    random_turns : int
        Turns of the condition ``random``, unless it names a `k`; the paper has 3.
    random_seeds : {"key", "order"}
        Random turns depend on the query's id, or on how many were drawn before.
    empty_oracle : {"unscored", "empty"}
        Evidence that names no turn: no reply, or a reply without memories.
    wording : {"neutral", "short", "proactive", "corrective", "by_style"}
        The prompt. One for all is the rule under both protocols: "neutral", or "short", which asks
        for one or two sentences where a model is slow. The others are an ablation.
    no_memory_prompt : {"same", "own"}
        Whether the condition without memory has the prompt of all others.
    oracle_once : bool
        Whether the oracle has one reply where other conditions have several.
    """

    turn_lines: Literal["same", "own"] = "same"
    turn_captions: bool = True
    one_line: bool = True
    memory_tokens: int | None = 3_000
    history_characters: int | None = None
    clip_marker: bool = False
    answer_tokens: int = 300
    thinking_tokens: int = 500
    own_budgets: Mapping[str, int] = field(default_factory=dict)
    cut_replies: Literal["unscored", "kept"] = "unscored"
    thinking_form: Literal["json", "sections"] = "json"
    compressed_tokens: int = 600
    missing_rewrite: Literal["unscored", "hint"] = "unscored"
    random_turns: int = 10
    random_seeds: Literal["key", "order"] = "key"
    empty_oracle: Literal["unscored", "empty"] = "unscored"
    wording: Literal["neutral", "short", "proactive", "corrective", "by_style"] = "neutral"
    no_memory_prompt: Literal["same", "own"] = "same"
    oracle_once: bool = False

    def __post_init__(self) -> None:
        limits = (self.memory_tokens, self.history_characters, self.answer_tokens)
        others = (self.compressed_tokens, self.random_turns, *self.own_budgets.values())
        if any(limit is not None and limit < 1 for limit in (*limits, *others)):
            raise ConfigError(
                "a limit of the reply rules is out of range",
                expected="1 or more, or none",
                got=str(self),
                next_step="correct it",
            )

    def prompt(self, style: Style) -> str:
        """Return the name of the prompt for a plain reply to a message of a style."""
        name = STYLE_WORDINGS.get(style, "neutral") if self.wording == "by_style" else self.wording
        return WORDINGS[name]

    def output_tokens(self, condition: str, *, thinks: bool) -> int:
        """Return the output tokens of a condition."""
        own = self.own_budgets.get(condition)
        return own or self.answer_tokens + (self.thinking_tokens if thinks else 0)


REPAIRED = ReplyRules()
PAPER = ReplyRules(
    turn_lines="own",
    turn_captions=False,
    one_line=False,
    memory_tokens=None,
    history_characters=95_000,
    clip_marker=True,
    thinking_tokens=0,
    own_budgets={"random": 800, "oracle_context": 800},
    cut_replies="kept",
    thinking_form="sections",
    compressed_tokens=200,
    missing_rewrite="hint",
    random_turns=3,
    random_seeds="order",
    empty_oracle="empty",
    no_memory_prompt="own",
    oracle_once=True,
)


def reply_rules(protocol: str) -> ReplyRules:
    """Return the rules of a protocol, "paper" or "repaired".

    >>> reply_rules("paper").output_tokens("random", thinks=False)
    800

    Raises
    ------
    ConfigError
        If the name is unknown.
    """
    known = {"paper": PAPER, "repaired": REPAIRED}
    if protocol not in known:
        raise ConfigError(
            f"unknown protocol {protocol!r}",
            expected=closest(protocol, known),
            next_step="correct the parameter `protocol`",
        )
    return known[protocol]
