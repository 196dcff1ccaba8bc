"""The parts of the search, how much each weighs, and the ablations that leave each out."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

from unbidden.errors import ConfigError
from unbidden.memory.units import one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

Fusion = Literal["scores", "ranks"]
FUSIONS: tuple[Fusion, ...] = ("scores", "ranks")


@dataclass(frozen=True, slots=True)
class Parts:
    """How a turn's score is put together.

    The unit of the score is one standard deviation of cosines between a message and the turns of
    a conversation. A weight of 0 leaves a part out. The defaults were chosen on `harbour` alone,
    and rounded; see the guide, "Our own system".

    Attributes
    ----------
    words : float
        Per unit of Okapi BM25. Word scores are taken as they are, not by rank: a message that
        shares no rare word with any turn then leaves the order to meaning.
    who : float
        For a turn said by the person who speaks now. What people need to be reminded of is mostly
        what they told themselves.
    substance : float
        Per standard deviation of a turn's information content (see `cues.information`), which
        moves greetings and echoes down.
    answers : float
        Share of a question's score that passes to the turn after it.
    links : float
        Weight of the mean score of the turns nearest in meaning, over all sessions.
    feedback : float
        Weight of the mean vector of the best turns of a first search in that of a second.
    facets : float
        From 0 (the message as a whole) to 1 (only its best-matching part, turn by turn).
    situations : float
        From 0 to 1: how far a turn is matched by the best of its cues in place of its own words.
        Of no effect without a model, which writes the cues.
    causes : float
        Share of the score of a turn that passes to its causes and consequences, as a model names
        them.
    neighbours : int
        Links of each turn.
    feedback_turns : int
        Best turns taken for `feedback`.
    fusion : {"scores", "ranks"}
        How meaning and words are joined. "ranks" is reciprocal rank fusion, as in `rrf`,
        standardised; `words` is then only on or off.
    """

    words: float = 0.2
    who: float = 2.0
    substance: float = 0.5
    answers: float = 0.2
    links: float = 0.2
    feedback: float = 0.2
    facets: float = 0.0
    situations: float = 1.0
    causes: float = 0.2
    neighbours: int = 3
    feedback_turns: int = 5
    fusion: Fusion = "scores"

    def __post_init__(self) -> None:
        one_of("fusion", self.fusion, FUSIONS)
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name == "fusion":
                continue
            low, high = _RANGES.get(item.name, (0, 100))
            if not low <= value <= high:
                raise ConfigError(
                    f"the option {item.name!r} is out of range",
                    expected=f"{low} to {high:g}",
                    got=repr(value),
                    next_step="correct `system_options`",
                )


_RANGES = {
    "facets": (0, 1),
    "situations": (0, 1),
    "neighbours": (1, 1000),
    "feedback_turns": (1, 1000),
}
_WALK = {"substance": 0.0, "answers": 0.0, "links": 0.0, "feedback": 0.0}

ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    name: {"parts": parts}
    for name, parts in {
        "whole": {},
        "no words": {"words": 0.0},
        "no who": {"who": 0.0},
        "no substance": {"substance": 0.0},
        "no answers": {"answers": 0.0},
        "no links": {"links": 0.0},
        "no feedback": {"feedback": 0.0},
        "with facets": {"facets": 0.5},
        "rank fusion": {"fusion": "ranks"},
        "hybrid and who": _WALK,
        "rank fusion and who": {**_WALK, "fusion": "ranks"},
        "hybrid alone": {**_WALK, "who": 0.0},
    }.items()
}
"""Options of `Unbidden` for each ablation, by name: one part off, one on that is off, reciprocal
rank fusion in place of scores, and three smaller systems (the last but one is `rrf` with `who`)."""

LLM_ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    "whole": {},
    "no situations": {"parts": {"situations": 0.0}},
    "no causes": {"parts": {"causes": 0.0}},
    "no cues at all": {"parts": {"situations": 0.0, "causes": 0.0}},
}
"""The same for `UnbiddenLLM`: what a model adds. Without its cues it is `unbidden`."""
