"""An endpoint that has gone away stops a run; a lost call among others does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unbidden.errors import LLMError

if TYPE_CHECKING:
    from unbidden.llm.outcome import Outcome


def reached(outcomes: list[Outcome[Any]]) -> list[Outcome[Any]]:
    """Return the outcomes of a batch, unless none of its calls came to the endpoint.

    Only calls that were made now count: what is on record or planned says nothing about the
    endpoint. A chapter would otherwise end well with every score missing. Where calls are made one
    after the other, as most memories are written, each is a batch; the client has tried it several
    times by then.

    Raises
    ------
    LLMError
        If calls were made and each failed to connect.

    >>> from unbidden.llm import Outcome
    >>> len(reached([Outcome("ok", "", "yes"), Outcome("connection", "refused")]))
    2
    """
    made = [one for one in outcomes if not one.replayed and one.status != "planned"]
    if not made or any(one.status != "connection" for one in made):
        return outcomes
    raise LLMError(
        "the model cannot be reached",
        expected="an answering endpoint",
        got=f"{len(made)} failed calls in a row, the last: {made[-1].reason[:200]}",
        next_step="start it and run again; what was answered is kept, failed calls are asked again",
    )
