"""Phase II-2: timelines rewritten for the reply at hand (THEANINE section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.llm.schemas_theanine import RefinedTimeline, RefinedTimelines
from unbidden.memory.modelled import checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.memory.calls import CountedCalls
    from unbidden.memory.theanine.timelines import Timeline

RefineMode = Literal["off", "per_timeline", "joint"]
REFINE_MODES: tuple[RefineMode, ...] = get_args(RefineMode)

ONE, ALL = "theanine_refine.v1", "theanine_refine_joint.v1"


@dataclass(frozen=True, slots=True)
class Refined:
    """What a reply is given to read of some timelines.

    Attributes
    ----------
    text : str
        The rewritten text, or the timelines as they are where there is none.
    timelines : tuple of Timeline
        What it comes from: one, or all of a turn if they were rewritten together.
    unscored : str or None
        Why it is not rewritten although it should be; None if it is, or need not be.
    """

    text: str
    timelines: tuple[Timeline, ...]
    unscored: str | None = None


def refine(
    timelines: Sequence[Timeline],
    dialogue: Sequence[str],
    calls: CountedCalls,
    mode: RefineMode,
    *,
    dates: bool = False,
) -> list[Refined]:
    """Return the texts of timelines for a dialogue.

    A timeline of one memory is rewritten too, as in the released code. Where a call fails, its
    timelines stay as they are and the reason is kept.

    Parameters
    ----------
    dialogue : sequence of str
        Lines of the current session up to now, with their speakers.
    mode : {"off", "per_timeline", "joint"}
        "per_timeline": a call each (the released code). "joint": one call for all, which the
        released outputs suggest; its texts cannot be told apart by source, so they are one.
        "off": the ablation "w/o Timeline Refinement", no call.
    dates : bool
        Whether events show the day of their session.
    """
    raw = [timeline.text(dates=dates) for timeline in timelines]
    if mode == "off" or not timelines:
        return [Refined(text, (line,)) for text, line in zip(raw, timelines, strict=True)]
    if mode == "joint":
        outcome = calls.ask(ALL, {"timelines": raw, "dialogue": list(dialogue)})
        if not outcome.ok:
            return [Refined("\n".join(raw), tuple(timelines), outcome.unscored)]
        texts = checked(outcome.value, RefinedTimelines, ALL).memories
        return [Refined("\n".join(text.strip() for text in texts), tuple(timelines))]
    items = [(ONE, {"timeline": text, "dialogue": list(dialogue)}) for text in raw]
    outcomes = calls.ask_many(items, label="THEANINE refinement")
    return [
        Refined(checked(outcome.value, RefinedTimeline, ONE).memory.strip(), (timeline,))
        if outcome.ok
        else Refined(text, (timeline,), outcome.unscored)
        for text, timeline, outcome in zip(raw, timelines, outcomes, strict=True)
    ]
