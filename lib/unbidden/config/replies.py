"""Parameters of the chapter on replies."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from unbidden.config.base import Count, ModelConfig
from unbidden.config.retrieval import CHEAPER
from unbidden.corpus.models import STYLES, Style


class RepliesConfig(ModelConfig):
    """Parameters of the chapter on replies; the defaults suit a slow machine.

    Attributes
    ----------
    queries_per_style : int or None
        Drawn evenly over conversations; a larger sample holds the smaller ones. None takes all.
    systems : tuple of str
        Each is asked for `top_k` memories.
    conditions : tuple of str
        Further memory conditions, see `unbidden.reply.conditions`.
    condition_system : str
        The system of those that need one (compressed, thinking first, rewritten queries).
    memory_tokens : int
        Most tokens of the memories of a prompt, the same for every condition.
    answer_tokens : int
        Most output tokens of a reply. A judge sees 600 tokens of one; where a rule of the paper
        puts thoughts before it, which may take twice as many, replies above 200 may lose their end.
    wording : str
        The answer prompt, see `unbidden.reply.rules.ReplyRules`.
    judges : tuple of {"model", "words", "similarity"}
        Who judges; without "model" no judge is asked.
    judge_form : {"json", "likelihood", "word"}
        How a model is asked for a verdict; a rubric whose verdict has parts is always "json".
    judge_protocol : {"repaired", "paper"}
        The judge's wording.
    rubrics : tuple of str
        Asked about the replies they are for.
    """

    styles: tuple[Style, ...] = STYLES
    queries_per_style: Count | None = 8
    systems: tuple[str, ...] = ("bm25", "dense", "rrf")
    conditions: tuple[str, ...] = ("oracle", "no_memory")
    condition_system: str = "rrf"
    top_k: Count = 10
    memory_tokens: Count = 300
    answer_tokens: Count = 80
    wording: Literal["neutral", "short", "proactive", "corrective", "by_style"] = "short"
    judges: tuple[Literal["model", "words", "similarity"], ...] = ("model", "words", "similarity")
    judge_form: Literal["json", "likelihood", "word"] = "json"
    judge_protocol: Literal["repaired", "paper"] = "repaired"
    rubrics: tuple[str, ...] = ("fact_use", "counterfactual", "composed")
    judge_model: str = "qwen2.5-coder-1.5b"
    memory_model: str = "qwen2.5-coder-1.5b"
    rewriter_model: str = "qwen2.5-coder-1.5b"
    embedder: str = "all-MiniLM-L6-v2"
    settings: Literal["locomo-conv", "published"] = "locomo-conv"
    system_options: dict[str, dict[str, Any]] = Field(default_factory=lambda: dict(CHEAPER))
    max_failed: Annotated[float, Field(ge=0, le=1)] = 0.05
