"""Parameters of the chapter on retrieval."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from unbidden.config.base import Count, Counts, ModelConfig

CHEAPER: dict[str, dict[str, Any]] = {
    "mem0": {"ingestion": "one-pass", "batch_size": 4},
    "mem0-v2": {"ingestion": "one-pass", "batch_size": 4},
    "theanine": {"dialogues": "none"},
}
"""Options that ask a small local model for less than the papers do: fewer or shorter calls."""


class RetrievalConfig(ModelConfig):
    """Parameters of the retrieval chapter.

    Attributes
    ----------
    top_k : int
        The K of the headline tables.
    ks : tuple of int
        Every K scored; `top_k` is added.
    turn_budgets, token_budgets : tuple of int
        Distinct turns, and shown tokens, at which recall is also measured.
    metrics : tuple of str
        The reader's own, as ``package.module:function``; see `unbidden.retrieval.metrics`.
    protocol : {"paper", "repaired"}
        Text form of a turn.
    memory_models : dict of str to str
        Models of single systems, by name, in place of `memory_model`.
    settings : {"locomo-conv", "published"}
        How systems are set, see `unbidden.memory.presets`.
    system_options : dict of str to dict
        Options of single systems, by name; they go before `settings`.
    max_failed : float
        A conversation of whose units a system lost a larger share is unscored for it.
    """

    systems: tuple[str, ...] = (
        *("bm25", "dense", "rrf", "unbidden", "amem-noevo", "amem", "mem0", "mem0-v2"),
        *("anchormem", "memora", "nemori", "msc-retrieval", "theanine", "unbidden-llm"),
    )
    top_k: Count = 10
    ks: Counts = (1, 5, 10, 20, 50)
    turn_budgets: Counts = (5, 10, 20, 50)
    token_budgets: Annotated[Counts, Field(min_length=1)] = (600,)
    metrics: tuple[str, ...] = ()
    protocol: Literal["paper", "repaired"] = "paper"
    embedder: str = "all-MiniLM-L6-v2"
    memory_model: str = "qwen2.5-coder-1.5b"
    memory_models: dict[str, str] = Field(default_factory=dict)
    settings: Literal["locomo-conv", "published"] = "locomo-conv"
    system_options: dict[str, dict[str, Any]] = Field(default_factory=lambda: dict(CHEAPER))
    max_failed: Annotated[float, Field(ge=0, le=1)] = 0.05

    def models_of_systems(self) -> dict[str, str]:
        """Return models of single memory systems, by name, in place of `memory_model`."""
        return self.memory_models

    @property
    def all_ks(self) -> list[int]:
        """All K to score, ascending."""
        return sorted({*self.ks, self.top_k})

    @property
    def depth(self) -> int:
        """Memories to ask for: enough for every K and, where one memory is one turn, budget."""
        return max(*self.all_ks, *self.turn_budgets, 50)
