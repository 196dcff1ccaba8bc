"""From a response body to text, and from text to a value: strict, and never guessing.

A verdict is the whole reply or none. Looking for a label inside a sentence reads "incorrect" as
"correct" and takes a reasoning text for a grade, so it is not done.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from unbidden.llm.outcome import NO_USAGE, Status, Usage
from unbidden.llm.redact import redact

if TYPE_CHECKING:
    from collections.abc import Mapping

_FENCE = re.compile(r"\A```[A-Za-z]*[ \t]*\n(.*?)\n?```\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reply:
    """What an endpoint gave for one call, before any schema is applied.

    Attributes
    ----------
    body : dict or None
        The response as parsed JSON, None if there was none.
    """

    status: Status
    reason: str = ""
    text: str = ""
    usage: Usage = NO_USAGE
    body: dict[str, Any] | None = None


def read_body(raw: str) -> Reply:
    """Return the reply in the body of a successful HTTP response."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return Reply("bad_response", describe_body(raw))
    try:
        choice = body["choices"][0]
        message, finish = choice["message"], choice.get("finish_reason")
        content, refusal = message.get("content"), message.get("refusal")
    except (KeyError, IndexError, TypeError, AttributeError):
        return Reply("bad_response", f"JSON that is no chat completion: {describe_body(raw)}")
    usage = _usage(body.get("usage"))
    if refusal:
        return Reply("refused", redact(_clean(str(refusal)))[:300], "", usage, body)
    if content is not None and not isinstance(content, str):
        return Reply("bad_response", f"content of type {type(content).__name__}", "", usage, body)
    text = _clean(content or "")
    if finish == "content_filter":
        return Reply("filtered", "the provider's content filter cut the reply", text, usage, body)
    if finish == "length":
        return Reply("truncated", f"cut at {usage.output_tokens} tokens", text, usage, body)
    if not text.strip():
        return Reply("empty", f"no text, finish_reason {finish!r}", text, usage, body)
    return Reply("ok", "", text, usage, body)


def parse_text(text: str, schema: type[BaseModel] | None) -> tuple[Status, str, Any]:
    """Return status, reason and value of a complete reply.

    With a schema, the whole reply must be one JSON value of it, types taken strictly; one code
    fence around it is peeled. Without one, the value is the text.

    >>> class Grade(BaseModel):
    ...     score: int
    >>> parse_text('{"score": 1}', Grade)
    ('ok', '', Grade(score=1))
    >>> parse_text('Sure! {"score": 1}', Grade)[0]
    'invalid_json'
    >>> parse_text('{"score": "1"}', Grade)[0]
    'schema_mismatch'
    """
    if schema is None:
        return "ok", "", text
    inner = text.strip()
    if fenced := _FENCE.match(inner):
        inner = fenced.group(1)
    try:
        value = json.loads(inner, object_pairs_hook=_unique, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return "invalid_json", f"{redact(str(error))[:200]}; the reply begins {text[:60]!r}", None
    del value  # parsed here only to refuse doubled keys and NaN, which pydantic would accept
    try:
        return "ok", "", schema.model_validate_json(inner, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(step) for step in first["loc"]) or "(top)"
        return "schema_mismatch", f"{schema.__name__}.{where}: {first['msg']}"[:300], None


def describe_body(raw: str) -> str:
    """Return what a body that is no answer looks like, in a few redacted words."""
    start = raw.lstrip()[:200].lower()
    if start.startswith(("<!doctype html", "<html")):
        title = re.search(r"(?is)<title>\s*(.*?)\s*</title>", raw)
        return "an HTML page" + (f" titled {redact(title.group(1))[:80]!r}" if title else "")
    return f"{len(raw)} characters beginning {redact(raw[:80])!r}" if raw else "an empty body"


def _usage(found: Any) -> Usage:
    if not isinstance(found, dict):
        return Usage()
    counts = [found.get(name) for name in ("prompt_tokens", "completion_tokens")]
    return Usage(*(count if isinstance(count, int) else None for count in counts))


def _clean(text: str) -> str:
    # A token limit can split an emoji; half of one cannot be written to any file.
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _unique(pairs: list[tuple[str, Any]]) -> Mapping[str, Any]:
    if len(found := dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(token: str) -> float:
    raise ValueError(f"{token} is not a JSON number")
