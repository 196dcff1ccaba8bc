"""How Nemori writes: parting, telling, merging, and learning statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unbidden.memory.nemori.episodes import Episode, merged, raw, stamped, told
from unbidden.memory.nemori.messages import (
    Group,
    Uncovered,
    long_enough,
    parted,
    session_messages,
)
from unbidden.memory.records import RecordStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Session
    from unbidden.llm import Outcome
    from unbidden.llm.schemas_notes import EpisodeText, MergeDecision, Segmentation, Statements
    from unbidden.memory.calls import CountedCalls
    from unbidden.memory.modelled import IngestLog
    from unbidden.memory.nemori.messages import Message
    from unbidden.memory.records import Encodes, MemoryRecord

SEGMENT, EPISODE = "nemori_segment.v1", "nemori_episode.v1"
MERGE_CHECK, MERGE = "nemori_merge_check.v1", "nemori_merge.v1"
PREDICT, COMPARE, EXTRACT = "nemori_predict.v1", "nemori_compare.v1", "nemori_extract.v1"
LOST = "in no episode, and lost as in the original"


@dataclass(frozen=True, slots=True)
class WriteRules:
    """The switches of writing; see `unbidden.memory.nemori.Nemori`."""

    segment_min: int
    segment_block: int
    episode_min: int
    uncovered: Uncovered
    merge: bool
    merge_top_k: int
    merge_floor: float | None
    semantic: bool
    prediction_correction: bool
    semantic_top_k: int
    dated_statements: bool


@dataclass(frozen=True, slots=True)
class _Block:
    """Messages of one session that are parted together, by a call or not at all."""

    session: int
    messages: list[Message]
    asked: bool


class Writer:
    """Writes one conversation.

    Parting and telling depend on the messages alone, so they are asked in one go for all
    sessions. Merging depends on the episodes before, and statements on the statements before, so
    these go one by one.

    Attributes
    ----------
    told : dict of str to Episode
        Every episode ever made, by record id, merged ones included.
    """

    def __init__(
        self, rules: WriteRules, calls: CountedCalls, embedder: Encodes, log: IngestLog
    ) -> None:
        self.rules, self.calls, self.log = rules, calls, log
        self.episodes = RecordStore(embedder, "episode")
        self.statements = RecordStore(embedder, "statement")
        self.told: dict[str, Episode] = {}

    def write(self, sessions: Sequence[Session]) -> None:
        """Take in all sessions."""
        groups = self._parted(sessions)
        versions = [self._store(episode) for episode in self._told(groups)]
        if self.rules.semantic:
            self._learn(versions)

    def _parted(self, sessions: Sequence[Session]) -> list[Group]:
        """Return the groups of all sessions: each session is flushed at its end."""
        blocks: list[_Block] = []
        position = 0
        for session in sessions:
            messages = session_messages(session, position)
            position += len(messages)
            self.log.units += 1
            if len(messages) < self.rules.segment_min:
                blocks.append(_Block(session.number, messages, asked=False))
                continue
            for start in range(0, len(messages), self.rules.segment_block):
                part = messages[start : start + self.rules.segment_block]
                blocks.append(_Block(session.number, part, asked=True))
        calls = [(SEGMENT, {"messages": _numbered(b.messages)}) for b in blocks if b.asked]
        outcomes = iter(self._many(calls, "Nemori segmentation"))
        groups: dict[int, list[Group]] = {}
        for block in blocks:
            outcome = next(outcomes) if block.asked else None
            if block.messages:
                found = self._block_groups(block.messages, outcome)
                groups.setdefault(block.session, []).extend(found)
        return [group for found in groups.values() for group in self._long(found)]

    def _many(self, calls: list[tuple[str, dict[str, Any]]], label: str) -> list[Outcome[Any]]:
        return self.calls.ask_many(calls, label=label) if calls else []

    def _block_groups(self, block: list[Message], outcome: Outcome[Any] | None) -> list[Group]:
        if outcome is None:
            return [Group(tuple(block))]
        reply: Segmentation | None = outcome.value
        if reply is None:
            self.log.fail(
                f"segmentation of {Group(tuple(block)).name}", outcome, [m.turn for m in block]
            )
            return [Group(tuple(block))]
        proposed = [(episode.indices, episode.topic) for episode in reply.episodes]
        groups, lost = parted(block, proposed, self.rules.uncovered, self.log.events)
        self._lose(lost)
        return groups

    def _long(self, groups: list[Group]) -> list[Group]:
        rules = self.rules
        kept, lost = long_enough(groups, rules.episode_min, rules.uncovered, self.log.events)
        self._lose(lost)
        return kept

    def _lose(self, messages: Sequence[Message]) -> None:
        for message in messages:
            self.log.fail(f"message {message.turn}", LOST, [message.turn])

    def _told(self, groups: list[Group]) -> list[Episode]:
        """Ask for the account of each group; a group without one keeps its messages as they are."""
        asked = [group for group in groups if group.told]
        calls = [
            (EPISODE, {"topic": group.topic, "messages": [m.fields for m in group.messages]})
            for group in asked
        ]
        outcomes = iter(self._many(calls, "Nemori episodes"))
        episodes = []
        for group in groups:
            self.log.units += 1
            reply: EpisodeText | None = None
            if group.told:
                outcome = next(outcomes)
                reply = outcome.value
                if reply is None:
                    self.log.fail(group.name, outcome, [m.turn for m in group.messages])
            if reply is None:
                self.log.events["raw_episodes"] += 1
                episodes.append(raw(group))
            else:
                episodes.append(told(group, reply, self.log.events))
        return episodes

    def _store(self, episode: Episode) -> Episode:
        """Store an episode, merged with an earlier one if a model says so; return what is held."""
        record = self._add(episode)
        if not self.rules.merge or episode.fallback:
            return episode
        near = self.episodes.search(
            episode.index_text,
            self.rules.merge_top_k,
            floor=self.rules.merge_floor,
            among=lambda other: other.id != record.id and not self.told[other.id].fallback,
        )
        if not near:
            return episode
        target = self._target(episode, [other for other, _ in near])
        return self._merged(record, target) if target else episode

    def _add(self, episode: Episode) -> MemoryRecord:
        self.episodes.unit = episode.unit
        record = self.episodes.add(
            episode.shown,
            episode.sources,
            kind="episode",
            index_text=episode.index_text,
            time=episode.time,
        )
        self.told[record.id] = episode
        return record

    def _target(self, episode: Episode, near: list[MemoryRecord]) -> MemoryRecord | None:
        """Return the earlier episode to merge with, if any."""
        candidates = [{"id": r.id} | self.told[r.id].fields(cut=True) for r in near]
        outcome = self.calls.ask(MERGE_CHECK, episode.fields() | {"candidates": candidates})
        decision: MergeDecision | None = outcome.value
        if decision is None:
            self.log.fail(episode.unit, outcome, episode.sources)
            return None
        if decision.decision == "new":
            return None
        target = next((r for r in near if r.id == decision.merge_target_id), None)
        self.log.events["merge_target_unknown"] += target is None
        return target

    def _merged(self, record: MemoryRecord, target: MemoryRecord) -> Episode:
        new, old = self.told[record.id], self.told[target.id]
        outcome = self.calls.ask(MERGE, {"episodes": [old.fields(), new.fields()]})
        reply: EpisodeText | None = outcome.value
        if reply is None:
            self.log.fail(new.unit, outcome, new.sources)
            return new
        whole = merged(old, new, reply, self.log.events)
        self.episodes.delete(target.id)
        self.episodes.delete(record.id)
        self._add(whole)
        self.log.events["merged"] += 1
        return whole

    def _learn(self, versions: list[Episode]) -> None:
        """Draw statements from each episode as it was when it came in."""
        if not self.rules.prediction_correction:
            calls = [(EXTRACT, {"title": v.title, "content": v.content}) for v in versions]
            for version, outcome in zip(
                versions, self._many(calls, "Nemori statements"), strict=True
            ):
                self._add_statements(version, outcome)
            return
        for version in versions:
            self._add_statements(version, self._corrected(version))

    def _corrected(self, episode: Episode) -> Outcome[Any]:
        """Return the statements a prediction missed, or all where nothing can be foretold."""
        top = self.rules.semantic_top_k
        known = [] if episode.fallback else self.statements.search(episode.index_text, top)
        if known:
            statements = [record.index_text for record, _ in known]
            guess = self.calls.ask(PREDICT, {"title": episode.title, "statements": statements})
            if guess.value is not None:
                said = [{"speaker": m.speaker, "text": m.text} for m in episode.messages]
                return self.calls.ask(COMPARE, {"prediction": guess.value, "messages": said})
            self.log.events["predictions_failed"] += 1
        return self.calls.ask(EXTRACT, {"title": episode.title, "content": episode.content})

    def _add_statements(self, episode: Episode, outcome: Outcome[Any]) -> None:
        """Store statements with the turns of their episode: the episode itself may be merged."""
        reply: Statements | None = outcome.value
        if reply is None:
            self.log.fail(episode.unit, outcome, episode.sources)
            return
        self.statements.unit = episode.unit
        time = episode.time if self.rules.dated_statements else None
        for text in dict.fromkeys(s.strip() for s in reply.statements if s.strip()):
            self.statements.add(
                stamped(time, text), episode.sources, kind="statement", index_text=text, time=time
            )


def _numbered(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [{"number": n} | m.fields for n, m in enumerate(messages, start=1)]
