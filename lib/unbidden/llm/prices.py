"""What calls cost: a small dated table, which a reader can replace by a file of their own."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib import resources
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from unbidden.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


_SNAPSHOT = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})\Z")


class Price(BaseModel):
    """Price of one model, in the table's currency for a million tokens.

    Attributes
    ----------
    as_of : str
        Year and month in which it was seen.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    input: float = Field(ge=0)
    output: float = Field(ge=0)
    as_of: str = Field(pattern=r"^\d{4}-\d{2}")


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    about: str = ""
    currency: str
    models: list[Price]


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model name; a dated snapshot of a model has the price of its plain name."""

    currency: str
    models: dict[str, Price]

    def find(self, model: str) -> Price | None:
        """Return the price of a model, or None if the table does not have it.

        ``gpt-x-2026-01-31`` is found under ``gpt-x``; ``gpt-x-mini`` is another model.
        """
        name = model.rsplit("/", 1)[-1]
        return self.models.get(name) or self.models.get(_SNAPSHOT.sub("", name))

    def cost(self, model: str, input_tokens: int, output_tokens: int) -> float | None:
        """Return the price of some tokens in the table's currency; None if it is not known."""
        price = self.find(model)
        if price is None:
            return None
        return (input_tokens * price.input + output_tokens * price.output) / 1e6


def load_prices(path: Path | None = None) -> Prices:
    """Return the package's price table, or the reader's own.

    Parameters
    ----------
    path : Path, optional
        JSON of the same form as ``llm/tables/prices.json``.

    Raises
    ------
    ConfigError
        If the file cannot be read or is of another form.
    """
    try:
        source = path or resources.files("unbidden.llm").joinpath("tables/prices.json")
        table = _Table.model_validate(json.loads(source.read_text(encoding="utf-8")))
    except (OSError, ValueError, ValidationError) as error:
        raise ConfigError(
            f"the price table {path.name if path else ''} cannot be used",
            expected='JSON {"currency": ..., "models": [{"model", "input", "output", "as_of"}]}',
            got=f"{type(error).__name__}: {str(error)[:200]}",
            next_step="copy llm/tables/prices.json of the package and edit the copy",
        ) from error
    return Prices(table.currency, {price.model: price for price in table.models})
