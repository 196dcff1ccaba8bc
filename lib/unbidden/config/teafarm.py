"""Parameters of the chapter on TeaFarm."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from unbidden.config.base import Count, ModelConfig
from unbidden.config.retrieval import CHEAPER

Number = Annotated[int, Field(ge=0, le=1_000_000, strict=True)]


class TeafarmConfig(ModelConfig):
    """Parameters of the chapter on TeaFarm.

    Attributes
    ----------
    systems : tuple of str
        Memory systems that reply; an agent without memory and one with the true turns are added.
    per_conversation : int
        Counterfactual queries of each conversation that are asked, spread over its queries; 0 asks
        none.
    made : int
        First so many conversations for which a model makes two questions each, as published.
    utterances : (int, int)
        Least and most utterances of a made session, the question included; 10 to 15 as published.
    top_k : int
        Memories a system is asked for, but 3 timelines of THEANINE and 6 sentences of its
        retrieval baseline, as published.
    memory_tokens, reply_tokens : int
        Most tokens of the memories in a prompt, and of a reply.
    search_with : {"dialogue", "question"}
        See `unbidden.reply.teafarm.tea_replies`.
    asked_systems : tuple of str
        Systems that are also asked in LoCoMo-Conv's form, beside the two added agents.
    judge_form : {"json", "word", "likelihood"}
        How the judge is asked for a verdict.
    judge_protocols : tuple of str
        Our rubric and the paper's; the first gives the headline.
    system_options : dict of str to dict
        Options of single systems, by name.
    """

    systems: tuple[str, ...] = ("dense", "bm25", "full-history", "msc-retrieval", "theanine")
    per_conversation: Number = 7
    made: Number = 2
    utterances: tuple[Count, Count] = (4, 6)
    top_k: Count = 4
    memory_tokens: Count = 300
    reply_tokens: Count = 60
    search_with: Literal["dialogue", "question"] = "dialogue"
    asked_systems: tuple[str, ...] = ("dense",)
    judge_form: Literal["json", "word", "likelihood"] = "likelihood"
    judge_protocols: Annotated[
        tuple[Literal["repaired", "paper"], ...], Field(min_length=1, max_length=2)
    ] = ("repaired", "paper")
    judge_model: str = "qwen2.5-coder-1.5b"
    memory_model: str = "qwen2.5-coder-1.5b"
    embedder: str = "all-MiniLM-L6-v2"
    system_options: dict[str, dict[str, Any]] = Field(
        default_factory=lambda: {"theanine": dict(CHEAPER["theanine"])}
    )
