"""What a judge says about one reply: a label with a score, or a reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace

from unbidden.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Verdict:
    """A verdict; either scored or unscored, never both.

    Attributes
    ----------
    label : str or None
        On the rubric's scale; None where unscored.
    score : float or None
        In 0..1; None where unscored. Higher is better unless the rubric says otherwise.
    reason : str
        The judge's own words, where its prompt asks for any.
    unscored : str or None
        Why there is no verdict.
    parts : tuple of (str, float)
        Scores in 0..1 of a rubric's dimensions or facts.
    notes : tuple of str
        What to know about it: a reply that was clipped, one that instructs the judge.
    likelihood : tuple of (str, float)
        Probability of each label, where labels were scored by likelihood.
    """

    label: str | None
    score: float | None
    reason: str = ""
    unscored: str | None = None
    parts: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()
    likelihood: tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        scored = bool(self.label) and self.score is not None and self.unscored is None
        missing = self.label is None and self.score is None and bool(self.unscored)
        values = [value for _, value in self.parts]
        if self.score is not None:
            values.append(self.score)
        if not (scored or (missing and not self.parts)) or not all(0 <= v <= 1 for v in values):
            raise ConfigError(
                "a verdict is either scored or unscored",
                expected="a label and a score in 0..1, or only a reason for having none",
                got=f"label {self.label!r}, score {self.score!r}, parts {self.parts!r}, "
                f"unscored {self.unscored!r}",
                next_step="build it with Verdict.none(reason) where there is no verdict",
            )

    @classmethod
    def none(cls, reason: str, *, notes: tuple[str, ...] = ()) -> Verdict:
        """Return the verdict of a reply that could not be judged.

        >>> Verdict.none("empty reply").score is None
        True
        """
        return cls(None, None, unscored=reason, notes=notes)

    @property
    def scored(self) -> bool:
        """Whether there is a score."""
        return self.unscored is None

    @property
    def noted_text(self) -> str:
        """The notes in one text, as items hold them; empty where there are none.

        >>> Verdict.none("refused", notes=("clipped", "orders")).noted_text
        'clipped; orders'
        """
        return "; ".join(self.notes)

    def noted(self, *notes: str) -> Verdict:
        """Return the same verdict with further notes."""
        return replace(self, notes=(*self.notes, *notes))
