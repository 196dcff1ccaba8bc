"""Parameters of the chapter on implicit grounding."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from unbidden.config.base import Count  # noqa: TC001 - pydantic reads it
from unbidden.config.replies import RepliesConfig


class GroundingConfig(RepliesConfig):
    """Parameters of the chapter on replies, whose replies are used, and those of its own.

    Attributes
    ----------
    implicit_queries : int
        Implicit queries for the arms of this chapter. The first `queries_per_style` of them are
        those of the chapter on replies.
    random_turns : int
        Turns of the random arm; the paper has 3.
    neighbours : int
        Turns shown on each side of a gold turn to see whether the oracle starves; the paper has 5.
    pool : {"silent", "all"}
        Which implicit queries the arms are compared on: those whose oracle reply has a fact score
        of 0, or all of them.
    limits : tuple of {"equal", "paper"}
        Output limits of the random arm: as the other arms, and as in the paper, longer.
    longer_tokens : int
        The longer limit; the paper's 800 against 300 are in the same proportion.
    quality_protocols : tuple of {"repaired", "paper"}
        What faithfulness is graded against: the gold turns for every arm, or each arm's own.
    """

    implicit_queries: Count = 16
    random_turns: Count = 3
    neighbours: Annotated[int, Field(ge=1, le=50, strict=True)] = 2
    pool: Literal["silent", "all"] = "silent"
    limits: tuple[Literal["equal", "paper"], ...] = ("equal", "paper")
    longer_tokens: Count = 213
    quality_protocols: tuple[Literal["repaired", "paper"], ...] = ("repaired", "paper")
