"""A call as it is sent: canonical JSON, and the key that identifies its answer."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from unbidden.errors import ConfigError
from unbidden.llm.labels import TOP_LOGPROBS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import BaseModel

    from unbidden.llm.settings import RoleSettings

Message = dict[str, str]
DEFAULT_MAX_TOKENS = 512


def canonical(value: Any) -> str:
    r"""Return JSON with sorted keys, no blanks and ASCII escapes: one text for one value.

    >>> print(canonical({"b": 1, "a": "\u00e9"}))
    {"a":"\u00e9","b":1}
    """
    return json.dumps(
        value, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False
    )


@dataclass(frozen=True, slots=True)
class Request:
    """The body of one chat-completion request and its repeat index.

    Timeout, retries, concurrency, endpoint and key are not part of it: they cannot change what
    the same model answers.

    Attributes
    ----------
    body : dict
        Everything that is sent.
    repeat : int
        Tells apart calls that are repeated on purpose.
    """

    body: dict[str, Any]
    repeat: int = 0

    @property
    def text(self) -> str:
        """The canonical JSON that is hashed and stored."""
        return canonical({"body": self.body, "repeat": self.repeat})

    @property
    def key(self) -> str:
        """The sha256 of the canonical JSON, in hex."""
        return hashlib.sha256(self.text.encode("ascii")).hexdigest()

    @property
    def native(self) -> bool:
        """Whether the endpoint itself is asked to keep to a schema."""
        return "response_format" in self.body


def build(
    messages: Sequence[Message],
    role: RoleSettings,
    *,
    max_tokens: int | None = None,
    schema: type[BaseModel] | None = None,
    repeat: int = 0,
    scores: bool = False,
) -> tuple[Request, ...]:
    """Return the forms in which a call may be sent, the preferred one first.

    There is one form, or two where a schema is asked for and the endpoint may not know
    ``response_format``: then the second has the schema in its system message.

    Parameters
    ----------
    max_tokens : int, optional
        Output tokens that suffice for the prompt; a limit of the role goes before it.
    repeat : int
        Added to the seed, and part of the key.
    scores : bool
        Whether one token with the log-probabilities of its alternatives is wanted, and no schema.
    """
    sampling = {
        "temperature": role.temperature,
        "top_p": role.top_p,
        "seed": None if role.seed is None else role.seed + repeat,
    }
    body: dict[str, Any] = {
        **role.extra,
        "model": role.model,
        "messages": [dict(message) for message in messages],
        role.token_parameter: role.max_tokens or max_tokens or DEFAULT_MAX_TOKENS,
        **{name: value for name, value in sampling.items() if value is not None},
    }
    if scores:
        one = {role.token_parameter: 1, "logprobs": True, "top_logprobs": TOP_LOGPROBS}
        return (Request({**body, **one}, repeat),)
    if schema is None:
        return (Request(body, repeat),)
    wanted = json_schema(schema)
    native = Request({**body, "response_format": _response_format(schema, wanted)}, repeat)
    prompted = Request({**body, "messages": _with_schema(body["messages"], wanted)}, repeat)
    return {"auto": (native, prompted), "native": (native,), "prompt": (prompted,)}[role.structured]


@cache
def json_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON schema in the strict form endpoints accept; not to be changed.

    Titles and class docstrings are left out: the schema is part of a call's key, and editing a
    docstring must not change it. Descriptions of fields stay.

    Raises
    ------
    ConfigError
        If a field has a default: strict schemas have only required fields.
    """
    found: dict[str, Any] = schema.model_json_schema()
    parts = {schema.__name__: found, **found.get("$defs", {})}
    for name, part in parts.items():
        if part.get("type") != "object":
            continue
        optional = sorted(set(part.get("properties", {})) - set(part.get("required", [])))
        if optional or part.get("additionalProperties") is not False:
            raise ConfigError(
                f"{name} cannot be a strict output schema",
                expected="only required fields, and no others allowed (extra='forbid')",
                got=f"optional fields {optional}" if optional else "further fields allowed",
                next_step="derive it from unbidden.llm.schemas.Output, and use X | None without "
                "a default for what may be absent",
            )
    cleaned: dict[str, Any] = _bare(found)
    return cleaned


def _bare(value: Any, *, names: bool = False) -> Any:
    # Under "properties" and "$defs" the keys are names: a field may itself be called "title".
    if isinstance(value, list):
        return [_bare(item) for item in value]
    if not isinstance(value, dict):
        return value
    notes = () if names else ("title", "description") if "properties" in value else ("title",)
    return {
        key: _bare(item, names=not names and key in ("properties", "$defs"))
        for key, item in value.items()
        if key not in notes
    }


def _response_format(schema: type[BaseModel], wanted: dict[str, Any]) -> dict[str, Any]:
    inner = {"name": schema.__name__, "strict": True, "schema": wanted}
    return {"type": "json_schema", "json_schema": inner}


def _with_schema(messages: Sequence[Message], wanted: dict[str, Any]) -> list[Message]:
    note = (
        "Answer with one JSON value and nothing else: no words before or after it, no code "
        f"fence. It must be valid under this JSON schema:\n{json.dumps(wanted)}"
    )
    first, *rest = messages
    if first["role"] != "system":
        return [{"role": "system", "content": note}, first, *rest]
    return [{"role": "system", "content": f"{first['content']}\n\n{note}"}, *rest]
