"""The notes of A-MEM: their text forms, and how an evolution reply changes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from unbidden.memory.units import turn_text

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import Iterable, Sequence

    from unbidden.corpus.models import Session, Turn, TurnId
    from unbidden.llm.schemas_notes import NoteAnalysis, NoteEvolution
    from unbidden.memory.units import Protocol

Form = Literal["unit", "amem"]
FORMS: tuple[Form, ...] = get_args(Form)
Embed = Literal["all", "content"]
EMBEDS: tuple[Embed, ...] = get_args(Embed)

NO_CONTEXT = "General"
"""The context of a note whose analysis failed, as in the original."""


@dataclass(frozen=True, slots=True)
class Note:
    """A turn as a note.

    Attributes
    ----------
    content : str
        Never changes.
    time_text : str
        The session's date as the file writes it.
    dated : bool
        Whether the content names it already.
    keywords, context, tags
        From the analysis; evolution may change context and tags.
    """

    turn: TurnId
    content: str
    time_text: str
    time: dt.datetime | None
    dated: bool
    keywords: tuple[str, ...] = ()
    context: str = ""
    tags: tuple[str, ...] = ()

    def analysed(self, analysis: NoteAnalysis) -> Note:
        """Return the note with its analysis, without blank keywords and tags."""
        return replace(
            self,
            keywords=told(analysis.keywords),
            context=analysis.context,
            tags=told(analysis.tags),
        )

    def document(self, embed: Embed) -> str:
        """Return what is embedded: the content alone, or all fields (section 3.1 of the paper)."""
        if embed == "content":
            return self.content
        return (
            f"content:{self.content} context:{self.context} "
            f"keywords: {', '.join(self.keywords)} tags: {', '.join(self.tags)}"
        )

    def consolidated(self) -> str:
        """Return what the original embeds when it rebuilds its index, which is another form."""
        return f"{self.content} , {self.context} {' '.join(self.keywords)} {' '.join(self.tags)}"

    def shown(self) -> str:
        """Return what a reply is given to read; a field without a value has no line."""
        time = "" if self.dated else self.time_text
        fields = {
            "context": self.context,
            "keywords": ", ".join(self.keywords),
            "tags": ", ".join(self.tags),
        }
        head = [f"time: {time}"] if time else []
        rest = [f"{name}: {text}" for name, text in fields.items() if text]
        return "\n".join([*head, self.content, *rest])

    def line(self, number: int) -> dict[str, Any]:
        """Return the note as a neighbour in the evolution prompt."""
        return {
            "number": number,
            "time": self.time_text,
            "content": self.content,
            "context": self.context,
            "keywords": list(self.keywords),
            "tags": list(self.tags),
        }


def note_of(turn: Turn, session: Session, form: Form, protocol: Protocol) -> Note:
    """Return a turn as a note that is not analysed yet.

    Parameters
    ----------
    form : {"unit", "amem"}
        "unit" is the text form all systems of the study share under `protocol`; "amem" the
        original's, which has no date and lacks a blank after the speaker's name.
    """
    if form == "amem":
        image = f"[Image: {turn.caption}] " if turn.caption else ""
        content = f"Speaker {turn.speaker}says : {image}{turn.text.strip()}"
    else:
        content = turn_text(turn, session, protocol)
    return Note(turn.id, content, session.date_text, session.when, dated=form == "unit")


def updated_neighbours(notes: Sequence[Note], evolution: NoteEvolution) -> list[Note]:
    """Return the neighbours after the action ``update_neighbor``, in their order.

    As in the original, as many are updated as there are new tag lists; one without a new context
    keeps its own.
    """
    contexts = evolution.new_context_neighborhood
    changed = list(notes)
    for i, tags in enumerate(evolution.new_tags_neighborhood[: len(notes)]):
        context = contexts[i] if i < len(contexts) else notes[i].context
        changed[i] = replace(notes[i], tags=told(tags), context=context)
    return changed


def told(words: Iterable[str]) -> tuple[str, ...]:
    """Return keywords or tags without the blank ones, which a model writes now and then.

    >>> told(["boat", " ", "sea"])
    ('boat', 'sea')
    """
    return tuple(word for word in words if word.strip())
