"""Stated rules for replies that hold more than a reply: speaker tags, headings, invented turns.

COMEDY's released replies often begin with "Response:" or a speaker's name, and go on with turns
the other speaker never said. What is scored depends on the rule, so the rule is named.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.errors import ConfigError, closest

if TYPE_CHECKING:
    from collections.abc import Collection

Rule = Literal["raw", "last_colon", "first_turn"]
RULES: tuple[Rule, ...] = get_args(Rule)

_HEADS = ("Response", "Reply", "Dialogue")
_PLURAL = re.compile(r"s( [A-Z])$")


def clean(reply: str, rule: Rule, speakers: Collection[str] = ()) -> str:
    r"""Return what a rule leaves of a reply.

    Parameters
    ----------
    rule : {"raw", "last_colon", "first_turn"}
        "raw": as it is. "last_colon": the text after the last colon, as the release's own
        ``_transform`` file has it; it takes the last of several invented turns, and cuts at a
        colon inside a sentence. "first_turn": the first line said, without heading or speaker's
        name, up to the next speaker's name or the end of the line.
    speakers : collection of str
        Names that may stand before a turn, also without their plural ("Co-worker A" where the
        data has "Co-workers A").

    Examples
    --------
    >>> clean("Response:\nAna: Yes: at 9.\nBen: Fine.", "first_turn", ["Ana", "Ben"])
    'Yes: at 9.'
    >>> clean("Ana: Yes: at 9.", "last_colon")
    'at 9.'

    Raises
    ------
    ConfigError
        If the rule is unknown.
    """
    if rule not in RULES:
        raise ConfigError(f"unknown cleaning rule {rule!r}", expected=closest(rule, RULES))
    if rule == "raw":
        return reply
    if rule == "last_colon":
        return reply.rpartition(":")[2].strip()
    return _first_turn(reply, speakers)


def _first_turn(reply: str, speakers: Collection[str]) -> str:
    known = {*speakers, *_HEADS, *(_PLURAL.sub(r"\1", name) for name in speakers)}
    names = "|".join(re.escape(name) for name in sorted(known, key=len, reverse=True))
    tag = re.compile(rf"(?:^|(?<=\s))\**(?:{names})\**:\**\s*")
    for part in tag.split(reply):
        if part.strip():
            return part.strip().splitlines()[0].strip()
    return ""
