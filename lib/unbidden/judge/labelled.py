"""The labelled set: replies to harbour's queries with the verdict a judge should give.

Written and labelled by a language model for this project (see ``data/README.md``); it tells whether
a judge can follow a rubric on clear cases, not how people would judge.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from importlib import resources
from typing import TYPE_CHECKING, Any, Literal

from unbidden.corpus.load import load_corpus
from unbidden.errors import DataError
from unbidden.judge.case import Case, GoldFact

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from unbidden.corpus.models import Conversation, Corpus, Style

Split = Literal["dev", "test"]
_KEYS = {"id", "split", "rubric", "query_id", "style", "label", "tags"}
_OPTIONAL = {"reply", "other", "parts", "memories", "other_memories"}


@dataclass(frozen=True)
class Item:
    """One labelled reply.

    Attributes
    ----------
    query_id : str
        As `unbidden.queries.build.Query.id`.
    reply, other : str or None
        None where two blocks of memories are compared.
    parts : mapping of str to float
        Scores of the rubric's parts; empty for rubrics of one label.
    memories, other_memories : tuple of str
        Turn ids of the query's conversation.
    tags : tuple of str
        What makes it hard, for instance ``negation`` or ``injection``.
    """

    id: str
    split: Split
    rubric: str
    query_id: str
    style: Style
    label: str
    tags: tuple[str, ...]
    reply: str | None = None
    other: str | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    memories: tuple[str, ...] = ()
    other_memories: tuple[str, ...] = ()

    @property
    def conversation(self) -> str:
        """The id of its conversation."""
        return self.query_id.partition("#")[0]

    @property
    def members(self) -> tuple[int, ...]:
        """The indices of its questions."""
        return tuple(int(part) for part in self.query_id.partition("#")[2].split("+"))


def load_items(
    *, split: Split | None = None, rubrics: Sequence[str] = (), path: Path | None = None
) -> list[Item]:
    """Return labelled items, in the order of the file.

    Parameters
    ----------
    split : {"dev", "test"}, optional
        Thresholds and prompts are chosen on "dev" and reported on "test".
    rubrics : sequence of str
        Which rubrics; empty for all.
    path : Path, optional
        A file of the reader's own, in the same form.

    Raises
    ------
    DataError
        If a line is not of the documented form.
    """
    place = path or resources.files("unbidden.judge") / "data" / "labelled.jsonl"
    items = []
    for number, line in enumerate(place.read_text(encoding="utf-8").splitlines(), 1):
        try:
            items.append(_item(json.loads(line)))
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(
                f"line {number} of {place.name} is no labelled item",
                expected=f"an object with {sorted(_KEYS)} and perhaps {sorted(_OPTIONAL)}",
                got=f"{type(error).__name__}: {str(error)[:200]}",
                next_step="correct the line; the data card describes the form",
            ) from error
    return [
        item
        for item in items
        if (split is None or item.split == split) and (not rubrics or item.rubric in rubrics)
    ]


def _item(record: dict[str, Any]) -> Item:
    if not _KEYS <= set(record) <= _KEYS | _OPTIONAL:
        raise ValueError(f"keys {sorted(record)}")
    if record["split"] not in ("dev", "test"):
        raise ValueError(f"split {record['split']!r}")
    lists: dict[str, Any] = {
        name: tuple(record[name])
        for name in ("tags", "memories", "other_memories")
        if name in record
    }
    fields: dict[str, Any] = {**record, **lists}
    item = Item(**fields)
    if not item.members or not item.conversation or not item.label:
        raise ValueError(f"query_id {item.query_id!r}, label {item.label!r}")
    return item


def cases(items: Iterable[Item], corpus: Corpus | None = None) -> list[Case]:
    """Return the cases of items, their messages, facts and memories taken from the corpus.

    Parameters
    ----------
    corpus : Corpus, optional
        Harbour by default.

    Raises
    ------
    DataError
        If a question, a rewrite, a cluster or a turn does not exist there.
    """
    corpus = corpus or load_corpus("harbour")
    return [case_of(item, corpus) for item in items]


def case_of(item: Item, corpus: Corpus) -> Case:
    """Return the case of one item; see `cases`."""
    try:
        conversation = corpus.conversation(item.conversation)
        questions = [conversation.questions[index] for index in item.members]
        if item.style == "composed":
            (cluster,) = [
                cluster
                for cluster in corpus.clusters
                if (cluster.conversation, cluster.members) == (item.conversation, item.members)
            ]
            rewrite = cluster.query
        else:
            rewrite = questions[0].rewrites[item.style]
        memories, others = (
            _turns(conversation, ids) for ids in (item.memories, item.other_memories)
        )
    except (KeyError, IndexError, ValueError) as error:
        raise DataError(
            f"the labelled item {item.id} does not fit the corpus {corpus.name}",
            expected=f"query {item.query_id} in style {item.style}, and its turns",
            got=f"{type(error).__name__}: {error}",
            next_step="use the corpus it was written for, or correct the ids",
        ) from error
    speaker, message, reply, other = rewrite.speaker or "", rewrite.text, item.reply, item.other
    if item.reply is None:  # two blocks of memories for a dialogue of one line
        message, reply, other = f"{speaker}: {message}", " ".join(memories), " ".join(others)
    return Case(
        id=item.id,
        conversation=item.conversation,
        speaker=speaker,
        message=message,
        reply=reply or "",
        facts=tuple(GoldFact(question.text, question.answer or "") for question in questions),
        memories=memories,
        trap=questions[0].trap,
        other=other,
    )


def _turns(conversation: Conversation, ids: Sequence[str]) -> tuple[str, ...]:
    known = {turn.id: f"{turn.speaker}: {turn.text}" for turn in conversation.turns}
    return tuple(known[i] for i in ids)  # type: ignore[index]


def balance(items: Iterable[Item]) -> dict[str, Counter[str]]:
    """Return how often each label stands in each rubric."""
    found: dict[str, Counter[str]] = {}
    for item in items:
        found.setdefault(item.rubric, Counter())[item.label] += 1
    return found
