"""Replies as a table of ids and texts: kept, read back, and judged without being made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.atomic import replacing
from unbidden.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from unbidden.reply.answer import Answer

KEY_COLUMNS = (
    *("dataset", "conversation", "query_id", "style", "category"),
    *("system", "condition", "k", "repeat", "model"),
)
"""What tells replies apart."""
COLUMNS = (*KEY_COLUMNS, "text", "thoughts", "cited", "memories", "turns", "tokens", "notes")
ALL_COLUMNS = (*COLUMNS, "unscored", "key")
_LISTS = ("cited", "memories", "turns", "notes")


def answer_table(dataset: str, model: str, answers: Iterable[Answer]) -> pd.DataFrame:
    """Return one row a reply; see `Answer` for the columns.

    The messages are not in it: they belong to the corpus, and are found by style and id. The
    memories as shown are, since two rubrics judge a reply against them; so keep the table of a
    corpus that may not be passed on among the results that are not committed.

    Parameters
    ----------
    model : str
        What made the replies.

    Raises
    ------
    DataError
        If two replies have the same key.
    """
    rows = [
        {
            "dataset": dataset,
            "conversation": one.query.conversation,
            "query_id": one.query.id,
            "style": one.query.style,
            "category": one.query.category,
            "system": one.system,
            "condition": one.condition,
            "k": one.k,
            "repeat": one.repeat,
            "model": model,
            "text": one.text,
            "thoughts": one.thoughts,
            **{name: list(getattr(one, name)) for name in _LISTS},
            "tokens": one.tokens,
            "unscored": one.unscored,
            "key": one.key,
        }
        for one in answers
    ]
    frame = pd.DataFrame(rows, columns=list(ALL_COLUMNS))
    for name in ("text", "unscored"):
        frame[name] = frame[name].astype("object").where(frame[name].notna(), None)
    twice = frame.duplicated(subset=list(KEY_COLUMNS))
    if twice.any():
        first = frame[twice].iloc[0]
        raise DataError(
            "two replies have the same key",
            got=", ".join(f"{name} {first[name]}" for name in KEY_COLUMNS),
            next_step="give conditions of the same name different names or k",
        )
    return frame.astype({"category": "Int8", "k": "Int64"})


def write_answers(path: Path, frame: pd.DataFrame) -> None:
    """Write the table as Parquet, whole or not at all."""
    with replacing(path) as partial:
        frame.to_parquet(partial, index=False)


def read_answers(path: Path) -> pd.DataFrame:
    """Return a table that `write_answers` wrote.

    Raises
    ------
    DataError
        If the file cannot be read or has other columns.
    """
    try:
        frame = pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise DataError(
            f"the replies in {path.name} cannot be read",
            expected="a file of `write_answers`",
            got=f"{type(error).__name__}: {str(error)[:200]}",
            next_step="make the replies again; their recorded calls answer at once",
        ) from error
    if list(frame.columns) != list(ALL_COLUMNS):
        raise DataError(
            f"{path.name} is no table of replies",
            expected=", ".join(ALL_COLUMNS),
            got=", ".join(map(str, frame.columns)),
            next_step="name a file of `write_answers`",
        )
    for name in _LISTS:
        frame[name] = [list(value) for value in frame[name]]
    for name in ("text", "unscored"):
        frame[name] = frame[name].astype("object").where(frame[name].notna(), None)
    return frame.astype({"category": "Int8", "k": "Int64"})
