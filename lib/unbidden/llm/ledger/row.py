"""One call as it is kept: the same fields in the ledger, in a recording and in replay."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from unbidden.llm.labels import read_stored
from unbidden.llm.outcome import NO_USAGE, Outcome, Status, Usage
from unbidden.llm.parse import parse_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import BaseModel


def now() -> str:
    """Return the time in UTC to the second, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, slots=True)
class Row:
    """One finished call, answered or failed.

    Attributes
    ----------
    key : str
        sha256 of `request`.
    request : str
        Canonical JSON of the request.
    body : str or None
        The response body as canonical JSON; None if there was none.
    requests : int
        HTTP requests sent for it, retries included.
    seconds : float
        From the first request to the last byte.
    """

    key: str
    request: str
    role: str
    prompt: str
    prompt_sha256: str
    status: Status
    reason: str
    text: str
    body: str | None = None
    usage: Usage = NO_USAGE
    requests: int = 0
    seconds: float = 0.0
    created: str = field(default_factory=now)

    @property
    def model(self) -> str:
        """The model that was asked."""
        body: dict[str, Any] = json.loads(self.request)["body"]
        return str(body["model"])

    def outcome(
        self, schema: type[BaseModel] | None, *, replayed: bool, labels: Sequence[str] = ()
    ) -> Outcome[Any]:
        """Return the call's outcome, its reply read anew under `schema` or for `labels`."""
        status, reason, value = self.status, self.reason, None
        if status == "ok" and labels:
            status, reason, value = read_stored(self.body, labels)
        elif status == "ok":
            status, reason, value = parse_text(self.text, schema)
        return Outcome(
            status,
            reason,
            self.text,
            value,
            self.usage,
            self.seconds,
            self.requests,
            self.key,
            replayed,
        )


class Calls(Protocol):
    """Where finished calls are looked up."""

    def answered(self, key: str) -> Row | None:
        """Return the answer that counts for a key: the first one."""
        ...

    def latest(self, key: str) -> Row | None:
        """Return the answer that counts, or the last failure, or None."""
        ...

    def rows(self) -> Iterator[Row]:
        """Yield all rows in the order in which they were made."""
        ...
