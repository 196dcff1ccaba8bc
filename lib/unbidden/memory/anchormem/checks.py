"""What AnchorMem takes in: which sessions, and which of the facts a model lists."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unbidden.memory.tokens import unicode_tokens

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation, Session


@dataclass(frozen=True, slots=True)
class FactRule:
    """Which facts are kept.

    Attributes
    ----------
    min_words : int
        Words a fact must have.
    names : tuple of str
        One of them must occur; none means that no name is needed.
    """

    min_words: int
    names: tuple[str, ...] = ()

    def kept(self, facts: Sequence[str], events: Counter[str]) -> list[str]:
        """Return distinct facts on one line each, and count those dropped."""
        kept = []
        for fact in dict.fromkeys(" ".join(fact.split()) for fact in facts):
            if not fact or len(unicode_tokens(fact)) < self.min_words:
                events["short_facts"] += 1
            elif self.names and not any(n.casefold() in fact.casefold() for n in self.names):
                events["facts_without_speaker"] += 1
            else:
                kept.append(fact)
        return kept


def cited_sessions(conversation: Conversation) -> list[Session]:
    """Return the sessions that some question's evidence names: a leak of the gold."""
    cited = " ".join(text for q in conversation.questions for text in q.evidence)
    numbers = {int(number) for number in re.findall(r"D(\d+):", cited)}
    return [session for session in conversation.sessions if session.number in numbers]
