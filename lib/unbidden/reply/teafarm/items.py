"""TeaFarm's items: a misleading question, its reference answer, and the talk that leads to it."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from unbidden.atomic import write_text
from unbidden.corpus.models import ConversationId, Turn, TurnId
from unbidden.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SINGLE_HOP = 4


@dataclass(frozen=True, slots=True)
class TeaItem:
    """One question by which an agent may be misled about its past.

    Attributes
    ----------
    id : str
        ``<conversation>#<name>``, unique.
    conversation : ConversationId
        Intervals are clustered over it.
    speaker, other : str
        Who asks, and who is asked.
    question : str
        Takes something false for granted.
    answer : str
        What a perfect memory would say.
    false_part : str
        What is taken for granted.
    about : str
        The plain question behind it, where there is one (LoCoMo); empty otherwise.
    evidence : tuple of str
        Turns that show the truth; empty if unknown.
    category : int
        LoCoMo's; an item written for TeaFarm has 4, one fact being at stake.
    talk : tuple of Turn
        The further session up to the question, without it; empty where the question stands alone.
    notes : tuple of str
        What is odd about it.
    unscored : str or None
        Why it cannot be asked; then later fields may be empty.
    """

    id: str
    conversation: ConversationId
    speaker: str
    other: str
    question: str = ""
    answer: str = ""
    false_part: str = ""
    about: str = ""
    evidence: tuple[str, ...] = ()
    category: int = SINGLE_HOP
    talk: tuple[Turn, ...] = ()
    notes: tuple[str, ...] = ()
    unscored: str | None = None

    @property
    def dialogue(self) -> tuple[Turn, ...]:
        """The further session with the question as its last utterance."""
        last = Turn(TurnId(f"T:{len(self.talk) + 1}"), self.speaker, self.question)
        return (*self.talk, last)

    @property
    def tagged(self) -> str:
        """The session, one line an utterance, each with its speaker: what THEANINE searches for."""
        return "\n".join(f"{turn.speaker}: {' '.join(turn.text.split())}" for turn in self.dialogue)


def write_items(path: Path, items: Iterable[TeaItem]) -> None:
    """Write items as JSON, whole or not at all."""
    records = [asdict(item) for item in items]
    write_text(path, json.dumps(records, ensure_ascii=False, indent=1) + "\n")


def read_items(path: Path) -> list[TeaItem]:
    """Return the items of a file that `write_items` wrote.

    Raises
    ------
    DataError
        If it is no such file.
    """
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        items = [_item(record) for record in records]
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise DataError(
            f"{path.name} holds no TeaFarm items",
            expected="a list as `write_items` writes it",
            got=f"{type(error).__name__}: {str(error)[:200]}",
            next_step="write it again with `make_items`",
        ) from error
    if len({item.id for item in items}) < len(items):
        raise DataError(
            f"{path.name} has an item id twice", expected="unique ids", next_step="correct it"
        )
    return items


def _item(record: dict[str, Any]) -> TeaItem:
    texts = ("id", "conversation", "speaker", "other", "question", "answer", "false_part", "about")
    for name in texts:
        if not isinstance(record[name], str):
            raise ValueError(f"{name} is no text in {str(record.get('id'))[:60]}")
    talk = tuple(Turn(TurnId(t["id"]), t["speaker"], t["text"]) for t in record["talk"])
    lists = {name: tuple(record[name]) for name in ("evidence", "notes")}
    return TeaItem(**{**record, **lists, "talk": talk})
