"""Which model plays which role, with which parameters. Keys are never settings."""

from __future__ import annotations

import os
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from unbidden.errors import LLMError

Role = Literal["rewriter", "memory", "answer", "judge"]
ROLES: tuple[Role, ...] = ("rewriter", "memory", "answer", "judge")
DEFAULT_BASE_URL = "https://api.openai.com/v1"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class RoleSettings(_Frozen):
    """The model of one role and its sampling parameters; all of them are part of a call's key.

    Attributes
    ----------
    model : str
        Model name as the endpoint knows it.
    temperature, top_p : float or None
        None leaves the parameter out, for models that refuse it.
    max_tokens : int or None
        Most output tokens; None means what the prompt's file says, or 512. A model that thinks
        before it answers needs more than the prompt says.
    token_parameter : {"max_tokens", "max_completion_tokens"}
        The name under which the endpoint takes `max_tokens`.
    seed : int or None
        Base seed; the repeat index is added to it. None sends no seed.
    structured : {"auto", "native", "prompt"}
        How a reply of a schema is asked for: by the endpoint's ``response_format``, or by the
        schema in the prompt. "auto" tries the first and falls back where the endpoint refuses it.
    extra : dict
        Further fields of the request body.
    """

    model: str = Field(min_length=1)
    temperature: float | None = Field(default=0.0, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, ge=1)
    token_parameter: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seed: int | None = 0
    structured: Literal["auto", "native", "prompt"] = "auto"
    extra: dict[str, Any] = Field(default_factory=dict)


class LLMSettings(_Frozen):
    """The four roles, and how calls are made; the latter never changes an answer or a key.

    Attributes
    ----------
    serves : str
        The one model behind the endpoint, where it answers to any name (a local model that this run
        serves); a call to another is an error. Empty: any name.
    systems : dict of str to str
        Models of single memory systems, by name, in place of that of the role memory.
    base_url : str or None
        The endpoint; None means ``OPENAI_BASE_URL``, then OpenAI's own.
    timeout : float
        Seconds for one HTTP request.
    max_retries : int
        Retries of one call by the SDK, on 408, 409, 429, 5xx, timeouts and lost connections.
    concurrency : int
        Calls in flight at once.
    """

    rewriter: RoleSettings
    memory: RoleSettings
    answer: RoleSettings
    judge: RoleSettings
    serves: str = ""
    systems: dict[str, str] = Field(default_factory=dict)
    base_url: str | None = None
    timeout: float = Field(default=180.0, gt=0)
    max_retries: int = Field(default=4, ge=0)
    concurrency: int = Field(default=8, ge=1)

    @classmethod
    def of(
        cls,
        answer: str,
        judge: str | None = None,
        *,
        memory: str | None = None,
        rewriter: str | None = None,
        **options: Any,
    ) -> LLMSettings:
        """Return settings with one model for all roles, or others for some of them.

        Parameters
        ----------
        answer : str
            Model of the role answer.
        judge, memory, rewriter : str, optional
            Model of the judge, of what builds and searches memories, and of what rewrites queries;
            None means `answer`.
        **options
            Fields of `LLMSettings` and, applied to every role, of `RoleSettings`.

        >>> LLMSettings.of("small", "large", max_tokens=100).judge.model
        'large'
        """
        shared = {
            key: options.pop(key) for key in list(options) if key in RoleSettings.model_fields
        }
        role = RoleSettings(model=answer, **shared)
        grader = RoleSettings(model=judge or answer, **shared)
        keeper = RoleSettings(model=memory or answer, **shared)
        writer = RoleSettings(model=rewriter or answer, **shared)
        return cls(rewriter=writer, memory=keeper, answer=role, judge=grader, **options)

    def role(self, name: Role) -> RoleSettings:
        """Return the settings of one role."""
        found: RoleSettings = getattr(self, name)
        return found

    def endpoint(self) -> str:
        """Return the base URL that calls go to."""
        return self.base_url or os.environ.get("OPENAI_BASE_URL", "").strip() or DEFAULT_BASE_URL


def on_this_machine(endpoint: str) -> bool:
    """Return whether a base URL points to this machine."""
    return any(host in endpoint for host in ("//127.0.0.1", "//localhost", "//[::1]"))


def api_key(endpoint: str) -> str:
    """Return the key for an endpoint, read from ``OPENAI_API_KEY`` only.

    An endpoint on this machine needs none.

    Raises
    ------
    LLMError
        If there is none and the endpoint is not on this machine.
    """
    key = os.environ.get("OPENAI_API_KEY", "").strip()
    if key:
        return key
    if on_this_machine(endpoint):
        return "none"
    raise LLMError(
        "there is no API key",
        expected="a key in the environment variable OPENAI_API_KEY",
        got="(not set)",
        next_step="set it, or point OPENAI_BASE_URL to a local model (`unbidden models serve`)",
    )
