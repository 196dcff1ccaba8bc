"""The memory system Nemori: writing and reading."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from unbidden.errors import ConfigError
from unbidden.memory.embed import MINILM
from unbidden.memory.modelled import ModelledSystem
from unbidden.memory.nemori.episodes import with_messages
from unbidden.memory.nemori.messages import UNCOVERED, Uncovered
from unbidden.memory.nemori.reading import METHODS, TEXT_LEGS, Method, Reader, TextLeg, fused
from unbidden.memory.nemori.writing import Writer, WriteRules
from unbidden.memory.protocol import SystemInfo
from unbidden.memory.units import one_of

if TYPE_CHECKING:
    from unbidden.corpus.models import Conversation
    from unbidden.llm import LLM
    from unbidden.memory.nemori.reading import Scored
    from unbidden.memory.protocol import Retrieved
    from unbidden.memory.records import Encodes, MemoryRecord, RecordStore

Lists = Literal["fused", "paper", "episodes", "statements"]
LISTS: tuple[Lists, ...] = get_args(Lists)
EpisodeText = Literal["dated", "titled"]
EPISODE_TEXTS: tuple[EpisodeText, ...] = get_args(EpisodeText)
SemanticTime = Literal["episode", "none"]
SEMANTIC_TIMES: tuple[SemanticTime, ...] = get_args(SemanticTime)


class Nemori(ModelledSystem):
    """Nemori (arXiv 2508.03341): episodes, and statements learned from what was not foreseen.

    Writing: at the end of each session its messages are parted into episodes, and a model tells
    each in the third person. A new episode may be merged with an earlier one. From each episode
    lasting statements are drawn: what was said is compared with what known statements would have
    foretold, or, where nothing is known, the episode is read directly. Reading: two lists, of
    episodes and of statements.

    Sources: an episode has the messages it tells, united where two are merged, which is what the
    label "exact" stands for. A statement has all messages of the episode it was drawn from, as that
    was when it came in: those were read when it was written, so its credit is that of the label
    "batch".

    Where we differ: messages are processed at the end of a session (in the original it depends on
    how fast a model answers); messages the segmentation forgets, and groups that are too short, are
    attached to their neighbours or kept as they stand; an episode no model told keeps an embedding;
    statements have their episode's time and source turns, and never the day of the run; the rank of
    vector results is kept; temperature is a setting of the study (the original has 0.7). Statement
    types play no part in its search and are left out.

    LoCoMo-Conv runs it with ``merge=False, prediction_correction=False``, ``lists="episodes"`` or
    ``"paper"``, ``show_source_top=0``, ``episode_text="titled"`` and ``semantic_time="none"``.

    Parameters
    ----------
    segment_min, segment_block : int
        Sessions of fewer messages are one group without a call; a call sees so many at most.
    episode_min : int
        A group of fewer messages is not told by a model (2; the authors' LoCoMo runs have 1).
    uncovered : {"attach", "drop"}
        What becomes of messages in no group or in too short a one; "drop" is the original.
    merge : bool
        Whether new episodes are compared with the `merge_top_k` nearest ones.
    merge_floor : float or None
        Least cosine of such a one; the original has none.
    semantic, prediction_correction : bool
        Whether statements are drawn, and whether by comparison with a prediction.
    semantic_top_k : int
        Statements the prediction sees.
    method, text_leg, lost_order
        See `unbidden.memory.nemori.reading.Reader`; the authors' LoCoMo runs use "vector".
    lists : {"fused", "paper", "episodes", "statements"}
        "fused": both lists by reciprocal rank. "paper": `top_episodes` episodes, then
        `top_statements` statements, cut at `k`. Otherwise one list alone.
    show_source_top : int
        So many of the best episodes also show their messages.
    episode_text : {"dated", "titled"}
        An episode as shown: its time and content, or its title and content as LoCoMo-Conv has it.
    semantic_time : {"episode", "none"}
        The time a statement shows. The original shows the day of the run; no clock is read here.
    """

    info = SystemInfo(
        name="nemori",
        paper="Nemori (arXiv 2508.03341)",
        needs_llm=True,
        provenance="exact",
        licence="MIT",
    )

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        embedder: str | Encodes = MINILM,
        attempts: int = 1,
        segment_min: int = 20,
        segment_block: int = 80,
        episode_min: int = 2,
        uncovered: Uncovered = "attach",
        merge: bool = True,
        merge_top_k: int = 5,
        merge_floor: float | None = None,
        semantic: bool = True,
        prediction_correction: bool = True,
        semantic_top_k: int = 10,
        method: Method = "vector",
        text_leg: TextLeg = "pg_and",
        lost_order: bool = False,
        lists: Lists = "fused",
        top_episodes: int = 10,
        top_statements: int = 20,
        show_source_top: int = 2,
        episode_text: EpisodeText = "dated",
        semantic_time: SemanticTime = "episode",
    ) -> None:
        super().__init__(llm=llm, embedder=embedder, attempts=attempts)
        one_of("uncovered", uncovered, UNCOVERED)
        one_of("method", method, METHODS)
        one_of("text_leg", text_leg, TEXT_LEGS)
        one_of("lists", lists, LISTS)
        one_of("episode_text", episode_text, EPISODE_TEXTS)
        one_of("semantic_time", semantic_time, SEMANTIC_TIMES)
        least = min(segment_min, segment_block, episode_min, merge_top_k, semantic_top_k)
        if least < 1 or min(top_episodes, top_statements, show_source_top) < 0:
            raise ConfigError(
                "a number of messages or memories is out of range",
                expected="1 or more; 0 or more for what is shown",
                got=f"the least is {min(least, top_episodes, top_statements, show_source_top)}",
                next_step="the published values are the defaults",
            )
        self.rules = WriteRules(
            segment_min=segment_min,
            segment_block=segment_block,
            episode_min=episode_min,
            uncovered=uncovered,
            merge=merge,
            merge_top_k=merge_top_k,
            merge_floor=merge_floor,
            semantic=semantic,
            prediction_correction=prediction_correction,
            semantic_top_k=semantic_top_k,
            dated_statements=semantic_time == "episode",
        )
        self._reading: dict[str, Any] = {
            "method": method,
            "text_leg": text_leg,
            "lost_order": lost_order,
        }
        self.lists, self.show_source_top = lists, show_source_top
        self.episode_text = episode_text
        self.top_episodes, self.top_statements = top_episodes, top_statements
        self._writer = Writer(self.rules, self.calls, self.embedder, self.log)
        self._readers = self._made_readers()

    def stores(self) -> list[RecordStore]:
        """Return the stores of episodes and statements."""
        return [self._writer.episodes, self._writer.statements]

    def build(self, conversation: Conversation) -> None:
        """Write all sessions, each flushed at its end."""
        self._writer = Writer(self.rules, self.calls, self.embedder, self.log)
        self._writer.write(conversation.sessions)
        self._readers = self._made_readers()

    def _made_readers(self) -> tuple[Reader, Reader]:
        episodes, statements = self.stores()
        return Reader(episodes, **self._reading), Reader(statements, **self._reading)

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return at most `k` episodes and statements, best first."""
        paper = self.lists == "paper"
        episodes = self._shown(
            self._readers[0].ranked(query, self.top_episodes if paper else k)
            if self.lists != "statements"
            else []
        )
        statements = (
            self._readers[1].ranked(query, self.top_statements if paper else k)
            if self.lists != "episodes"
            else []
        )
        if paper:
            # Cosines and fused ranks lie in -1..1, so statements come below every episode.
            found = [*episodes, *((record, score - 2) for record, score in statements)]
        elif self.lists == "fused":
            found = fused([episodes, statements])
        else:
            found = [*episodes, *statements]
        return [record.retrieved(score) for record, score in found[:k]]

    def _shown(self, episodes: list[Scored]) -> list[Scored]:
        """Return episodes as a reader sees them, with the messages of the first ones."""
        return [
            (replace(record, text=self._text(record, rank)), score)
            for rank, (record, score) in enumerate(episodes)
        ]

    def _text(self, record: MemoryRecord, rank: int) -> str:
        told = self._writer.told[record.id]
        if told.fallback:
            return record.text
        text = f"{told.title}: {told.content}" if self.episode_text == "titled" else record.text
        return with_messages(text, told.messages) if rank < self.show_source_top else text
