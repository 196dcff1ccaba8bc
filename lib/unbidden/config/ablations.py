"""Parameters of the chapter on ablations."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from unbidden.config.base import Count, Counts, ModelConfig

SUMMARIES: dict[str, dict[str, Any]] = {"theanine": {"dialogues": "none"}}
"""How the recorded graphs were made; see `unbidden.config.retrieval.CHEAPER`."""


class AblationsConfig(ModelConfig):
    """Parameters of the chapter on ablations.

    Attributes
    ----------
    systems : tuple of str
        Whose searches are rewritten for, and whose curves are drawn.
    searches : tuple of str
        Searches without a model, see `unbidden.retrieval.searches`; empty means all.
    top_k, ks, turn_budgets, token_budgets
        As in the chapter on retrieval.
    own_parts : tuple of str
        Ablations of our own system, see `unbidden.memory.cued.ABLATIONS`; empty leaves them out.
    queries_per_style : int
        Queries of each style that are rewritten; one call for each and every kind of rewriting.
    rewrite_conversations : tuple of str
        Those whose queries are rewritten; empty means the first two.
    facet_depth : int
        Memories each text is searched for, and kept after fusion.
    rebuilds, draw_seeds : int
        Times an index is built anew; seeds of drawing timelines.
    encoded_again : bool
        Whether the turns of one conversation are encoded anew, which needs the embedder itself.
    faults : tuple of str
        Rows of the fault ledger, see `unbidden.report.faults`; empty means all.
    real : {"recorded", "measure"}
        Show the recorded effects on real data, or measure them now (needs the files).
    fault_system : str
        The system without a model whose recall the switches of retrieval move.
    """

    systems: tuple[str, ...] = ("bm25", "dense", "rrf", "unbidden", "msc-retrieval", "theanine")
    searches: tuple[str, ...] = ()
    top_k: Count = 10
    ks: Counts = (1, 2, 5, 10, 20, 50)
    turn_budgets: Counts = (5, 10, 20, 40)
    token_budgets: Counts = (150, 300, 600, 1200, 2400)
    protocol: Literal["paper", "repaired"] = "paper"
    embedder: str = "all-MiniLM-L6-v2"
    memory_model: str = "qwen2.5-coder-1.5b"
    system_options: dict[str, dict[str, Any]] = Field(default_factory=lambda: dict(SUMMARIES))
    own_parts: tuple[str, ...] = (
        *("whole", "no words", "no who", "no answers", "no links", "no feedback", "rank fusion"),
        "hybrid and who",
    )
    queries_per_style: Count = 6
    rewrite_conversations: tuple[str, ...] = ()
    facet_depth: Count = 20
    rebuilds: Count = 3
    draw_seeds: Count = 5
    encoded_again: bool = True
    faults: tuple[str, ...] = ()
    real: Literal["recorded", "measure"] = "recorded"
    fault_system: Literal["bm25", "dense", "rrf"] = "bm25"
    resamples: Annotated[int, Field(gt=0, le=1_000_000)] = 999

    @property
    def all_ks(self) -> list[int]:
        """All K to score, ascending."""
        return sorted({*self.ks, self.top_k})

    @property
    def depth(self) -> int:
        """Memories to ask for: enough for every cut-off and budget of turns."""
        return max(*self.all_ks, *self.turn_budgets, 60)
