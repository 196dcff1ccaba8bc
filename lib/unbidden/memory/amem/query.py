"""From messages to what notes are searched with: keywords a model names."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.llm.schemas_notes import QueryKeywords
    from unbidden.memory.calls import CountedCalls

QUERY = "amem_query.v1"
KEYWORDS_FAILED = "keywords failed, the message itself was searched with"
REPLY_SEARCHED = "keywords failed, the reply as it stood was searched with"


class KeywordQueries:
    """Asks for the keywords of each message once and remembers them.

    Parameters
    ----------
    reply_as_query : bool
        Whether an unreadable reply is searched with as it stands, as the original does; otherwise
        the message itself is.

    Attributes
    ----------
    events : Counter of str
        Messages without keywords, by what was done instead.
    """

    def __init__(self, calls: CountedCalls, *, reply_as_query: bool) -> None:
        self._calls, self._reply_as_query = calls, reply_as_query
        self.events: Counter[str] = Counter()
        self._known: dict[str, str] = {}

    def __call__(self, messages: Sequence[str]) -> list[str]:
        """Return the search text of each message, in order."""
        new = [text for text in dict.fromkeys(messages) if text not in self._known]
        calls = [(QUERY, {"query": text}) for text in new]
        outcomes = self._calls.ask_many(calls, label="A-MEM keywords") if calls else []
        for message, outcome in zip(new, outcomes, strict=True):
            reply: QueryKeywords | None = outcome.value
            if reply is not None:
                self._known[message] = reply.keywords
            elif self._reply_as_query and outcome.text.strip():
                self.events[REPLY_SEARCHED] += 1
                self._known[message] = outcome.text
            else:
                self.events[KEYWORDS_FAILED] += 1
                self._known[message] = message
        return [self._known[message] for message in messages]
