"""Conversations and questions: frozen models, loaders, pinned sources, audit of a file."""

from unbidden.corpus.load import load_corpus
from unbidden.corpus.models import (
    CATEGORIES,
    STYLES,
    Cluster,
    Conversation,
    Corpus,
    Question,
    Rewrite,
    Session,
    Turn,
)

__all__ = [
    "CATEGORIES",
    "STYLES",
    "Cluster",
    "Conversation",
    "Corpus",
    "Question",
    "Rewrite",
    "Session",
    "Turn",
    "load_corpus",
]
