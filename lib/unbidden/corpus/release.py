"""LoCoMo-Conv's release files: composed clusters, and rewrites joined to another copy of LoCoMo.

Records are joined by content. A release file may hold fewer than ten conversations, and its
``sample_idx`` counts positions in a file the reader may not have.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from unbidden.corpus.models import Cluster, Irregularity, Rewrite
from unbidden.corpus.rewrites import speaker_name
from unbidden.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from unbidden.corpus.models import Conversation, ConversationId


def read_clusters(
    value: Any, conversations: Sequence[Conversation], file_name: str
) -> tuple[list[Cluster], list[Irregularity]]:
    """Return the composed clusters of a ``locomo10_multimem*.json`` file.

    A cluster belongs to the conversation whose questions at ``member_q_idxs`` have the very texts
    of ``member_facts``; if several fit, to the first of them, which is noted.

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
        name = str(record.get("cluster_id", where))[:100]
        gold = _gold(record, file_name, f"{where} ({name})")
        homes = _homes(members, conversations)
        if not homes:
            notes.append(
                Irregularity("cluster of no loaded conversation", f"{file_name} {name}", "left out")
            )
            continue
        home = homes[0]
        if others := [item.id for item in homes[1:]]:
            kind, detail = "cluster of several conversations", f"also fits {', '.join(others)}"
            notes.append(Irregularity(kind, f"{home.id} {name}", f"{detail}; the first is taken"))
        text = record.get("composed_query")
        if not isinstance(text, str) or not text.strip():
            notes.append(Irregularity("empty query", f"{home.id} {name}", "composed; left out"))
            continue
        rewrite = Rewrite(
            text,
            speaker_name(record, "", home.speakers, None),
            record.get("expected_memory_use"),
        )
        clusters.append(Cluster(home.id, tuple(sorted(members)), rewrite, name, gold))
    return clusters, notes


def _members(record: Any, file_name: str, where: str) -> dict[int, str]:
    """Return question index to question text of the members of one cluster record."""
    facts = record.get("member_facts") if isinstance(record, dict) else None
    if not isinstance(facts, list) or len(facts) < 2:
        raise _error(file_name, where, "an object with two or more 'member_facts'", repr(record))
    for fact in facts:
        number = fact.get("q_idx") if isinstance(fact, dict) else None
        if not _whole(number) or not isinstance(fact.get("question"), str):
            expected = "a whole number 'q_idx' and a text 'question' in each member fact"
            raise _error(file_name, where, expected, repr(fact))
    members = {fact["q_idx"]: fact["question"] for fact in facts}
    if len(members) < 2:
        raise _error(file_name, where, "two or more different members", repr(sorted(members)))
    if "member_q_idxs" in record:
        listed = record["member_q_idxs"]
        fits = isinstance(listed, list) and all(map(_whole, listed))
        if not fits or sorted(listed) != sorted(members):
            raise _error(file_name, where, f"member_q_idxs {sorted(members)}", repr(listed))
    return members


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _gold(record: Mapping[str, Any], file_name: str, where: str) -> tuple[str, ...]:
    gold = record.get("gold_dia_ids", [])
    if not isinstance(gold, list) or not all(isinstance(turn, str) for turn in gold):
        raise _error(file_name, where, "gold_dia_ids as a list of turn ids", repr(gold))
    return tuple(gold)


def _homes(members: Mapping[int, str], conversations: Iterable[Conversation]) -> list[Conversation]:
    return [
        conversation
        for conversation in conversations
        if all(
            0 <= index < len(conversation.questions) and conversation.questions[index].text == text
            for index, text in members.items()
        )
    ]


def drop_repeats(clusters: Iterable[Cluster]) -> tuple[list[Cluster], list[Irregularity]]:
    """Return the first cluster of each conversation and members, and a note for each other."""
    first: dict[tuple[ConversationId, tuple[int, ...]], Cluster] = {}
    notes = []
    for cluster in clusters:
        earlier = first.setdefault((cluster.conversation, cluster.members), cluster)
        if earlier is not cluster:
            where = f"{cluster.conversation} {cluster.name}"
            detail = f"same members as {earlier.name}; left out"
            notes.append(Irregularity("composed query given twice", where, detail))
    return list(first.values()), notes


def join_rewrites(
    conversations: Iterable[Conversation], released: Iterable[Conversation]
) -> tuple[list[Conversation], dict[ConversationId, ConversationId], list[Irregularity]]:
    """Join the rewrites of a release to the conversations whose content it shares.

    Two conversations are the same if all turns (speaker, id, text) and all question texts are.

    Returns
    -------
    joined : list of Conversation
        All of `conversations`, with rewrites where there are any.
    homes : dict of ConversationId to ConversationId
        The id in `conversations` of each released conversation that was joined.
    notes : list of Irregularity
        The released conversations that were not.
    """
    by_content: dict[tuple[object, ...], Conversation] = {}
    for conversation in released:
        # As with clusters, the first of two equal conversations counts.
        by_content.setdefault(_content(conversation), conversation)
    joined, homes, notes = [], {}, []
    for conversation in conversations:
        other = by_content.pop(_content(conversation), None)
        if other is None:
            joined.append(conversation)
            continue
        homes[other.id] = conversation.id
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
    return joined, homes, notes


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
