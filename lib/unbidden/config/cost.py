"""Parameters of the chapter on cost."""

from __future__ import annotations

from unbidden.config.base import Count, RunConfig


class CostConfig(RunConfig):
    """Parameters of the chapter on cost.

    Attributes
    ----------
    top_k : int
        Memories a reply is given to read.
    """

    top_k: Count = 10
