"""LoCoMo-Conv's clusters as a document: mined, given composed queries, written without loss."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unbidden.atomic import write_text
from unbidden.corpus.evidence import read_evidence
from unbidden.corpus.jsonfile import read_json
from unbidden.corpus.release import read_clusters
from unbidden.queries.release import misfit, normal_json, set_notes, set_speaker

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import Cluster, Conversation, Irregularity
    from unbidden.queries.clusters import Group
    from unbidden.queries.release import DialogFile, Written


@dataclass(frozen=True)
class ClusterFile:
    """A ``locomo10_multimem*.json``.

    Attributes
    ----------
    raw : list of dict
        All records, also those without a query and those of conversations not loaded.
    clusters : tuple of Cluster
        The records that make queries, in file order.
    """

    name: str
    raw: list[dict[str, Any]]
    conversations: tuple[Conversation, ...]
    clusters: tuple[Cluster, ...]
    irregularities: tuple[Irregularity, ...]

    @classmethod
    def parse(cls, value: Any, name: str, conversations: Sequence[Conversation]) -> ClusterFile:
        """Return the document of a parsed JSON value.

        Raises
        ------
        DataError
            If a record is malformed, or a cluster id stands twice; it is named.
        """
        clusters, notes = read_clusters(value, conversations, name)
        seen: dict[str, int] = {}
        for position, record in enumerate(value):
            label, gold = record.get("cluster_id"), record.get("gold_dia_ids")
            if not isinstance(label, str) or not label or label in seen:
                raise misfit(name, f"record {position}", "a cluster_id of its own", repr(label))
            if not isinstance(gold, list) or not all(isinstance(turn, str) for turn in gold):
                raise misfit(
                    name, f"record {position} ({label})", "gold_dia_ids, a list", repr(gold)
                )
            seen[label] = position
        return cls(name, value, tuple(conversations), tuple(clusters), tuple(notes))

    @classmethod
    def read(cls, path: Path, conversations: Sequence[Conversation]) -> ClusterFile:
        """Return the document of a file; raises as `parse` and `read_json` do."""
        return cls.parse(read_json(path)[0], path.name, conversations)

    @classmethod
    def from_groups(
        cls,
        dialogs: DialogFile,
        groups: Iterable[Group],
        *,
        evidence: EvidencePolicy = "paper",
        name: str = "locomo10_multimem_full.json",
    ) -> ClusterFile:
        """Return records without queries for mined groups, numbered in each conversation.

        Parameters
        ----------
        evidence : {"paper", "repaired"}
            How the groups were mined. As in the release, a member's evidence is written as read.
        """
        homes = {item.id: position for position, item in enumerate(dialogs.conversations)}
        numbers = dict.fromkeys(homes, 0)
        raw = []
        for group in groups:
            position = homes[group.conversation]
            label = f"S{position}_C{numbers[group.conversation]}"
            numbers[group.conversation] += 1
            record = {"sample_idx": position, "cluster_id": label}
            raw.append(record | _record(group, dialogs, position, evidence))
        return cls.parse(raw, name, dialogs.conversations)

    def text(self) -> str:
        """Return the file's text."""
        return normal_json(self.raw)

    def write(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        write_text(path, self.text())

    def with_queries(self, written: Mapping[str, Written]) -> ClusterFile:
        """Return the document with other composed queries, by cluster id.

        Raises
        ------
        DataError
            If a cluster id is unknown or its conversation not loaded, or a speaker is wrong.
        """
        known = {record["cluster_id"]: position for position, record in enumerate(self.raw)}
        homes = _homes(self.raw, self.conversations, self.name)
        raw = list(self.raw)
        for label, item in written.items():
            home = homes.get(label)
            if home is None:
                raise misfit(self.name, label, "a cluster of a loaded conversation", "none such")
            record = copy.deepcopy(raw[known[label]])
            record["composed_query"] = item.rewrite.text
            set_speaker(record, "", item.rewrite, home, f"{self.name}: {label}")
            record["expected_memory_use"] = item.rewrite.expected_memory_use
            set_notes(record, "rewrite_", item)
            raw[known[label]] = record
        return ClusterFile.parse(raw, self.name, self.conversations)


def _homes(
    raw: Sequence[dict[str, Any]], conversations: Sequence[Conversation], name: str
) -> dict[str, Conversation]:
    """Return the conversation of each cluster, also of those that have no query yet."""
    filled = [{**record, "composed_query": "any"} for record in raw]
    by_id = {item.id: item for item in conversations}
    return {
        cluster.name: by_id[cluster.conversation]
        for cluster in read_clusters(filled, conversations, name)[0]
    }


def _record(
    group: Group, dialogs: DialogFile, position: int, evidence: EvidencePolicy
) -> dict[str, Any]:
    questions = dialogs.raw[position]["qa"]
    home = dialogs.conversations[position]
    facts = [
        {
            "q_idx": member,
            "question": questions[member]["question"],
            "answer": copy.deepcopy(questions[member].get("answer")),
            "evidence": list(read_evidence(home.questions[member], home, evidence).ids),
            "category": questions[member]["category"],
        }
        for member in group.members
    ]
    return {
        "member_q_idxs": list(group.members),
        "gold_dia_ids": sorted(group.gold),
        "member_facts": facts,
        "composed_query": "",
        "subject_speaker_name": None,
        "expected_memory_use": None,
        "rewrite_error": None,
    }
