"""What became of a call: an answer, or one of a few named ways to have none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

Status = Literal[
    "ok",
    "refused",  # the model declined
    "filtered",  # the provider's content filter cut the reply
    "truncated",  # the output limit cut the reply
    "empty",  # a reply without text
    "invalid_json",  # not one JSON value, though a schema was asked for
    "schema_mismatch",  # JSON of another form than asked for
    "bad_response",  # not a chat completion, for instance an HTML page
    "rate_limited",  # still 429 after the last retry
    "http_error",  # another HTTP error, after the retries where they can help
    "timeout",
    "connection",
    "invalid_request",  # the request could not be sent as it is
    "planned",  # not on record, and the run only plans
]

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None


NO_USAGE = Usage()
"""Nothing was counted."""


@dataclass(frozen=True, slots=True)
class Outcome(Generic[V]):
    """The result of one call.

    Attributes
    ----------
    status : str
        "ok", or the way it failed.
    reason : str
        One line on the failure, fit for an ``unscored`` column; empty if ok.
    text : str
        What the model wrote, complete or not.
    value : V or None
        The parsed object, or the text where no schema was asked for; None unless ok.
    usage : Usage
        Tokens.
    seconds : float
        From sending to the last byte, waits between retries included; as recorded if replayed.
    requests : int
        HTTP requests that were sent for it; as recorded if replayed.
    key : str
        The call's key in the ledger.
    replayed : bool
        Whether it was read from a ledger instead of asked for.
    """

    status: Status
    reason: str = ""
    text: str = ""
    value: V | None = None
    usage: Usage = NO_USAGE
    seconds: float = 0.0
    requests: int = 0
    key: str = ""
    replayed: bool = False

    @property
    def ok(self) -> bool:
        """Whether there is a value."""
        return self.status == "ok"

    @property
    def unscored(self) -> str | None:
        """The reason for the column ``unscored`` of a result table, None if ok."""
        return None if self.ok else f"{self.status}: {self.reason}"
