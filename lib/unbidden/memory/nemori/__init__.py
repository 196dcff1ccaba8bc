"""Nemori: episodes told by a model, and the lasting statements they teach (arXiv 2508.03341)."""

from unbidden.memory.nemori.system import Nemori

__all__ = ["Nemori"]
