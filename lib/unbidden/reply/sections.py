"""Telling a reply from the thoughts around it, in free text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import zip_longest

_THINK = re.compile(r"<think(?:ing)?>(.*?)</think(?:ing)?>", re.IGNORECASE | re.DOTALL)
_OPEN = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_CLOSE = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_HEAD = re.compile(
    r"^[\s*#>]*(SITUATION|MEMORIES|REPLY)\b[\s*]*:[\s*]*", re.IGNORECASE | re.MULTILINE
)
_CITED = re.compile(r"\[(\d{1,3})\]")


@dataclass(frozen=True, slots=True)
class Parted:
    """A model's text in its parts.

    Attributes
    ----------
    reply : str or None
        What a user would see; None if there is none.
    thoughts : str
        The rest.
    cited : tuple of int
        Numbers of memories in brackets in the section MEMORIES, in order, without repeats.
    """

    reply: str | None
    thoughts: str = ""
    cited: tuple[int, ...] = ()


def visible(text: str) -> Parted:
    """Return a plain reply without the block in which a reasoning model thinks aloud.

    Such a block may lack its opening tag, which some chat templates write themselves. If it is
    never closed, all of it is thought.

    >>> visible("<think>May?</think> It was May.").reply
    'It was May.'
    >>> visible("<think>May or").reply is None
    True
    """
    thoughts = [found.strip() for found in _THINK.findall(text)]
    rest = _THINK.sub("", text)
    if closed := _CLOSE.search(rest):
        thoughts.insert(0, rest[: closed.start()].strip())
        rest = rest[closed.end() :]
    if opened := _OPEN.search(rest):
        thoughts.append(rest[opened.end() :].strip())
        rest = rest[: opened.start()]
    return Parted(rest.strip() or None, "\n".join(thought for thought in thoughts if thought))


def sections(text: str) -> Parted:
    r"""Return the parts of a text in marked sections.

    The last section REPLY counts. Without one there is no reply, however the text looks.

    >>> sections("SITUATION: A trip.\nMEMORIES:\n[2] when\nREPLY: In May.")
    Parted(reply='In May.', thoughts='SITUATION: A trip.\nMEMORIES:\n[2] when', cited=(2,))
    """
    plain = visible(text)
    body = plain.reply or ""
    heads = list(_HEAD.finditer(body))
    replies = [head for head in heads if head[1].upper() == "REPLY"]
    cited: dict[int, None] = {}
    for head, following in zip_longest(heads, heads[1:]):
        if head[1].upper() == "MEMORIES":
            part = body[head.end() : following.start() if following else len(body)]
            cited.update(dict.fromkeys(int(number) for number in _CITED.findall(part)))
    if not replies:
        return Parted(None, "\n".join(t for t in (plain.thoughts, body) if t), tuple(cited))
    last = replies[-1]
    thoughts = [plain.thoughts, body[: last.start()].strip()]
    reply = body[last.end() :].strip()
    return Parted(reply or None, "\n".join(t for t in thoughts if t), tuple(cited))
