"""Parameters of the chapter on judges."""

from __future__ import annotations

from typing import Literal

from unbidden.config.base import Count, ModelConfig


class JudgesConfig(ModelConfig):
    """Parameters of the chapter on judges.

    Attributes
    ----------
    votes : {"recorded", "count"}
        Show the recorded shares of accepted answers, or count them now (needs the audit's files).
    audit_per_kind : int
        Answers of each kind of the audit that floors and models judge too, where they are counted.
    split : {"test", "dev", "all"}
        Part of the labelled set; rules and wordings were chosen on "dev".
    per_label : int or None
        First so many items of each rubric and label; None for all.
    forms, protocols : tuple of str
        Ways to ask a model for a verdict; each pair is a judge.
    similarity : bool
        Whether to run the floor by similarity too.
    also_judges : tuple of str
        Further models, of which what is on record is shown; they are never asked.
    resamples : int
        Behind the intervals of kappa and alpha.
    """

    votes: Literal["recorded", "count"] = "recorded"
    audit_per_kind: Count = 40
    split: Literal["test", "dev", "all"] = "test"
    per_label: Count | None = None
    forms: tuple[Literal["json", "word", "likelihood"], ...] = ("json", "word", "likelihood")
    protocols: tuple[Literal["repaired", "paper"], ...] = ("repaired", "paper")
    similarity: bool = True
    judge_model: str = "qwen2.5-coder-1.5b"
    also_judges: tuple[str, ...] = ("qwen2.5-coder-0.5b",)
    embedder: str = "all-MiniLM-L6-v2"
    resamples: Count = 499
