"""Agents that never look at anything: what they score is what a judge gives away for nothing."""

from __future__ import annotations

from unbidden.errors import ConfigError, closest

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
