"""RSum-LLM: one memory, written anew after every session."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.memory.baselines.onetext import OneText
from unbidden.memory.batches import check_size
from unbidden.memory.embed import MINILM
from unbidden.memory.protocol import SystemInfo
from unbidden.memory.records import RecordStore
from unbidden.memory.summaries import date_line, turn_lines
from unbidden.memory.units import one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.models import Conversation, Session
    from unbidden.llm import LLM
    from unbidden.memory.protocol import Retrieved
    from unbidden.memory.records import Encodes

Focus = Literal["persona", "all"]
RSumForm = Literal["whole", "sentences"]

PROMPTS: dict[Focus, str] = {"persona": "rsum_fold.v1", "all": "rsum_fold_all.v1"}
_LABEL = re.compile(
    r"^\W*(?:(?:the|new|updated|current)\s+)*(?:memory|summary)(?:\s+so\s+far)?\W*:\W*\s",
    re.I,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")


class RSum(OneText):
    """RSum-LLM (Wang et al. 2023): M(i) is written from M(i-1) and session i, from "Empty" on.

    One call a session, none for a search, which returns the whole memory as it stands after the
    last session. Where we differ: line breaks become blanks (the release joins words); the same
    prompt, with one example, serves all sessions; a reply over the limit of sentences is kept and
    counted, not cut; a call that fails, or writes nothing, leaves the memory as it was, and its
    session is a failed unit. The release's prompt file is missing; the wording is ours.

    Events of the report: ``empty_session``, ``over_limit`` (replies).

    Parameters
    ----------
    max_sentences : int
        Asked for in the prompt.
    focus : {"persona", "all"}
        "persona" keeps traits of the speakers, as the release asks; "all" also events.
    dates : bool
        Whether the prompt gives a session's date; the original does not.
    captions : bool
        Whether captions of shared images are read.
    form : {"whole", "sentences"}
        "whole": the memory is one text. "sentences": a search returns the `k` sentences nearest to
        the query, which is not in the paper.
    history_sources : bool
        See `OneText`.
    """

    info = SystemInfo(
        name="rsum",
        paper="Wang et al. 2023 (arXiv 2308.15022)",
        needs_llm=True,
        provenance="none",
        licence="Apache-2.0",
    )

    def __init__(
        self,
        *,
        llm: LLM | None = None,
        embedder: str | Encodes = MINILM,
        attempts: int = 1,
        max_sentences: int = 20,
        focus: Focus = "persona",
        dates: bool = False,
        captions: bool = True,
        form: RSumForm = "whole",
        history_sources: bool = False,
    ) -> None:
        super().__init__(
            llm=llm,
            embedder=embedder,
            attempts=attempts,
            history_sources=history_sources,
            ranked=form == "sentences",
        )
        one_of("focus", focus, get_args(Focus))
        one_of("form", form, get_args(RSumForm))
        check_size(max_sentences, "max_sentences")
        self.max_sentences, self.focus, self.form = max_sentences, focus, form
        self.dates, self.captions = dates, captions
        self.memory, self.sentences = RecordStore(self.embedder), RecordStore(self.embedder, "s")

    def build(self, conversation: Conversation) -> None:
        """Fold all sessions, one after the other."""
        self.memory, self.sentences = RecordStore(self.embedder), RecordStore(self.embedder, "s")
        for session in conversation.sessions:
            self.log.units += 1
            if session.turns:
                self._fold(session)
            else:
                self.log.events["empty_session"] += 1
        for record in self.memory:
            for sentence in sentences_of(record.text):
                self.sentences.add(sentence, record.sources, kind="sentence")

    def _fold(self, session: Session) -> None:
        old = next(iter(self.memory), None)
        unit, turns = f"session {session.number}", [turn.id for turn in session.turns]
        variables = {
            "memory": old.text if old else "",
            "max_sentences": str(self.max_sentences),
            "date": date_line(session, dates=self.dates),
            "turns": turn_lines(session, captions=self.captions),
        }
        reply = self.answer(str, PROMPTS[self.focus], variables, unit=unit, turns=turns)
        if reply is None:
            return
        text = cleaned(reply)
        if not text:
            self.log.fail(unit, "the reply holds no memory; the one before is kept", turns)
            return
        self.log.events["over_limit"] += len(sentences_of(text)) > self.max_sentences
        self.memory.unit = unit
        if old:
            self.memory.update(old.id, text=text, sources=turns)
        else:
            self.memory.add(text, turns, kind="memory")

    def stores(self) -> Sequence[RecordStore]:
        """Return the memory, whole or as sentences."""
        return [self.sentences if self.form == "sentences" else self.memory]

    def search(self, query: str, *, k: int, speaker: str | None = None) -> list[Retrieved]:
        """Return the whole memory, or its `k` nearest sentences."""
        if self.form == "whole":
            return self.in_order(self.memory, k)
        return [self.shown(record, score) for record, score in self.sentences.search(query, k)]


def cleaned(reply: str) -> str:
    r"""Return a memory as one line without its label; nothing where none was written.

    >>> cleaned("Updated memory:\nAna has a boat.\nBen has a cat.")
    'Ana has a boat. Ben has a cat.'
    >>> cleaned("Memory: Empty.")
    ''
    """
    text = " ".join(_LABEL.sub("", reply.strip() + " ").split())
    return "" if text.strip(' ."').casefold() in ("", "empty") else text


def sentences_of(text: str) -> list[str]:
    """Return a text's sentences: it is cut after ``.``, ``!`` or ``?`` and a blank.

    >>> sentences_of("Ana paid 2.50. Why? 她在家。他也是。")
    ['Ana paid 2.50.', 'Why?', '她在家。', '他也是。']
    """
    return [part for part in _SENTENCE_END.split(text) if part]
