"""What a labeller is asked about a query, by style, and when a query passes.

The checks and rules follow LoCoMo-Conv's human annotation (tracks A); the wording is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unbidden.stats.agreement import Level


@dataclass(frozen=True, slots=True)
class Check:
    """One question to the labeller.

    Attributes
    ----------
    options : tuple of (str, str)
        Value and label, in rising order where the level is ordinal.
    each_member : bool
        Asked once for every joined fact.
    """

    id: str
    ask: str
    options: tuple[tuple[str, str], ...]
    level: Level = "nominal"
    each_member: bool = False

    @property
    def values(self) -> tuple[str, ...]:
        """The values of the options."""
        return tuple(value for value, _ in self.options)

    def keys(self, members: int) -> list[str]:
        """Return the keys its labels have for an item of so many facts.

        >>> CHECKS["composed"][1].keys(2)
        ['P1.0', 'P1.1']
        """
        return [f"{self.id}.{n}" for n in range(members)] if self.each_member else [self.id]


_NATURAL = Check(
    "naturalness",
    "How natural is this as something a person would type to an assistant?",
    (("1", "1 not at all"), ("2", "2"), ("3", "3"), ("4", "4"), ("5", "5 fully")),
    "ordinal",
)
CHECKS: dict[str, tuple[Check, ...]] = {
    "dialog": (
        _NATURAL,
        Check(
            "D1",
            "Is it in the first person, said by the person named above?",
            (("yes", "yes"), ("no", "no")),
        ),
        Check(
            "D2",
            "Does it want to know the same as the plain question?",
            (("yes", "yes"), ("no", "no"), ("cannot tell", "cannot tell")),
        ),
        Check(
            "D3",
            "Does it give the answer away, also in part?",
            (("no leak", "no"), ("partial", "in part"), ("full", "wholly")),
            "ordinal",
        ),
    ),
    "implicit": (
        _NATURAL,
        Check(
            "I1",
            "Does it ask for the fact?",
            (
                ("no question", "no, it does not ask for it"),
                ("asks for it", "it asks for the fact itself"),
                ("asks memory", "it asks the assistant to remember"),
            ),
        ),
        Check(
            "I2",
            "How much does the fact matter for a good reply?",
            (
                ("irrelevant", "not at all"),
                ("peripheral", "at the edge"),
                ("central", "it is central"),
            ),
            "ordinal",
        ),
    ),
    "counterfactual": (
        _NATURAL,
        Check(
            "C1",
            "What does it say about the fact?",
            (
                ("contradicts", "it contradicts it"),
                ("consistent", "it agrees with it"),
                ("orthogonal", "neither"),
            ),
        ),
        Check(
            "C2",
            "Could the person plausibly have got it wrong this way?",
            (("1", "1 hardly"), ("2", "2 perhaps"), ("3", "3 easily")),
            "ordinal",
        ),
    ),
    "composed": (
        _NATURAL,
        Check(
            "P1",
            "Does this fact help a good reply?",
            (("irrelevant", "irrelevant"), ("neutral", "neutral"), ("helpful", "helpful")),
            "ordinal",
            each_member=True,
        ),
        Check(
            "P2",
            "Does it call for these facts, or would any facts do?",
            (("specific", "for these"), ("generic", "any would do")),
        ),
    ),
}
_WANTED: dict[str, dict[str, tuple[str, ...]]] = {
    "dialog": {"D1": ("yes",), "D2": ("yes",), "D3": ("no leak",)},
    "implicit": {"I1": ("no question",), "I2": ("central",)},
    "counterfactual": {"C1": ("contradicts",), "C2": ("2", "3")},
    "composed": {"P1": ("helpful",), "P2": ("specific",)},
}


def passes(style: str, members: int, labels: Mapping[str, str]) -> bool | None:
    """Return whether a query passes by one person's labels; None if a label it needs is missing.

    Naturalness is not part of the rule.

    >>> passes("composed", 2, {"P1.0": "helpful", "P1.1": "helpful", "P2": "specific"})
    True
    >>> passes("counterfactual", 1, {"C1": "contradicts"}) is None
    True
    """
    results = []
    for check in CHECKS[style]:
        if check.id in _WANTED[style]:
            for key in check.keys(members):
                if key not in labels:
                    return None
                results.append(labels[key] in _WANTED[style][check.id])
    return all(results)
