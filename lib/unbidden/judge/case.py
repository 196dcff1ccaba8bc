"""What a judge may be given: one reply, the message it answers, and what is known."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class GoldFact:
    """A question and its gold answer; the question is empty where the answer stands alone."""

    question: str
    answer: str

    @property
    def text(self) -> str:
        """The fact as judges read it (LoCoMo-Conv's atomic facts have this form).

        >>> GoldFact("Where does Ann live?", "Kent").text
        'Where does Ann live: Kent'
        >>> GoldFact("", "Ann lives in Kent").text
        'Ann lives in Kent'
        """
        if not self.question.strip():
            return self.answer.strip()
        return f"{self.question.strip().rstrip('?？')}: {self.answer.strip()}"


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to be judged.

    Attributes
    ----------
    id : str
        Unique among the cases of a run.
    conversation : str
        Its conversation, over which intervals are clustered.
    speaker, message : str
        Who wrote to the assistant, and what. For memories this is the whole dialogue.
    reply : str
        What the user sees, without thoughts and citations of the model.
    facts : tuple of GoldFact
        What the reply should know; their answers reach nothing but a judge.
    memories : tuple of str
        What the replying model was shown, or a reference all replies are judged against.
    trap : str or None
        The adversarial answer of a category-5 question.
    other : str or None
        The second text, where two are compared; `reply` is the first.
    """

    id: str
    conversation: str
    speaker: str
    message: str
    reply: str
    facts: tuple[GoldFact, ...] = ()
    memories: tuple[str, ...] = ()
    trap: str | None = None
    other: str | None = None

    def swapped(self) -> Case:
        """Return the same comparison with its two texts in the other order."""
        return replace(self, reply=self.other or "", other=self.reply)
