"""LoCoMo-Conv's release files: composed clusters, and rewrites joined to another copy of LoCoMo.

Records are joined by content. A release file may hold fewer than ten conversations, and its
``sample_idx`` counts positions in a file the reader may not have.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from unbidden.corpus.locomo import speaker_name
from unbidden.corpus.models import Cluster, Irregularity, Rewrite
from unbidden.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from unbidden.corpus.models import Conversation


def read_clusters(
    value: Any, conversations: Sequence[Conversation], file_name: str
) -> tuple[list[Cluster], list[Irregularity]]:
    """Return the composed clusters of a ``locomo10_multimem*.json`` file.

    A cluster belongs to the conversation whose questions at ``member_q_idxs`` have the very texts
    of ``member_facts``.

    Raises
    ------
    DataError
        If a record is malformed; it is named.
    """
    if not isinstance(value, list):
        raise _error(file_name, "the file", "a list of clusters", type(value).__name__)
    clusters, notes = [], []
    for position, record in enumerate(value):
        where = f"record {position}"
        members = _members(record, file_name, where)
        home = _home(members, conversations)
        name = str(record.get("cluster_id", where))[:100]
        if home is None:
            notes.append(
                Irregularity("cluster of no loaded conversation", f"{file_name} {name}", "left out")
            )
            continue
        text = record.get("composed_query")
        if not isinstance(text, str) or not text.strip():
            notes.append(Irregularity("empty query", f"{home.id} {name}", "composed; left out"))
            continue
        rewrite = Rewrite(
            text,
            speaker_name(record, "", home.speakers, None),
            record.get("expected_memory_use"),
        )
        gold = tuple(str(turn) for turn in record.get("gold_dia_ids", ()))
        clusters.append(Cluster(home.id, tuple(sorted(members)), rewrite, name, gold))
    return clusters, notes


def _members(record: Any, file_name: str, where: str) -> dict[int, str]:
    """Return question index to question text of the members of one cluster record."""
    facts = record.get("member_facts") if isinstance(record, dict) else None
    if not isinstance(facts, list) or len(facts) < 2:
        raise _error(file_name, where, "an object with two or more 'member_facts'", repr(record))
    try:
        members = {int(fact["q_idx"]): str(fact["question"]) for fact in facts}
    except (KeyError, TypeError, ValueError) as error:
        raise _error(
            file_name, where, "'q_idx' and 'question' in each member fact", repr(facts)
        ) from error
    if "member_q_idxs" in record and sorted(members) != sorted(record["member_q_idxs"]):
        raise _error(
            file_name, where, f"member_q_idxs {sorted(members)}", repr(record["member_q_idxs"])
        )
    return members


def _home(members: Mapping[int, str], conversations: Iterable[Conversation]) -> Conversation | None:
    for conversation in conversations:
        questions = conversation.questions
        if all(
            0 <= index < len(questions) and questions[index].text == text
            for index, text in members.items()
        ):
            return conversation
    return None


def join_rewrites(
    conversations: Iterable[Conversation], released: Iterable[Conversation]
) -> tuple[list[Conversation], list[Irregularity]]:
    """Return the conversations with the rewrites of those whose content a release shares.

    Two conversations are the same if all turns (speaker, id, text) and all question texts are.
    """
    by_content = {_content(conversation): conversation for conversation in released}
    joined, notes = [], []
    for conversation in conversations:
        other = by_content.pop(_content(conversation), None)
        if other is None:
            joined.append(conversation)
            continue
        questions = tuple(
            dataclasses.replace(own, rewrites=theirs.rewrites)
            for own, theirs in zip(conversation.questions, other.questions, strict=True)
        )
        joined.append(dataclasses.replace(conversation, questions=questions))
    for other in by_content.values():
        notes.append(
            Irregularity(
                "released conversation not joined", other.id, "its content matches no conversation"
            )
        )
    return joined, notes


def _content(conversation: Conversation) -> tuple[object, ...]:
    return (
        tuple((turn.id, turn.speaker, turn.text.strip()) for turn in conversation.turns),
        tuple(question.text for question in conversation.questions),
    )


def _error(file_name: str, where: str, expected: str, got: str) -> DataError:
    return DataError(
        f"{file_name}: {where} is not of LoCoMo-Conv's form",
        expected=expected,
        got=got[:200],
        next_step="correct or remove the record",
    )
