"""One frozen, checked record of a run's parameters: what every chapter takes."""

from __future__ import annotations

import html
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)

from unbidden.config.places import OUT_VARIABLE, check_run_name, run_folder, without_paths
from unbidden.corpus.models import STYLES, Style
from unbidden.errors import ConfigError, closest

if TYPE_CHECKING:
    from collections.abc import Mapping

Count = Annotated[int, Field(gt=0, le=1_000_000, strict=True)]
Counts = tuple[Count, ...]


class RunConfig(BaseModel):
    """Parameters every chapter takes.

    Attributes
    ----------
    conversations : tuple of str
        Sample ids; empty means all.
    evidence : {"paper", "repaired"}
        How evidence strings are read.
    limit : int or None
        First so many questions of each conversation.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    chapter: str
    run: Annotated[str, AfterValidator(check_run_name)] = "scratch"
    dataset: Annotated[str, Field(min_length=1)] = "harbour"
    conversations: tuple[str, ...] = ()
    styles: tuple[Style, ...] = STYLES
    evidence: Literal["paper", "repaired"] = "paper"
    limit: Count | None = None
    seed: Annotated[int, Field(ge=0, strict=True)] = 0

    @field_validator("*", mode="before")
    @classmethod
    def _from_text(cls, value: object) -> object:
        """Read a list or object given as text, as ``papermill -p NAME '[...]'`` passes it."""
        if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
            try:
                return json.loads(value)
            except ValueError:
                return value
        return value

    def _repr_html_(self) -> str:
        """Return the parameters as a folded list."""
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
            for name, value in without_paths(self.model_dump(mode="json")).items()
        )
        return (
            '<details class="unbidden-parameters"><summary>Parameters of this run</summary>'
            f"<table>{rows}</table></details>"
        )

    @classmethod
    def of(cls, **parameters: object) -> Self:
        """Build the config from a notebook's parameters.

        Raises
        ------
        ConfigError
            For an unknown parameter (closest names suggested) or a value out of range.
        """
        try:
            return cls.model_validate(parameters)
        except ValidationError as error:
            raise cls._explained(error, parameters) from error

    @classmethod
    def of_notebook(cls, chapter: str, namespace: Mapping[str, object]) -> Self:
        """Build the config from what the parameters cell of a notebook defined.

        Parameters
        ----------
        namespace : mapping of str to object
            The notebook's ``globals()``: names that are no parameter are passed over, and a
            parameter that the cell leaves out keeps its default.

        Raises
        ------
        ConfigError
            For a value out of range.
        """
        given = {name: namespace[name] for name in cls.model_fields if name in namespace}
        return cls.of(**{**given, "chapter": chapter})

    @classmethod
    def _explained(cls, error: ValidationError, parameters: dict[str, object]) -> ConfigError:
        first = error.errors()[0]
        name = str(first["loc"][0])
        if first["type"] == "extra_forbidden":
            return ConfigError(
                f"unknown parameter {name!r}",
                expected=closest(name, cls.model_fields),
                next_step="correct the name",
            )
        return ConfigError(
            f"the parameter {name!r} is out of range",
            expected=first["msg"],
            got=repr(parameters.get(name))[:200],
            next_step="correct the value",
        )

    @property
    def folder(self) -> Path:
        """The folder this chapter writes to now."""
        out = os.environ.get(OUT_VARIABLE, "").strip()
        return Path(out) if out else run_folder(self.run, self.chapter)


class ModelConfig(RunConfig):
    """Parameters of chapters that ask models.

    Attributes
    ----------
    llm_mode : {"replay", "record", "live"}
        "replay" makes no call; "record" makes those that are not on record; "live" makes all.
    answer_model, judge_model, memory_model, rewriter_model : str
        Names as the endpoint knows them; an empty one is the answer model.
    local_model : str
        A local model to serve while the chapter runs, unless it only replays.
    call_seconds : float
        Seconds to wait for one call, in each of its attempts. A small model that repeats itself up
        to its token limit on a slow processor needs more than the default; a model that this run
        serves gets at least 900.
    max_calls, max_tokens, max_money : number or None
        Budget; a run that would exceed it stops cleanly and can be resumed.
    """

    llm_mode: Literal["replay", "record", "live"] = "replay"
    answer_model: str = "qwen2.5-coder-1.5b"
    judge_model: str = ""
    memory_model: str = ""
    rewriter_model: str = ""
    local_model: str = ""
    concurrency: Count = 8
    call_seconds: Annotated[float, Field(gt=0)] = 180.0
    max_calls: Count | None = None
    max_tokens: Annotated[int, Field(gt=0)] | None = None
    max_money: Annotated[float, Field(gt=0)] | None = None

    def models_of_systems(self) -> dict[str, str]:
        """Return models of single memory systems, by name, in place of `memory_model`."""
        return {}
