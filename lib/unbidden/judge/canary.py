"""Finding gold answers where they must not be: in what is asked of any model but the judge."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.llm.ledger.row import Row


@dataclass(frozen=True, slots=True)
class Leak:
    """A model call that holds a gold text.

    Attributes
    ----------
    role : str
        Of the model that was asked.
    gold : str
        The text that was found.
    """

    role: str
    prompt: str
    key: str
    gold: str


def leaks(rows: Iterable[Row], golds: Sequence[str]) -> list[Leak]:
    """Return calls of other roles than the judge whose messages hold a gold text.

    Upper and lower case and blanks do not matter. Give texts that can stand nowhere else, as a
    canary that was put in place of a gold answer: a real answer often stands in the memories too.

    Parameters
    ----------
    rows : iterable of Row
        Of a ledger or a recording.
    golds : sequence of str
        Blank ones are passed over.
    """
    wanted = {gold: _plain(gold) for gold in golds if gold.strip()}
    found: list[Leak] = []
    for row in rows:
        if row.role == "judge":
            continue
        messages = json.loads(row.request)["body"]["messages"]
        said = _plain(" ".join(str(message["content"]) for message in messages))
        found.extend(
            Leak(row.role, row.prompt, row.key, gold)
            for gold, plain in wanted.items()
            if plain in said
        )
    return found


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
