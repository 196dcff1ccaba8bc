"""The study's figures: one message each, intervals drawn, the same colour for a system anywhere."""

from unbidden.report.figures.grounding import decomposition, margins
from unbidden.report.figures.outcomes import cost_against_size, forest, misled_shares
from unbidden.report.figures.recall import (
    budget_curves,
    drop_by_style,
    overlap_by_style,
    recall_against_k,
    recall_by_style,
    recall_by_system,
)
from unbidden.report.figures.released import accepted_answers, released_gap
from unbidden.report.figures.replies import reply_scores
from unbidden.report.figures.style import nothing_to_draw, use_style

__all__ = [
    "accepted_answers",
    "budget_curves",
    "cost_against_size",
    "decomposition",
    "drop_by_style",
    "forest",
    "margins",
    "misled_shares",
    "nothing_to_draw",
    "overlap_by_style",
    "recall_against_k",
    "recall_by_style",
    "recall_by_system",
    "released_gap",
    "reply_scores",
    "use_style",
]
