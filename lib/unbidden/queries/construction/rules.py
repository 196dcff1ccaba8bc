"""The two ways of building queries, the paper's and ours, as rules for each style."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.errors import ConfigError, closest
from unbidden.queries.construction.checking import PROBLEMS, Problem
from unbidden.queries.leaks import MAX_FORBIDDEN

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unbidden.corpus.models import Style
    from unbidden.queries.leaks import LeakMeasure

Protocol = Literal["paper", "repaired"]
PROTOCOLS: tuple[Protocol, ...] = get_args(Protocol)


@dataclass(frozen=True, slots=True)
class Rules:
    """When an attempt at one style is good enough, and how often to try again.

    Attributes
    ----------
    measure : {"paper", "repaired"}
        How the leak is measured.
    threshold : float
        The highest leak allowed, 0..1.
    regenerations : int
        Attempts after the first, at most.
    gates : frozenset of Problem
        Problems that call for another attempt; the others are only noted.
    tells : bool
        Whether the prompt can tell the model what was wrong.
    words : int
        The most words the model is told to avoid.
    """

    measure: LeakMeasure
    threshold: float
    regenerations: int
    gates: frozenset[Problem]
    tells: bool = True
    words: int = MAX_FORBIDDEN

    def __post_init__(self) -> None:
        if self.regenerations < 0 or not 0 <= self.threshold <= 1 or self.words < 1:
            raise ConfigError(
                "the rules of a rewrite are out of range",
                expected="0 or more regenerations, a threshold in 0..1, 1 or more words",
                got=f"{self.regenerations}, {self.threshold}, {self.words}",
                next_step="correct the parameter `rules` or `repair`",
            )


_STAGE_B: Mapping[Style, float] = {"dialog": 0.6, "implicit": 0.2, "counterfactual": 0.3}


def default_rules(protocol: Protocol) -> dict[Style, Rules]:
    """Return the rules of a protocol by style.

    Under "paper" a rewrite is written once, and a composed query is written again up to three
    times while its leak is above 0.10 (section 3.2). Under "repaired" each style is checked for
    everything, up to three regenerations, with the leak limits of the paper's validation and 0.10
    for composed queries.

    Raises
    ------
    ConfigError
        If the protocol is unknown.
    """
    if protocol not in PROTOCOLS:
        raise ConfigError(
            f"unknown protocol {protocol!r}",
            expected=closest(protocol, PROTOCOLS),
            next_step="set the parameter `protocol` to one of these",
        )
    limits: dict[Style, float] = {**_STAGE_B, "composed": 0.10}
    if protocol == "repaired":
        return {s: Rules("repaired", limit, 3, frozenset(PROBLEMS)) for s, limit in limits.items()}
    leaking = frozenset[Problem]({"leak"})
    return {
        style: Rules("paper", limit, 3 if style == "composed" else 0, leaking, tells=False)
        for style, limit in limits.items()
    }
