"""Words by which a user asks for a memory outright, which an implicit query must not do.

Patterns, not a model: they miss rare wordings and take a few others along. English, with the
Chinese forms that the embedded conversations use.
"""

from __future__ import annotations

import re

_SAID = r"(?:said|say|told|tell|mentioned?|shared?|explained?|described?)"
_ONCE = r"(?:ever |once |had |just |already |first |originally |last |also )?"
_ASKED = r"(?:what|when|where|who|why|how|which|if|whether|that|about|roughly)"
CUES: dict[str, re.Pattern[str]] = {
    name: re.compile("|".join(patterns), re.IGNORECASE)
    for name, patterns in {
        "remember": (
            r"\b(?:do|can|did|could|would|don't) you (?:\w+ ){0,2}(?:remember|recall)\b",
            r"\b(?:you|please) (?:still )?(?:remember|recall)\b",
            r"\b(?:help me recall|your memory)\b",
            r"记得吗|你还?记得",
        ),
        "remind me": (
            r"\b(?:can|could|would|will|please)(?: you)?(?: \w+)? remind me\b",
            rf"\bremind me (?:\w+ )?{_ASKED}\b",
            r"\band (?:also )?remind me\b",
            r"\b(?:refresh|jog) my memory\b",
            r"提醒我",
        ),
        "what I said": (
            rf"\bdid I {_ONCE}{_SAID}\b",
            rf"\bI(?:'ve|'d| had| have)? {_ONCE}{_SAID} (?:to )?you\b",
            rf"\b(?:what|when|where|who|how|which|as|things?|ones?) I(?:'ve)? {_ONCE}{_SAID}\b",
            r"\bme (?:(?:mention|say|tell|talk)(?:ing)?|sharing)\b",
            r"我(?:跟|和|对)?你?说过|我提过",
        ),
        "do you know": (
            rf"\b(?:do|did) you (?:\w+ )?know {_ASKED} I\b",
            r"\bwhat (?:do|did) you know about\b",
        ),
        "our past chats": (
            r"\b(?:our|my) (?:past|last|previous|earlier|old) "
            r"(?:chats?|conversations?|talks?|messages?)\b",
            r"\blast time we (?:talked|spoke|chatted)\b",
            r"\bwe (?:(?:talked|spoke|chatted) about|discussed|mentioned)\b",
            r"上次聊",
        ),
    }.items()
}
"""Patterns by name; each is a request for what was said before."""

CONFIRM = re.compile(
    r"\b(?:does|doesn't) (?:that|it) (?:sound|seem|look) (?:right|correct|familiar)\b"
    r"|\b(?:is|isn't|was|wasn't) (?:that|it|this) (?:right|correct|so)\b|\bam I right\b"
    r"|(?:,|—|–|-|\?)\s*(?:right|correct|yes|no|yeah)\?"
    r"|\b(?:was|wasn't|is|isn't|did|didn't|do|don't|have|haven't|had|hadn't|wouldn't|aren't) "
    r"(?:I|it|we|they|he|she|that)\?|\bam I remembering\b|对吧|对吗|是吧|没错吧",
    re.IGNORECASE,
)
"""A request to confirm, the usual end of a counterfactual query."""


def memory_cues(text: str) -> tuple[str, ...]:
    """Return the names of the cues a text has.

    >>> memory_cues("Do you still remember what I told you about the boat?")
    ('remember', 'what I said')
    >>> memory_cues("Lilies remind me of the pier, and I remember the mooring fee. What do I say?")
    ()
    """
    straight = text.replace("’", "'")
    return tuple(name for name, pattern in CUES.items() if pattern.search(straight))


def asks_to_confirm(text: str) -> bool:
    """Return whether a text asks to have something confirmed.

    >>> asks_to_confirm("I sold it in 2019—that's correct, right?")
    True
    """
    return CONFIRM.search(text.replace("’", "'")) is not None
