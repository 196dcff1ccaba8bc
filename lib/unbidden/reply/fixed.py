"""Agents that never look at anything: what they score is what a judge gives away for nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbidden.errors import ConfigError, closest
from unbidden.reply.answer import NO_SYSTEM, Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.queries.build import Query

FIXED = {
    "always-agree": "Yes, that's right.",
    "always-refuse": "I'm sorry, I can't say anything about that.",
}
"""What each agent says, whatever it is told."""


def fixed_text(name: str) -> str:
    """Return what an agent says.

    Raises
    ------
    ConfigError
        If there is none of that name.
    """
    if name not in FIXED:
        raise ConfigError(
            f"unknown agent {name!r}", expected=closest(name, FIXED), next_step="correct the name"
        )
    return FIXED[name]


def fixed_answers(name: str, queries: Sequence[Query]) -> list[Answer]:
    """Return an agent's replies as a condition of its own, for the table that is judged.

    Raises as `fixed_text` does.
    """
    text = fixed_text(name)
    return [Answer(query, NO_SYSTEM, name, None, 0, text) for query in queries]
