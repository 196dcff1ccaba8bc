"""Asking a model how two memories are related, and counting what it says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, get_args

from unbidden.llm.schemas_theanine import ReasonedRelation, RelationLabel
from unbidden.memory.batches import said
from unbidden.memory.modelled import checked
from unbidden.memory.theanine.relations import UnknownLabel, read_relation
from unbidden.memory.units import one_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.corpus.models import Session, Turn
    from unbidden.llm import Outcome
    from unbidden.memory.calls import CountedCalls
    from unbidden.memory.modelled import IngestLog
    from unbidden.memory.summaries import SummaryMemory
    from unbidden.memory.theanine.linking import Pair
    from unbidden.memory.theanine.relations import Relation

RelationPrompt = Literal["label", "reason"]
RELATION_PROMPTS: tuple[RelationPrompt, ...] = get_args(RelationPrompt)
Dialogues = Literal["session", "sources", "none"]
DIALOGUES: tuple[Dialogues, ...] = get_args(Dialogues)

_PROMPTS = {"label": "theanine_relation.v1", "reason": "theanine_relation_reason.v1"}
_FORMS: dict[str, type[RelationLabel | ReasonedRelation]] = {
    "label": RelationLabel,
    "reason": ReasonedRelation,
}


class RelationAsker:
    """Asks one call for each pair of memories (THEANINE section 3.2, step I-2).

    Parameters
    ----------
    sessions : iterable of Session
        Where the memories come from.
    prompt : {"label", "reason"}
        Ask for the label alone, or for a few words of reason before it; the paper asks for an
        explanation, which on a small model costs most of the call's time.
    dialogues : {"session", "sources", "none"}
        What is shown of the dialogue each memory comes from: all of its session as in the paper,
        the memory's own source turns, or nothing.
    captions : bool
        Whether captions of shared images are shown.

    Attributes
    ----------
    unknown : Counter of str
        Answers that are no label, cut to 60 characters.
    """

    def __init__(
        self,
        sessions: Iterable[Session],
        calls: CountedCalls,
        log: IngestLog,
        *,
        prompt: RelationPrompt = "label",
        dialogues: Dialogues = "session",
        captions: bool = True,
    ) -> None:
        one_of("relation_prompt", prompt, RELATION_PROMPTS)
        one_of("dialogues", dialogues, DIALOGUES)
        self._calls, self._log = calls, log
        self._kind, self._dialogues, self._captions = prompt, dialogues, captions
        self._turns = {session.number: session.turns for session in sessions}
        self.unknown: Counter[str] = Counter()

    def __call__(self, pairs: Sequence[Pair]) -> list[Relation | None]:
        """Return the relation of each pair, None where there is none or no usable answer.

        A failed call is noted as a loss of the new memory's links, an unknown label counted.
        """
        name = _PROMPTS[self._kind]
        items = [(name, {"a": self._shown(p.old), "b": self._shown(p.new)}) for p in pairs]
        outcomes = self._calls.ask_many(items, label="THEANINE relations") if items else []
        self._log.events["pairs_asked"] += len(pairs)
        return [self._read(pair, outcome) for pair, outcome in zip(pairs, outcomes, strict=True)]

    def _shown(self, memory: SummaryMemory) -> dict[str, Any]:
        turns: Iterable[Turn] = self._turns[memory.session] if self._dialogues != "none" else ()
        if self._dialogues == "sources":
            turns = [turn for turn in turns if turn.id in memory.sources]
        lines = [
            {"speaker": turn.speaker, "text": said(turn, captions=self._captions)} for turn in turns
        ]
        return {"text": memory.text, "lines": lines}

    def _read(self, pair: Pair, outcome: Outcome[Any]) -> Relation | None:
        if not outcome.ok:
            reason = f"relation to {pair.old.id}: {outcome.unscored}"
            self._log.fail(f"links of {pair.new.id}", reason, pair.new.sources)
            self._log.events["relations_failed"] += 1
            return None
        label: str = checked(outcome.value, _FORMS[self._kind], _PROMPTS[self._kind]).relation
        try:
            relation = read_relation(label)
        except UnknownLabel:
            self.unknown[label[:60]] += 1
            self._log.events["relations_unknown"] += 1
            return None
        self._log.events["relations_none"] += relation is None
        self._log.events["relations_found"] += relation is not None
        return relation
