"""Asking memory systems the queries, and scoring what they bring to mind."""

from unbidden.retrieval.cost import cost_items
from unbidden.retrieval.run import Rankings, Rules, retrieve
from unbidden.retrieval.score import score_rankings
from unbidden.retrieval.textmatch import text_recall_items

__all__ = ["Rankings", "Rules", "cost_items", "retrieve", "score_rankings", "text_recall_items"]
