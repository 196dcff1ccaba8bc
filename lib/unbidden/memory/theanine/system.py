"""The memory system THEANINE: writing a graph, reading timelines."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.errors import ConfigError
from unbidden.memory.calls import CountedCalls, required
from unbidden.memory.embed import MINILM
from unbidden.memory.modelled import ModelledSystem
from unbidden.memory.protocol import SystemInfo
from unbidden.memory.summaries import SUMMARY_SOURCES, SummarySources, summarise
from unbidden.memory.theanine.asking import (
    DIALOGUES,
    RELATION_PROMPTS,
    Dialogues,
    RelationAsker,
    RelationPrompt,
)
from unbidden.memory.theanine.counts import SEARCH_EVENTS, Counts, counts
from unbidden.memory.theanine.linking import LinkRule, LinkRules
from unbidden.memory.theanine.reading import Reader, event_hits, timeline_hits
from unbidden.memory.theanine.refining import REFINE_MODES, Refined, RefineMode, refine
from unbidden.memory.theanine.timelines import DrawRules, Per
from unbidden.memory.theanine.writing import Writer
from unbidden.memory.units import one_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.corpus.models import Conversation, Session
    from unbidden.llm import LLM
    from unbidden.memory.protocol import CallCount, IngestReport, Retrieved
    from unbidden.memory.records import Encodes, RecordStore
    from unbidden.memory.summaries import SummaryMemory
    from unbidden.memory.theanine.graph import MemoryGraph
    from unbidden.memory.theanine.paths import StartRule
    from unbidden.memory.theanine.timelines import Timeline

Form = Literal["timeline", "broken_down", "shuffled"]
FORMS: tuple[Form, ...] = get_args(Form)


class Theanine(ModelledSystem):
    """THEANINE (arXiv 2406.10996): summaries linked into a graph, read as timelines.

    Writing: each session is summarised into sentences; each sentence is compared with the nearest
    ones of earlier sessions, a model names how they are related, and related ones are linked.
    Nothing is ever removed. Reading: for each of the memories nearest to the message, a timeline is
    drawn that leads from an oldest memory of its component through it to an end; a model may
    rewrite it for the dialogue.

    `search` returns one memory for each of the `k` nearest sentences: the timeline as text, the
    source turns of all its sentences, the cosine of the nearest one. Fewer come back where two
    would have had the same timeline. In the paper k is 3. Rewriting is off by default, because it
    changes neither sources nor scores, needs a call for every hit of every query, and a retrieval
    table shows none of it; turn it on where replies are made.

    Recall of the first k needs care: a timeline holds the turns of several sentences, and with
    ``sources="batch"`` those of their whole sessions, so it beats a list of k sentences even if its
    relations are drawn by lot. Compare at equal numbers of turns, or by ``sources="cited"``.

    Where we differ: what the paper and its released code do otherwise, or leave open, are the
    options below; sentences of later sessions are never searched; session numbers may have several
    digits; labels are read strictly and unknown ones counted; draws depend on `seed`, session and
    message alone, not on what was searched before. With MiniLM, which reads 256 word pieces, a long
    dialogue is cut at its end; see `query_lines`. Temperature is a setting of the study.

    Parameters
    ----------
    candidates, link_rule, early_stop, keep_ties, relations
        See `unbidden.memory.theanine.linking.LinkRules`.
    relation_prompt, dialogues
        See `unbidden.memory.theanine.asking.RelationAsker`.
    start_rule, draws, per
        See `unbidden.memory.theanine.timelines.DrawRules`.
    refine_mode : {"off", "per_timeline", "joint"}
        See `unbidden.memory.theanine.refining.refine`. With "joint" a search returns one memory.
    timeline_form : {"timeline", "broken_down", "shuffled"}
        The latter two return the events of the timelines one by one, at most `k`, in the order of
        the timelines or shuffled (the paper's ablation; as costed there it has neither
        `relations` nor refinement, which must be off).
    sources, captions, dates
        See `unbidden.memory.summaries.summarise`; with equal values the summaries, and the recorded
        calls for them, are those of the paper's baselines. The relation prompt shows captions too.
    show_dates : bool
        Begin each event with the day of its session; the paper shows the order only.
    query_lines : int or None
        Search with the last so many lines of a dialogue; None with all, as in the paper.
    seed : int
        Of the draws.
    """

    info = SystemInfo(
        name="theanine",
        paper="THEANINE (arXiv 2406.10996, NAACL 2025)",
        needs_llm=True,
        provenance="batch",
        licence="Apache-2.0",
    )

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        embedder: str | Encodes = MINILM,
        attempts: int = 1,
        candidates: int = 3,
        link_rule: LinkRule = "latest_per_component",
        early_stop: bool = True,
        keep_ties: bool = False,
        relations: bool = True,
        relation_prompt: RelationPrompt = "label",
        dialogues: Dialogues = "session",
        start_rule: StartRule = "component_oldest",
        draws: int = 1,
        per: Per = "memory",
        refine_mode: RefineMode = "off",
        timeline_form: Form = "timeline",
        sources: SummarySources = "batch",
        captions: bool = True,
        dates: bool = True,
        show_dates: bool = False,
        query_lines: int | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(llm=llm, embedder=embedder, attempts=attempts)
        one_of("relation_prompt", relation_prompt, RELATION_PROMPTS)
        one_of("dialogues", dialogues, DIALOGUES)
        one_of("refine_mode", refine_mode, REFINE_MODES)
        one_of("timeline_form", timeline_form, FORMS)
        one_of("sources", sources, SUMMARY_SOURCES)
        _check(refine_mode, timeline_form, query_lines)
        self.link_rules = LinkRules(candidates, link_rule, early_stop, keep_ties, relations)
        self.draw_rules = DrawRules(start_rule, draws, per)
        self.relation_prompt, self.dialogues = relation_prompt, dialogues
        self.refine_mode, self.show_dates = refine_mode, show_dates
        self.timeline_form = timeline_form
        self.sources, self.captions, self.dates = sources, captions, dates
        self.query_lines, self.seed = query_lines, seed
        self.info = replace(self.info, provenance=sources)
        # Apart from `calls`, which forgets its counts at every ingestion.
        self.query_calls = CountedCalls(required(llm, self.info.name), attempts)
        self._events: Counter[str] = Counter()
        self._start(())

    def _start(self, sessions: Sequence[Session]) -> None:
        self._writer = Writer(self.link_rules, self.embedder, self.log)
        self._ask = RelationAsker(
            sessions,
            self.calls,
            self.log,
            prompt=self.relation_prompt,
            dialogues=self.dialogues,
            captions=self.captions,
        )
        self._reader = Reader(self._writer, self.draw_rules, self.seed, self._events)

    @property
    def graph(self) -> MemoryGraph:
        """The memory graph of the conversation taken in last."""
        return self._writer.graph

    @property
    def search_events(self) -> Mapping[str, int]:
        """Timelines drawn and what was unusual about them, over all searches."""
        return {text: self._events[name] for name, text in SEARCH_EVENTS.items()}

    @property
    def search_calls(self) -> Mapping[str, CallCount]:
        """Refinement calls since the system was made, by prompt name."""
        return self.query_calls.counts

    def stores(self) -> list[RecordStore]:
        """Return the store of summary sentences."""
        return [self._writer.store]

    def build(self, conversation: Conversation) -> None:
        """Summarise all sessions, then link their sentences session by session."""
        self._start(conversation.sessions)
        memories = summarise(
            conversation.sessions,
            self.calls,
            self.log,
            sources=self.sources,
            captions=self.captions,
            dates=self.dates,
        )
        self._writer.write(memories, self._ask)

    def ingest_memories(
        self, memories: Sequence[SummaryMemory], sessions: Sequence[Session] = ()
    ) -> IngestReport:
        """Take in sentences that are there already, such as the released ones, and link them.

        Raises
        ------
        ConfigError
            If the prompt is to show dialogues of sessions that are not given.
        """
        missing = {memory.session for memory in memories} - {s.number for s in sessions}
        if missing and self.link_rules.relations and self.dialogues != "none":
            raise ConfigError(
                "the dialogues that memories come from are not there",
                expected="every session of the memories, or `dialogues='none'`",
                got=f"no session {sorted(missing)[0]}",
                next_step="give the sessions, or build the system with `dialogues='none'`",
            )
        self._forget()
        self._start(sessions)
        self._writer.write(memories, self._ask)
        return self.log.report(len(self.records()), self.calls.counts)

    def timelines(
        self, dialogue: Sequence[str], *, session: int | None = None, k: int = 3
    ) -> list[Timeline]:
        """Return the timelines for the next turn of a dialogue, before any rewriting.

        Parameters
        ----------
        dialogue : sequence of str
            Lines of the current session up to now, each with its speaker.
        session : int, optional
            Number of the current session: only memories of earlier ones are seen. None sees all.
        k : int
            Memories retrieved; 3 in the paper.
        """
        lines = dialogue if self.query_lines is None else dialogue[-self.query_lines :]
        return self._reader.timelines("\n".join(lines), session, k) if lines else []

    def refined(
        self,
        timelines: Sequence[Timeline],
        dialogue: Sequence[str],
        mode: RefineMode | None = None,
    ) -> list[Refined]:
        """Return the texts of timelines for a dialogue, rewritten as `mode` says.

        Parameters
        ----------
        mode : str, optional
            In place of the system's own `refine_mode`.
        """
        mode = self.refine_mode if mode is None else mode
        one_of("refine_mode", mode, REFINE_MODES)
        found = refine(timelines, dialogue, self.query_calls, mode, dates=self.show_dates)
        self._events["refinements_failed"] += sum(one.unscored is not None for one in found)
        return found

    def counts(self) -> Counts:
        """Return the graph's size, and how often what happened while linking and searching."""
        return counts(self.graph, self.log.events, self._events, self._ask.unknown)

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return at most `k` memories, best first; see the class."""
        timelines = self._reader.timelines(query, None, k)
        if self.timeline_form == "timeline":
            said = [f"{speaker}: {query}" if speaker else query]
            return timeline_hits(self.refined(timelines[:k], said))
        shuffler = self._reader.shuffler(query) if self.timeline_form == "shuffled" else None
        return event_hits(timelines, k, shuffler, dates=self.show_dates)


def _check(refine_mode: RefineMode, form: Form, query_lines: int | None) -> None:
    if form != "timeline" and refine_mode != "off":
        raise ConfigError(
            "timelines that are broken down cannot be rewritten",
            expected="`refine_mode='off'` with this `timeline_form`",
            got=f"timeline_form {form!r} and refine_mode {refine_mode!r}",
        )
    if query_lines is not None and query_lines < 1:
        raise ConfigError(
            "`query_lines` is out of range",
            expected="1 or more lines, or None for all",
            got=str(query_lines),
        )
