"""One frozen, checked record of a run's parameters, and where its results go."""

from __future__ import annotations

import html
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
)

from unbidden.corpus.models import STYLES, Style
from unbidden.errors import ConfigError, closest

if TYPE_CHECKING:
    from collections.abc import Mapping

OUT_VARIABLE = "UNBIDDEN_OUT"
"""Set by the executor: the folder a chapter writes to until it has succeeded."""

STAMP = "unbidden"
"""Key of the notebook metadata that says what a page was made from."""

_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_run_name(name: str) -> str:
    """Return a run's name if it can be a folder's.

    Raises
    ------
    ConfigError
        If it has other characters than letters, digits, dot, hyphen and underscore.
    """
    if not _RUN_NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} cannot name a run",
            expected="1 to 64 letters, digits, '.', '-' or '_', the first a letter or digit",
            next_step="choose another value for `run`",
        )
    return name


def project_root(start: Path | None = None) -> Path:
    """Return the nearest folder above `start` that holds the study, else `start` itself."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "notebooks" / "study.yaml").is_file():
            return folder
    return here


def run_folder(run: str, chapter: str) -> Path:
    """Return the folder a chapter's results of a run lie in."""
    return project_root() / "results" / "runs" / check_run_name(run) / chapter


def without_paths(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters whose `dataset` holds no folder of this machine, to be shown or kept."""
    dataset = str(parameters.get("dataset", ""))
    if dataset and Path(dataset).expanduser().exists():
        return {**parameters, "dataset": Path(dataset).name}
    return dict(parameters)


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


CHEAPER: dict[str, dict[str, Any]] = {
    "mem0": {"ingestion": "one-pass", "batch_size": 4},
    "mem0-v2": {"ingestion": "one-pass", "batch_size": 4},
    "theanine": {"dialogues": "none"},
}
"""Options that ask a small local model for less than the papers do: fewer or shorter calls."""


class RetrievalConfig(ModelConfig):
    """Parameters of the retrieval chapter.

    Attributes
    ----------
    top_k : int
        The K of the headline tables.
    ks : tuple of int
        Every K scored; `top_k` is added.
    turn_budgets, token_budgets : tuple of int
        Distinct turns, and shown tokens, at which recall is also measured.
    metrics : tuple of str
        The reader's own, as ``package.module:function``; see `unbidden.retrieval.metrics`.
    protocol : {"paper", "repaired"}
        Text form of a turn.
    memory_models : dict of str to str
        Models of single systems, by name, in place of `memory_model`.
    settings : {"locomo-conv", "published"}
        How systems are set, see `unbidden.memory.presets`.
    system_options : dict of str to dict
        Options of single systems, by name; they go before `settings`.
    max_failed : float
        A conversation of whose units a system lost a larger share is unscored for it.
    """

    systems: tuple[str, ...] = (
        *("bm25", "dense", "rrf", "unbidden", "amem-noevo", "amem", "mem0", "mem0-v2"),
        *("anchormem", "memora", "nemori", "msc-retrieval", "theanine", "unbidden-llm"),
    )
    top_k: Count = 10
    ks: Counts = (1, 5, 10, 20, 50)
    turn_budgets: Counts = (5, 10, 20, 50)
    token_budgets: Counts = (600,)
    metrics: tuple[str, ...] = ()
    protocol: Literal["paper", "repaired"] = "paper"
    embedder: str = "all-MiniLM-L6-v2"
    memory_model: str = "qwen2.5-coder-1.5b"
    memory_models: dict[str, str] = Field(default_factory=dict)
    settings: Literal["locomo-conv", "published"] = "locomo-conv"
    system_options: dict[str, dict[str, Any]] = Field(default_factory=lambda: dict(CHEAPER))
    max_failed: Annotated[float, Field(ge=0, le=1)] = 0.05

    def models_of_systems(self) -> dict[str, str]:
        """Return models of single memory systems, by name, in place of `memory_model`."""
        return self.memory_models

    @property
    def all_ks(self) -> list[int]:
        """All K to score, ascending."""
        return sorted({*self.ks, self.top_k})

    @property
    def depth(self) -> int:
        """Memories to ask for: enough for every K and, where one memory is one turn, budget."""
        return max(*self.all_ks, *self.turn_budgets, 50)


class TimelinesConfig(ModelConfig):
    """Parameters of the chapter on timelines.

    Attributes
    ----------
    dialogues : {"session", "none"}
        Whether the relation prompt shows the dialogues two memories come from, as published.
    reply_conversations : tuple of str
        Those of whose last session replies are made; empty means the first alone.
    reply_turns : int or None
        First so many turns of that session.
    released : {"recorded", "rescore"}
        Show the recorded scores of the published outputs, or score them now (needs their files).
    """

    dialogues: Literal["session", "none"] = "none"
    reply_conversations: tuple[str, ...] = ()
    reply_turns: Count | None = 4
    released: Literal["recorded", "rescore"] = "recorded"
    embedder: str = "all-MiniLM-L6-v2"


class JudgesConfig(ModelConfig):
    """Parameters of the chapter on judges.

    Attributes
    ----------
    votes : {"recorded", "count"}
        Show the recorded shares of accepted answers, or count them now (needs the audit's files).
    audit_per_kind : int
        Answers of each kind of the audit that floors and models judge too, where they are counted.
    split : {"test", "dev", "all"}
        Part of the labelled set; rules and wordings were chosen on "dev".
    per_label : int or None
        First so many items of each rubric and label; None for all.
    forms, protocols : tuple of str
        Ways to ask a model for a verdict; each pair is a judge.
    similarity : bool
        Whether to run the floor by similarity too.
    also_judges : tuple of str
        Further models, of which what is on record is shown; they are never asked.
    resamples : int
        Behind the intervals of kappa and alpha.
    """

    votes: Literal["recorded", "count"] = "recorded"
    audit_per_kind: Count = 40
    split: Literal["test", "dev", "all"] = "test"
    per_label: Count | None = None
    forms: tuple[Literal["json", "word", "likelihood"], ...] = ("json", "word", "likelihood")
    protocols: tuple[Literal["repaired", "paper"], ...] = ("repaired", "paper")
    similarity: bool = True
    judge_model: str = "qwen2.5-coder-1.5b"
    also_judges: tuple[str, ...] = ("qwen2.5-coder-0.5b",)
    embedder: str = "all-MiniLM-L6-v2"
    resamples: Count = 499


class CostConfig(RunConfig):
    """Parameters of the chapter on cost.

    Attributes
    ----------
    top_k : int
        Memories a reply is given to read.
    """

    top_k: Count = 10
