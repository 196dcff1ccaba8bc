"""The seven relations between an older and a newer memory, and reading a model's word for one."""

from __future__ import annotations

import re
from typing import Literal, get_args

Relation = Literal["Changed", "Cause", "Reason", "HinderedBy", "React", "Want", "SameTopic"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)
"""THEANINE section 3.1 and its appendix, adapted there from ATOMIC-2020."""

UNLABELLED: Literal[""] = ""
"""Label of an edge that was drawn without asking a model (ablation)."""

Label = Relation | Literal[""]
"""What stands on an edge."""

_FORMS: dict[Relation | Literal["None"], str] = {
    "Changed": r"change[ds]?",
    "Cause": r"cause[ds]?",
    "Reason": r"reasons?",
    "HinderedBy": r"hindered[\W_]*by",
    "React": r"reacts?",
    "Want": r"wants?",
    "SameTopic": r"same[\W_]*topic",
    "None": r"none|no[\W_]*relation(?:ship)?|no",
}
_ANY = "|".join(f"(?P<{name}>{form})" for name, form in _FORMS.items())
_SECOND = "|".join(f"(?:{form})" for form in _FORMS.values())
_HEAD = r"[\W_]*(?:relation(?:ship)?(?![^\W_])[\W_]*(?:is(?![^\W_])[\W_]*)?)?"
_LABEL = re.compile(rf"{_HEAD}(?:{_ANY})(?![^\W_])", re.IGNORECASE)
_TWO = re.compile(rf"[\W_]*(?:[/|,+&]|or\b|and\b)[\W_]*(?:{_SECOND})(?![^\W_])", re.IGNORECASE)


class UnknownLabel(ValueError):  # noqa: N818 - says what it is; counted, never shown as a fault
    """A model's word is none of the relations."""


def read_relation(text: str) -> Relation | None:
    """Return the relation a model named, None if it said that there is none.

    The label must come first, alone or before further text; case, punctuation and the plain
    variants of a label ("Causes", "hindered by") do not matter.

    Raises
    ------
    UnknownLabel
        If the text begins with no label, or names two.

    Notes
    -----
    The released code stores the raw text and drops what contains "None". Here a word that is no
    label is told apart from "None", so that it can be counted.

    >>> read_relation(" **Causes** - A made B happen.")
    'Cause'
    >>> read_relation("None of them") is None
    True
    """
    found = _LABEL.match(text)
    if found is None or _TWO.match(text, found.end()):
        raise UnknownLabel(text)
    return next((name for name in RELATIONS if found[name] is not None), None)
