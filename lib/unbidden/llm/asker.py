"""Asking what is not known yet: bounded, each request once, every reply kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unbidden.errors import UnbiddenError
from unbidden.llm.labels import read_label_scores
from unbidden.llm.ledger.row import Row
from unbidden.llm.outcome import NO_USAGE, Outcome
from unbidden.llm.parse import parse_text
from unbidden.llm.redact import without_key
from unbidden.llm.request import canonical

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    import anyio

    from unbidden.llm.base import Prepared
    from unbidden.llm.budget import Purse
    from unbidden.llm.ledger import Ledger
    from unbidden.llm.progress import Progress
    from unbidden.llm.request import Request
    from unbidden.llm.transport import Sent, Transport

_LACKS_SCHEMAS = (400, 422, 501)
"""HTTP codes after which a call is sent again with its schema in the prompt."""
_CAME = ("refused", "filtered", "truncated", "empty", "invalid_json", "schema_mismatch")
"""Failures that are replies: asking the same again would most likely bring the same."""


class Asker:
    """Sends calls and writes what comes back; its coroutines run in the transport's event loop.

    Parameters
    ----------
    known : callable
        Returns the outcome a call has already, or None.
    first_counts : bool
        Whether an answer another process wrote for the same call meanwhile replaces ours, as it
        will in a resumed run, and a reply that failed stays the outcome of its call until this
        object is gone. What never came (429, timeout, ...) is asked again whenever it is wanted.
    """

    def __init__(
        self,
        transport: Transport,
        ledger: Ledger,
        purse: Purse,
        known: Callable[[Prepared], Outcome[Any] | None],
        *,
        first_counts: bool,
    ) -> None:
        self._transport, self._ledger, self._purse = transport, ledger, purse
        self._known, self._first_counts = known, first_counts
        self._limiter: anyio.CapacityLimiter | None = None
        self._in_flight: dict[str, anyio.Event] = {}
        self._failed: dict[Hashable, Outcome[Any]] = {}
        self._without_native: set[str] = set()

    async def ask_all(self, items: Sequence[Prepared], progress: Progress) -> list[Outcome[Any]]:
        """Return the outcomes of calls, in their order.

        Raises
        ------
        BudgetExceeded
            If the budget stops some.
        LLMError, ConfigError
            If the ledger cannot be written, or a budget of money lacks a price. In each case no
            further call is begun, and those in flight are finished and kept first.
        """
        import anyio

        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self._transport.settings.concurrency)
        limiter, stops = self._limiter, list[UnbiddenError]()
        outcomes: list[Outcome[Any] | None] = [None] * len(items)

        async def one(position: int, item: Prepared) -> None:
            async with limiter:
                if stops:
                    return
                try:
                    outcome = await self._settle(item)
                except UnbiddenError as error:
                    stops.append(error)
                    return
            outcomes[position] = outcome
            progress.done(item.model, outcome)

        async with anyio.create_task_group() as group:
            for position, item in enumerate(items):
                group.start_soon(one, position, item)
        if stops:
            raise stops[0]
        return [outcome for outcome in outcomes if outcome is not None]

    async def _settle(self, item: Prepared) -> Outcome[Any]:
        """Ask, unless another thread or process is just doing so or has done so."""
        import anyio

        key = item.keys[0]
        while (other := self._in_flight.get(key)) is not None:
            await other.wait()
        if (found := self._known(item) or self._failed.get(item.identity)) is not None:
            return found
        self._in_flight[key] = anyio.Event()
        try:
            outcome = await self._ask(item)
        finally:
            self._in_flight.pop(key).set()
        if self._first_counts and outcome.status in _CAME:
            self._failed[item.identity] = outcome
        return outcome

    async def _ask(self, item: Prepared) -> Outcome[Any]:
        forms = item.forms[-1:] if item.model in self._without_native else item.forms
        for request in forms:
            if without_key(request.text) != request.text:
                return Outcome("invalid_request", "the API key stands in the prompt; not sent")
            sent = await self._send(request)
            row = self._keep(item, request, sent)
            if sent.http_status not in _LACKS_SCHEMAS:
                break
        if len(forms) > 1 and not request.native and sent.http_status == 200:
            self._without_native.add(item.model)
        if row.status == "ok" and self._first_counts:
            row = self._ledger.answered(row.key) or row
        return row.outcome(item.schema, replayed=False, labels=item.labels)

    async def _send(self, request: Request) -> Sent:
        held = await self._purse.hold(request)
        made, usage = False, NO_USAGE
        try:
            sent = await self._transport.send(request)
            made, usage = sent.requests > 0, sent.reply.usage
            return sent
        finally:
            self._purse.settle(held, request, usage, made=made)

    def _keep(self, item: Prepared, request: Request, sent: Sent) -> Row:
        reply = sent.reply
        status, reason = reply.status, reply.reason
        if item.labels and status in ("ok", "truncated", "empty"):
            # One token is always cut short, and it may be a blank: what counts are the scores.
            status, reason, _ = read_label_scores(reply.body, item.labels)
        elif status == "ok":
            status, reason, _ = parse_text(reply.text, item.schema)
        row = Row(
            key=request.key,
            request=request.text,
            role=item.prompt.role,
            prompt=item.prompt.name,
            prompt_sha256=item.prompt.sha256,
            status=status,
            reason=reason,
            text=reply.text,
            body=None if reply.body is None else canonical(reply.body),
            usage=reply.usage,
            requests=sent.requests,
            seconds=sent.seconds,
        )
        self._ledger.append(row)
        return row
