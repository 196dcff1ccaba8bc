"""What a memory system, a rewriter or a judge may ask of a model: the one interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar, overload

from pydantic import BaseModel

from unbidden.llm.labels import check_labels
from unbidden.llm.request import Request, build

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from unbidden.llm.outcome import Outcome
    from unbidden.llm.prompting import Prompt, PromptLibrary
    from unbidden.llm.settings import LLMSettings

S = TypeVar("S", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Call:
    """One call to be made.

    Attributes
    ----------
    prompt_name : str
        Name of a prompt file, with its version.
    variables : mapping
        Exactly the variables of the prompt.
    schema : type of BaseModel or None
        Form of the reply; None means the prompt's own, or text where it has none.
    repeat : int
        0 for the first; a higher index is another call with another seed.
    labels : tuple of str
        If given, one free token is asked for and the value is their `LabelScores`; no schema
        applies. The prompt must end where the label stands.
    max_tokens : int or None
        Output tokens in place of the prompt's own; a limit of the role goes before both.
    model : str
        Model in place of that of the prompt's role; an empty one is the role's.
    """

    prompt_name: str
    variables: Mapping[str, Any]
    schema: type[BaseModel] | None = None
    repeat: int = 0
    labels: tuple[str, ...] = ()
    max_tokens: int | None = None
    model: str = ""


class LLM(ABC):
    """Something that answers prompts; also a context manager that closes it."""

    @overload
    def ask(
        self, prompt_name: str, variables: Mapping[str, Any], schema: type[S], repeat: int = 0
    ) -> Outcome[S]: ...

    @overload
    def ask(
        self,
        prompt_name: str,
        variables: Mapping[str, Any],
        schema: None = None,
        repeat: int = 0,
    ) -> Outcome[Any]: ...

    def ask(
        self,
        prompt_name: str,
        variables: Mapping[str, Any],
        schema: type[BaseModel] | None = None,
        repeat: int = 0,
    ) -> Outcome[Any]:
        """Return the outcome of one call; see `Call` for the parameters, `ask_many` for errors."""
        return self.ask_many([Call(prompt_name, variables, schema, repeat)])[0]

    @abstractmethod
    def ask_many(self, calls: Iterable[Call], *, label: str = "") -> list[Outcome[Any]]:
        """Return the outcomes of many calls, in their order.

        Parameters
        ----------
        calls : iterable of Call
            Two that would send the same request are asked once.
        label : str
            Shown before the progress line on a terminal.

        Raises
        ------
        ConfigError
            If a prompt or its variables are wrong; nothing has been sent then.
        LLMError
            If a call is not recorded and must not be made, or there is no key.
        BudgetExceeded
            If the budget is spent; what was answered is kept.
        """

    def for_system(self, name: str) -> LLM:
        """Return what the memory system of this name asks: this, unless another is set for it."""
        return self

    def close(self) -> None:  # noqa: B027 - most models hold nothing to release
        """Release connections and files."""

    def __enter__(self) -> LLM:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


class AskedOf(LLM):
    """Asks one model what would go to the model of each prompt's role.

    Parameters
    ----------
    inner : LLM
        Makes the calls; it stays open when this is closed.
    model : str
        Name as the endpoint knows it.
    """

    def __init__(self, inner: LLM, model: str) -> None:
        self.inner, self.model = inner, model

    def ask_many(self, calls: Iterable[Call], *, label: str = "") -> list[Outcome[Any]]:
        """Return the outcomes of the calls, all made to `model`."""
        return self.inner.ask_many([replace(call, model=self.model) for call in calls], label=label)


@dataclass(frozen=True)
class Prepared:
    """A call with its prompt filled in.

    Attributes
    ----------
    forms : tuple of Request
        In which it may be sent, preferred first.
    labels : tuple of str
        Scored by likelihood; empty for a call that wants text.
    """

    prompt: Prompt
    schema: type[BaseModel] | None
    forms: tuple[Request, ...]
    labels: tuple[str, ...] = ()

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The key of each form."""
        return tuple(form.key for form in self.forms)

    @property
    def identity(self) -> tuple[str, type[BaseModel] | None, tuple[str, ...]]:
        """Equal for calls that can share one outcome."""
        return self.keys[0], self.schema, self.labels

    @property
    def model(self) -> str:
        """The model to be asked."""
        return str(self.forms[0].body["model"])


def prepare(call: Call, library: PromptLibrary, settings: LLMSettings) -> Prepared:
    """Return a call ready to be sent.

    Raises
    ------
    ConfigError
        If the prompt is unknown, its variables differ, the schema is not strict, or the labels
        cannot be told apart.
    """
    prompt = library.get(call.prompt_name)
    if call.labels:
        check_labels(call.labels)
    schema = None if call.labels else call.schema or prompt.schema
    role = settings.role(prompt.role)
    forms = build(
        prompt.render(call.variables),
        role.model_copy(update={"model": call.model}) if call.model else role,
        max_tokens=call.max_tokens or prompt.max_tokens,
        schema=schema,
        repeat=call.repeat,
        scores=bool(call.labels),
    )
    return Prepared(prompt, schema, forms, call.labels)
