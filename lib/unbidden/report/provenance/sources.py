"""Declared sources: which table and cell a number is, by the pattern of its name."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Literal

import yaml
from pydantic import BaseModel, ConfigDict, model_validator

from unbidden.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Value = str | int | float | bool
KINDS = ("cell", "sum", "mean", "max", "rows", "distinct", "fact", "words", "sentence")


class Source(BaseModel):
    """One entry of ``sources/CHAPTER.yaml``.

    Attributes
    ----------
    number : str
        Name of the number; ``{style}`` stands for any text, which `where` may use.
    table, items, report : str
        A CSV under ``tables/``, a Parquet file, or a list in a recorded report (``FILE#LIST``).
    where : mapping of str to value, list of values, or ``{not: value}``
        Column to what it must be.
    query : str
        A further condition, as an expression of the columns.
    cell : str
        Column of the one row, or an arithmetic expression of its columns.
    sum, mean, max, distinct : str
        A column over all rows; `mean` is a clustered mean, with its interval.
    per : str
        Divides a sum by that of another column or expression.
    first : bool
        Take the first of the rows that are so; otherwise there must be one.
    rows : bool
        The number of rows.
    fact : str
        Path in ``run.json``: ``parameters.top_k``.
    sentence : list of str
        Tables of which each decimal number in the text is a cell: for a sentence made by a rule.
    words : str
        Why the text holds no number of a result, such as "name of the model".
    run : str
        Another run the number is of; a recorded one, as ``recorded/NAME``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    number: str
    table: str = ""
    items: str = ""
    report: str = ""
    where: dict[str, Value | list[Value] | dict[Literal["not"], Value]] = {}
    query: str = ""
    cell: str = ""
    sum: str = ""
    mean: str = ""
    max: str = ""
    distinct: str = ""
    per: str = ""
    first: bool = False
    rows: bool = False
    fact: str = ""
    words: str = ""
    sentence: list[str] = []
    run: str = ""

    @model_validator(mode="after")
    def _one_kind(self) -> Source:
        kinds = [name for name in KINDS if getattr(self, name)]
        places = [name for name in ("table", "items", "report") if getattr(self, name)]
        needs_place = kinds not in (["fact"], ["words"], ["sentence"])
        if len(kinds) != 1 or len(places) != needs_place:
            raise ValueError(f"{self.number}: name one place and one of {', '.join(KINDS)}")
        return self

    @property
    def kind(self) -> str:
        """Which of `KINDS` it is."""
        return next(name for name in KINDS if getattr(self, name))

    def match(self, name: str) -> dict[str, str] | None:
        """Return what the pattern's placeholders stand for in a name, or None.

        >>> Source(number="n_{style}", words="x").match("n_dialog")
        {'style': 'dialog'}
        """
        parts = re.split(r"\{(\w+)\}", self.number)
        last = len(parts) - 2
        pattern = "".join(
            re.escape(part) if i % 2 == 0 else f"(?P<{part}>{'.+' if i == last else '[^_]+'})"
            for i, part in enumerate(parts)
        )
        found = re.fullmatch(pattern, name)
        return None if found is None else found.groupdict()


@lru_cache(maxsize=1)
def declared() -> dict[str, tuple[Source, ...]]:
    """Return the declared sources by chapter.

    Raises
    ------
    DataError
        If a file of sources is not of the form of `Source`.
    """
    found = {}
    folder = files("unbidden.report.provenance") / "sources"
    for file in sorted(folder.iterdir(), key=lambda item: item.name):
        if not file.name.endswith(".yaml"):
            continue
        try:
            entries = yaml.safe_load(file.read_text(encoding="utf-8"))
            found[file.name.removesuffix(".yaml")] = tuple(map(Source.model_validate, entries))
        except (yaml.YAMLError, ValueError, TypeError) as error:
            raise DataError(
                f"the sources of claims in {file.name} cannot be read",
                expected="a list of entries as `unbidden.report.provenance.sources.Source` says",
                got=str(error)[:500],
            ) from error
    return found


def sources_of(
    chapter: str, name: str, sources: Mapping[str, tuple[Source, ...]] | None = None
) -> Iterator[tuple[Source, dict[str, str]]]:
    """Yield the sources declared for a number, with what their placeholders stand for."""
    for source in (sources if sources is not None else declared()).get(chapter, ()):
        found = source.match(name)
        if found is not None:
            yield source, found
