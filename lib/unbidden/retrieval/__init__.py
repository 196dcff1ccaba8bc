"""Asking memory systems the queries, and scoring what they bring to mind."""

from unbidden.retrieval.run import Rankings, retrieve
from unbidden.retrieval.score import score_rankings

__all__ = ["Rankings", "retrieve", "score_rankings"]
