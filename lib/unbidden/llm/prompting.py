"""Prompt files: one Jinja template each, its role and limits in the head, rendered to messages.

The head is a comment with YAML: ``role``, ``purpose``, and where they apply ``schema`` (a class in
`unbidden.llm.schemas`, or ``module.Class`` for another module of `unbidden.llm`) and
``max_tokens``. Two blocks follow, ``system`` with the instructions and ``user`` with the item, so
that calls of one prompt share their beginning. Values are filled in after the template is compiled
and each block is rendered alone: no text of a user can become template syntax or another message.
"""

from __future__ import annotations

import hashlib
import importlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from jinja2 import Environment, StrictUndefined, TemplateError, meta

from unbidden.errors import ConfigError, closest
from unbidden.llm import schemas
from unbidden.llm.settings import ROLES, Role

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from importlib.resources.abc import Traversable

    from jinja2 import Template
    from pydantic import BaseModel

    from unbidden.llm.request import Message

SUFFIX = ".j2"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt file.

    Attributes
    ----------
    name : str
        File name without suffix; it ends in the version (``judge_fact_use.v1``).
    sha256 : str
        Hash of the file's text with Unix line ends.
    variables : frozenset of str
        Names the template needs; exactly these must be given.
    schema : type of BaseModel or None
        Form of the reply, unless a call gives another one.
    max_tokens : int or None
        Output tokens that suffice for this prompt.
    """

    name: str
    role: Role
    purpose: str
    source: str
    sha256: str
    variables: frozenset[str]
    schema: type[BaseModel] | None
    max_tokens: int | None
    _template: Template

    def render(self, variables: Mapping[str, Any]) -> list[Message]:
        """Return the messages, instructions first and the item last.

        Raises
        ------
        ConfigError
            If a variable is missing, not known to the template, or has no such attribute.
        """
        if self.variables != set(variables):
            raise ConfigError(
                f"prompt {self.name!r} was given other variables than it has",
                expected=", ".join(sorted(self.variables)),
                got=", ".join(sorted(variables)) or "none",
                next_step="give exactly these; a typing error is the usual cause",
            )
        try:
            context = self._template.new_context(dict(variables))
            texts = {
                role: "".join(self._template.blocks[role](context)).strip()
                for role in ("system", "user")
            }
        except (TemplateError, TypeError) as error:
            raise ConfigError(
                f"prompt {self.name!r} cannot be filled in",
                expected="values with the attributes its template uses",
                got=f"{type(error).__name__}: {error}",
                next_step="compare the variables with the prompt's file",
            ) from error
        return [{"role": role, "content": text} for role, text in texts.items() if text]


class PromptLibrary:
    """The prompts of the package and of folders of the reader's own.

    Parameters
    ----------
    folders : sequence of Path
        Searched before the package's own; a prompt there replaces ours of the same name.
    """

    def __init__(self, folders: Sequence[Path] = ()) -> None:
        self._places: list[Traversable] = [
            *folders,
            resources.files("unbidden.llm").joinpath("prompts"),
        ]
        self._environment = Environment(
            undefined=StrictUndefined, autoescape=False, trim_blocks=True, lstrip_blocks=True
        )
        self._loaded: dict[str, Prompt] = {}

    def names(self) -> list[str]:
        """Return the names of all prompts, sorted."""
        files = [item.name for place in self._places for item in place.iterdir()]
        return sorted({name.removesuffix(SUFFIX) for name in files if name.endswith(SUFFIX)})

    def all(self) -> list[Prompt]:
        """Return all prompts by name, for a page that shows them."""
        return [self.get(name) for name in self.names()]

    def get(self, name: str) -> Prompt:
        """Return one prompt.

        Raises
        ------
        ConfigError
            If there is none of that name, or its file is malformed.
        """
        if name not in self._loaded:
            self._loaded[name] = self._load(name)
        return self._loaded[name]

    def _load(self, name: str) -> Prompt:
        for place in self._places:
            file = place.joinpath(name + SUFFIX)
            if file.is_file():
                return _read(name, file.read_text(encoding="utf-8"), self._environment)
        raise ConfigError(
            f"unknown prompt {name!r}",
            expected=closest(name, self.names()),
            next_step=f"correct the name, or put {Path(name).name}{SUFFIX} into a prompt folder",
        )


def _read(name: str, source: str, environment: Environment) -> Prompt:
    source = source.replace("\r\n", "\n")
    try:
        if not source.startswith("{#"):
            raise ValueError("the file does not begin with a comment {# ... #}")
        head = yaml.safe_load(source[2 : source.index("#}")])
        template = environment.from_string(source)
        wrong = set(head) - {"role", "purpose", "schema", "max_tokens"}
        if wrong or head["role"] not in ROLES or set(template.blocks) != {"system", "user"}:
            raise ValueError(f"head {sorted(head)}, blocks {sorted(template.blocks)}")
        schema = _schema(head["schema"]) if "schema" in head else None
    except (
        ImportError,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        yaml.YAMLError,
        TemplateError,
    ) as error:
        raise ConfigError(
            f"prompt file {name!r} is malformed",
            expected="a head {# role, purpose, optional schema and max_tokens #}, then the blocks "
            "system and user",
            got=f"{type(error).__name__}: {str(error)[:200]}",
            next_step="compare it with a prompt of the package",
        ) from error
    return Prompt(
        name=name,
        role=head["role"],
        purpose=head["purpose"],
        source=source,
        sha256=hashlib.sha256(source.encode("utf-8")).hexdigest(),
        variables=frozenset(meta.find_undeclared_variables(environment.parse(source))),
        schema=schema,
        max_tokens=head.get("max_tokens"),
        _template=template,
    )


def _schema(name: str) -> type[BaseModel]:
    module, _, attribute = name.rpartition(".")
    place = importlib.import_module(f"unbidden.llm.{module}") if module else schemas
    found: type[BaseModel] = getattr(place, attribute)
    return found


def prompts() -> list[Prompt]:
    """Return the prompts of the package, sorted by name."""
    return PromptLibrary().all()
