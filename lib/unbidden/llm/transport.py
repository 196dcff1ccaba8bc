"""Sending requests to an OpenAI-compatible endpoint, and turning every failure into a reply.

The SDK alone retries. A second layer would multiply the requests of a failing endpoint.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from unbidden.errors import ConfigError
from unbidden.llm.parse import Reply, describe_body, read_body
from unbidden.llm.redact import redact, without_key
from unbidden.llm.settings import api_key, on_this_machine

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import openai
    from anyio.from_thread import BlockingPortal

    from unbidden.llm.outcome import Status
    from unbidden.llm.request import Request
    from unbidden.llm.settings import LLMSettings

T = TypeVar("T")
_sent: ContextVar[list[int]] = ContextVar("_sent")


@dataclass(frozen=True, slots=True)
class Sent:
    """A reply with what it took.

    Attributes
    ----------
    requests : int
        HTTP requests that left this process, retries included.
    seconds : float
        From the first of them to the last byte.
    http_status : int or None
        Of the last response, None if none came.
    """

    reply: Reply
    requests: int
    seconds: float
    http_status: int | None = None


class Transport:
    """One endpoint, its client and an event loop in a thread of its own.

    The loop has its own thread because a notebook's kernel already runs one in the main thread.
    Nothing is started, and `openai` not even imported, before the first call.
    """

    def __init__(self, settings: LLMSettings) -> None:
        self.settings = settings
        self._thread: threading.Thread | None = None
        self._portal: BlockingPortal | None = None
        self._client: openai.AsyncOpenAI | None = None
        self._starting = threading.Lock()

    def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run `work` in the event loop and return its result; an interrupt cancels it."""
        with self._starting:
            if self._portal is None:
                self._start()
        assert self._portal is not None
        future = self._portal.start_task_soon(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Close the connections and stop the event loop; a later call starts them again."""
        if self._portal is not None and self._client is not None and self._thread is not None:
            self._portal.call(self._client.close)
            self._portal.call(self._portal.stop)
            self._thread.join()
        self._portal = self._client = self._thread = None

    def _start(self) -> None:
        try:
            import anyio
            from anyio.from_thread import BlockingPortal
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient
        except ImportError as error:
            raise ConfigError(
                "model calls need the packages of the extra 'llm'",
                expected="openai>=3 and anyio>=4",
                got=str(error),
                next_step="install `unbidden[llm]`; recorded calls replay without it",
            ) from error
        settings = self.settings
        endpoint = settings.endpoint()
        http = DefaultAsyncHttpxClient(
            event_hooks={"request": [_count]},
            # A proxy set for the internet must not get calls to a local model.
            trust_env=not on_this_machine(endpoint),
        )
        self._client = AsyncOpenAI(
            base_url=endpoint,
            api_key=api_key(endpoint),
            timeout=settings.timeout,
            max_retries=settings.max_retries,
            http_client=http,
        )
        started: Future[BlockingPortal] = Future()

        async def loop() -> None:
            async with BlockingPortal() as portal:
                started.set_result(portal)
                await portal.sleep_until_stopped()

        # A daemon: a client that nobody closed must not keep the interpreter from ending.
        self._thread = threading.Thread(target=anyio.run, args=(loop,), daemon=True)
        self._thread.start()
        self._portal = started.result()

    async def send(self, request: Request) -> Sent:
        """Send one request, with the SDK's retries; failures come back as replies."""
        assert self._client is not None
        counter = [0]
        _sent.set(counter)
        start = time.perf_counter()
        reply, status = await self._reply(self._client, request)
        return Sent(reply, counter[0], time.perf_counter() - start, status)

    async def _reply(
        self, client: openai.AsyncOpenAI, request: Request
    ) -> tuple[Reply, int | None]:
        import httpx2
        import openai

        try:
            # The SDK's typed method would spend two milliseconds on checking a body that is ours.
            raw = await client.post("/chat/completions", cast_to=httpx2.Response, body=request.body)
            return read_body(without_key(raw.text)), raw.status_code
        except openai.APITimeoutError:
            limit = f"no complete reply within {self.settings.timeout:g} s"
            return Reply("timeout", f"{limit}, {self.settings.max_retries} retries"), None
        except openai.APIConnectionError as error:
            return Reply("connection", _cause(error)), None
        except openai.APIStatusError as error:
            return _http_failure(error), error.status_code
        except (openai.OpenAIError, ValueError, TypeError) as error:
            return Reply("invalid_request", redact(f"{type(error).__name__}: {error}")[:300]), None


async def _count(_: object) -> None:
    counter = _sent.get(None)
    if counter is not None:
        counter[0] += 1


def _cause(error: Exception) -> str:
    cause = error.__cause__ or error
    return redact(f"{type(cause).__name__}: {cause}".rstrip(": "))[:300]


def _http_failure(error: openai.APIStatusError) -> Reply:
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        said = str(inner.get("message", inner)) if isinstance(inner, dict) else str(inner)
        said = redact(said)
    else:
        said = describe_body(error.response.text)
    status: Status = "rate_limited" if error.status_code == 429 else "http_error"
    return Reply(status, f"HTTP {error.status_code}: {said}"[:300])
