"""The rubrics by name, and which of them judge a reply to a query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.errors import ConfigError, closest
from unbidden.registry import Registry

if TYPE_CHECKING:
    from unbidden.corpus.models import Style
    from unbidden.judge.rubric import Form, ProtocolName, Rubric

_HERE = "unbidden.judge.rubrics."
RUBRICS: Registry[Rubric] = Registry(
    "rubric",
    {
        "fact_use": _HERE + "fact_use:rubric",
        "counterfactual": _HERE + "counterfactual:rubric",
        "composed": _HERE + "composed:rubric",
        "trap": _HERE + "category5:trap",
        "unsupported": _HERE + "category5:unsupported",
        "implicit": _HERE + "implicit:rubric",
        "quality": _HERE + "quality:rubric",
        "pairwise": _HERE + "pairwise:replies",
        "helpfulness": _HERE + "pairwise:helpfulness",
        "teafarm": _HERE + "teafarm:rubric",
    },
    "unbidden.rubrics",
    listing="`unbidden.judge.RUBRICS.names()` gives the names",
)
"""A user's own: ``package.module:function`` that returns a rubric, or the entry-point group."""

_OF_STYLE: dict[Style, tuple[str, ...]] = {
    "question": ("fact_use",),
    "dialog": ("fact_use",),
    "implicit": ("fact_use", "implicit", "quality", "pairwise"),
    "counterfactual": ("counterfactual", "teafarm"),
    "composed": ("composed",),
}
_CATEGORY_5 = ("trap", "unsupported")


def rubrics_for(style: Style, category: int | None = None) -> tuple[str, ...]:
    """Return the names of the rubrics for replies to a query, the headline metric first.

    Category 5 has no answer to convey, so it is judged for hallucination in every style.

    Raises
    ------
    ConfigError
        If the style is unknown.

    >>> rubrics_for("composed"), rubrics_for("dialog", 5)
    (('composed',), ('trap', 'unsupported'))
    """
    if style not in _OF_STYLE:
        raise ConfigError(
            f"unknown style {style!r}",
            expected=closest(style, _OF_STYLE),
            next_step="correct the parameter `styles`",
        )
    return _CATEGORY_5 if category == 5 else _OF_STYLE[style]


def rubric(name: str) -> Rubric:
    """Return the rubric of a name; raises as `Registry.create` does."""
    return RUBRICS.create(name)


def names_with(form: Form, protocol: ProtocolName = "repaired") -> tuple[str, ...]:
    """Return the names of our rubrics that can be asked in a form.

    >>> names_with("likelihood")
    ('fact_use', 'counterfactual', 'trap', 'unsupported', 'pairwise', 'helpfulness', 'teafarm')
    """
    found = []
    for name in RUBRICS.names():
        try:
            rubric(name).prompt(protocol, form, None)
        except ConfigError:
            continue
        found.append(name)
    return tuple(found)
