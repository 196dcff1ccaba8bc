"""Replies to queries under a memory condition: one call each, and what a user would see of it.

Every reply that is not there has a reason: the memories could not be had, the call failed, the
output was cut, or it held thoughts alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from unbidden.llm import Call
from unbidden.llm.reaching import reached
from unbidden.llm.schemas_reply import SelectedReply, ThoughtReply
from unbidden.reply.render import Rendered, render
from unbidden.reply.sections import Parted, sections, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import TurnId
    from unbidden.llm import LLM, Outcome
    from unbidden.queries.build import Query
    from unbidden.reply.conditions.base import Condition, Remembered, Thinking
    from unbidden.reply.material import Material
    from unbidden.reply.rules import ReplyRules

NO_SYSTEM = "none"
"""System of a condition that needs none."""
ANYBODY = "The user"
"""Who says a plain question, which nobody in the conversation asks."""
THOUGHTS_ONLY = "thoughts without a reply"
EMPTY = "empty: no text"

_THINKING_PROMPTS = {
    ("think", "json"): "reply_think.v1",
    ("select", "json"): "reply_select.v1",
    ("think", "sections"): "reply_think_text.v1",
    ("select", "sections"): "reply_select_text.v1",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A reply, or the reason why there is none.

    Attributes
    ----------
    system, condition : str
        Whose memories, and how they were given.
    k : int or None
        Memories asked for.
    repeat : int
        Index of the repetition.
    text : str or None
        What the user sees; None if unscored.
    thoughts : str
        What the model wrote besides.
    cited : tuple of int
        Numbers of the memories it chose, from 1, among those shown.
    memories : tuple of str
        As they were shown.
    turns : tuple of TurnId
        Their source turns, in order of first appearance.
    tokens : int
        Of the memories, by `count_tokens`.
    notes : tuple of str
        What was clipped, missing or odd.
    unscored : str or None
        Why there is no reply.
    key : str
        The call's key in the ledger; empty if none was made.
    """

    query: Query
    system: str
    condition: str
    k: int | None
    repeat: int
    text: str | None
    thoughts: str = ""
    cited: tuple[int, ...] = ()
    memories: tuple[str, ...] = ()
    turns: tuple[TurnId, ...] = ()
    tokens: int = 0
    notes: tuple[str, ...] = ()
    unscored: str | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class _Asked:
    """A reply that is to be asked for."""

    position: int
    rendered: Rendered
    call: Call


def answer(material: Material, condition: Condition, llm: LLM, *, repeat: int = 0) -> list[Answer]:
    """Return one reply for each query of the material, in order.

    Only calls of the role "answer" are made here, and by the condition `compressed` one of the role
    "memory" each; a condition that says its reply itself needs none. What systems found is taken as
    it is: nothing is stored or searched for.

    Parameters
    ----------
    repeat : int
        Index of a repetition: another seed for the same calls.

    Raises
    ------
    ConfigError
        If the condition lacks what it draws on.
    LLMError, BudgetExceeded
        As `LLM.ask_many` and `reached`.
    """
    rules = material.rules
    if rules.oracle_once and condition.gold:
        repeat = 0
    system = NO_SYSTEM
    if condition.rankings is not None:
        system = material.ranking(condition.rankings).system
    found = condition.remember(material)
    blank = [
        Answer(query, system, condition.name, condition.k, repeat, None, notes=one.notes)
        for query, one in zip(material.queries, found, strict=True)
    ]
    asked = [
        _asked(material, condition, i, one, repeat)
        for i, one in enumerate(found)
        if one.unscored is None and one.said is None
    ]
    answers = [
        replace(one, unscored=f"no memories: {remembered.unscored}")
        if remembered.said is None
        else replace(one, text=remembered.said)
        for one, remembered in zip(blank, found, strict=True)
    ]
    label = f"replies, {system}, {condition.name}"
    outcomes = reached(llm.ask_many([item.call for item in asked], label=label)) if asked else []
    for item, outcome in zip(asked, outcomes, strict=True):
        answers[item.position] = _read(
            blank[item.position], item.rendered, outcome, condition.thinking, rules
        )
    return answers


def answer_all(
    material: Material, conditions: Sequence[Condition], llm: LLM, *, repeats: int = 1
) -> list[Answer]:
    """Return the replies under several conditions, one after the other, `repeats` times each.

    Raises as `answer` does.
    """
    return [
        one
        for condition in conditions
        for repeat in range(repeats)
        if not (repeat and condition.gold and material.rules.oracle_once)
        for one in answer(material, condition, llm, repeat=repeat)
    ]


def _asked(
    material: Material, condition: Condition, position: int, one: Remembered, repeat: int
) -> _Asked:
    rules, query = material.rules, material.queries[position]
    rendered = render(
        one.memories, material.places(query), rules, keep=one.keep, history=one.history
    )
    variables: dict[str, Any] = {
        "memories": list(rendered.lines),
        "speaker": query.speaker or ANYBODY,
        "message": " ".join(query.text.split()),
    }
    if condition.thinking != "none":
        prompt = _THINKING_PROMPTS[condition.thinking, rules.thinking_form]
    elif one.hint:
        prompt = "reply_hint.v1"
    elif condition.name == "no_memory" and rules.no_memory_prompt == "own":
        prompt = "reply_no_memory.v1"
        del variables["memories"]
    else:
        prompt = rules.prompt(query.style)
    limit = rules.output_tokens(condition.name, thinks=condition.thinking != "none")
    return _Asked(position, rendered, Call(prompt, variables, repeat=repeat, max_tokens=limit))


def _read(
    blank: Answer,
    rendered: Rendered,
    outcome: Outcome[Any],
    thinking: Thinking,
    rules: ReplyRules,
) -> Answer:
    sources = (turn for memory in rendered.shown for turn in memory.sources)
    shown = replace(
        blank,
        memories=rendered.lines,
        turns=tuple(dict.fromkeys(sources)),
        tokens=rendered.tokens,
        notes=(*blank.notes, *rendered.notes),
        key=outcome.key,
    )
    kept = rules.cut_replies == "kept"
    if not outcome.ok and not (kept and outcome.status == "truncated" and outcome.text.strip()):
        return replace(shown, unscored=outcome.unscored)
    parted = _parted(outcome, thinking, rules)
    cited = tuple(number for number in parted.cited if 1 <= number <= len(rendered.shown))
    notes = shown.notes
    if len(cited) < len(parted.cited):
        notes += (f"{len(parted.cited) - len(cited)} cited memories do not exist",)
    shown = replace(shown, thoughts=parted.thoughts, cited=cited, notes=notes)
    if parted.reply is not None:
        cut = () if outcome.ok else ("the reply is cut",)
        return replace(shown, text=parted.reply, notes=(*notes, *cut))
    if kept and outcome.text.strip():
        note = "no reply was told apart: thoughts and all stand for it"
        return replace(shown, text=outcome.text.strip(), notes=(*notes, note))
    return replace(shown, unscored=THOUGHTS_ONLY if outcome.text.strip() else EMPTY)


def _parted(outcome: Outcome[Any], thinking: Thinking, rules: ReplyRules) -> Parted:
    value = outcome.value
    if isinstance(value, SelectedReply):
        chosen = tuple(dict.fromkeys(memory.number for memory in value.used))
        adds = [f"[{memory.number}] {memory.adds}" for memory in value.used]
        return Parted(value.reply.strip(), "\n".join([value.situation, *adds]), chosen)
    if isinstance(value, ThoughtReply):
        return Parted(value.reply.strip(), value.situation)
    if thinking == "none":
        return visible(outcome.text)
    if rules.thinking_form == "sections":
        return sections(outcome.text)
    return Parted(None, outcome.text)
