"""Which sentences stay when new ones have been compared with old ones.

The papers give labels to pairs and leave open what many pairs do together. Here all labels are
given first and then applied at once:

========  ====================================================================
label     what is dropped
========  ====================================================================
PASS      the new sentence; the old one covers it
REPLACE   the old sentence; the new one covers it
CHANGE    as `on_change` says; "new" stays in the usual reading
DELETE    the old one, and with ``on_delete="none"`` (Bae et al.) the new one too
APPEND    nothing
========  ====================================================================

A sentence dropped by any pair is dropped.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from unbidden.memory.records import united

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unbidden.corpus.models import TurnId
    from unbidden.llm.schemas_baselines import UpdateLabel

OnChange = Literal["new", "both", "old"]
OnDelete = Literal["new", "none"]
Pair = tuple[str, str]
"""Id of an old sentence and of a new one."""


@dataclass(frozen=True, slots=True)
class Settled:
    """The sentences that stay, with the turns they come from.

    Attributes
    ----------
    covered_by_none : int
        Sentences dropped only because another says the same, where that one and all that cover
        it in turn were dropped too: a contradiction in the labels that loses what they say.
    """

    kept: dict[str, tuple[TurnId, ...]]
    old_dropped: int
    new_dropped: int
    covered_by_none: int


def settled(
    old: Mapping[str, tuple[TurnId, ...]],
    new: Mapping[str, tuple[TurnId, ...]],
    labels: Mapping[Pair, UpdateLabel],
    *,
    on_change: OnChange,
    on_delete: OnDelete,
    inherit: bool,
) -> Settled:
    """Apply the labels of all pairs at once; see the module for the rule.

    Parameters
    ----------
    old, new : mapping of id to turn ids
        All sentences; no id is in both.
    inherit : bool
        Whether what covers a dropped sentence, directly or over others that were dropped, also
        comes from its turns.
    """
    dropped: set[str] = set()
    covers: defaultdict[str, set[str]] = defaultdict(set)
    for (before, after), label in labels.items():
        if label == "PASS":
            covers[after].add(before)
        elif label == "REPLACE":
            covers[before].add(after)
        elif label == "CHANGE" and on_change != "both":
            dropped.add(before if on_change == "new" else after)
        elif label == "DELETE":
            dropped |= {before} if on_delete == "new" else {before, after}
    every = {**old, **new}
    gone = dropped | covers.keys()
    kept = [key for key in every if key not in gone]
    home = {key: _reached(key, covers) - gone for key in covers}
    return Settled(
        kept={
            key: united(
                *(
                    every[other]
                    for other in every
                    if other == key or (inherit and key in home.get(other, ()))
                )
            )
            for key in kept
        },
        old_dropped=sum(key in gone for key in old),
        new_dropped=sum(key in gone for key in new),
        covered_by_none=sum(not home[key] for key in covers if key not in dropped),
    )


def _reached(key: str, covers: Mapping[str, set[str]]) -> set[str]:
    """Return everything that covers a sentence, directly or over others."""
    found: set[str] = set()
    waiting = [key]
    while waiting:
        for other in covers.get(waiting.pop(), ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found
