"""One frozen, checked record of a run's parameters, and where its results go."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from unbidden.corpus.models import STYLES, Style
from unbidden.errors import ConfigError, closest

OUT_VARIABLE = "UNBIDDEN_OUT"
"""Set by the executor: the folder a chapter writes to until it has succeeded."""

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


PositiveInts = tuple[Annotated[int, Field(gt=0)], ...]


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
    dataset: str = "harbour"
    conversations: tuple[str, ...] = ()
    styles: tuple[Style, ...] = STYLES
    evidence: Literal["paper", "repaired"] = "paper"
    limit: Annotated[int, Field(gt=0)] | None = None
    seed: int = 0

    def _repr_html_(self) -> str:
        """Return the parameters as a folded list."""
        rows = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>"
            for name, value in self.model_dump(mode="json").items()
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


class RetrievalConfig(RunConfig):
    """Parameters of the retrieval chapter.

    Attributes
    ----------
    top_k : int
        The K of the headline tables.
    ks : tuple of int
        Every K scored; `top_k` is added.
    turn_budgets, token_budgets : tuple of int
        Distinct turns, and shown tokens, at which recall is also measured.
    protocol : {"paper", "repaired"}
        Text form of a turn.
    """

    systems: tuple[str, ...] = ("bm25", "dense", "rrf")
    top_k: Annotated[int, Field(gt=0)] = 10
    ks: PositiveInts = (1, 5, 10, 20, 50)
    turn_budgets: PositiveInts = (5, 10, 20, 50)
    token_budgets: PositiveInts = (600,)
    protocol: Literal["paper", "repaired"] = "paper"
    embedder: str = "all-MiniLM-L6-v2"

    @property
    def all_ks(self) -> list[int]:
        """All K to score, ascending."""
        return sorted({*self.ks, self.top_k})

    @property
    def depth(self) -> int:
        """Memories to ask for: enough for every K and, where one memory is one turn, budget."""
        return max(*self.all_ks, *self.turn_budgets, 50)


class ModelConfig(RunConfig):
    """Parameters of chapters that ask models.

    Attributes
    ----------
    llm_mode : {"replay", "record", "live"}
        "replay" makes no call; "record" makes those that are not on record; "live" makes all.
    answer_model, judge_model : str
        Names as the endpoint knows them; an empty judge is the answer model.
    local_model : str
        A local model to serve while the chapter runs, unless it only replays.
    max_calls, max_tokens, max_money : number or None
        Budget; a run that would exceed it stops cleanly and can be resumed.
    """

    llm_mode: Literal["replay", "record", "live"] = "replay"
    answer_model: str = "qwen2.5-coder-1.5b"
    judge_model: str = ""
    local_model: str = ""
    concurrency: Annotated[int, Field(gt=0)] = 8
    max_calls: Annotated[int, Field(gt=0)] | None = None
    max_tokens: Annotated[int, Field(gt=0)] | None = None
    max_money: Annotated[float, Field(gt=0)] | None = None
