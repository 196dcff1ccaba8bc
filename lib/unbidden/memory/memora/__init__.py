"""Memora: abstractions and cues that lead to uncompressed values (arXiv 2602.03315)."""

from unbidden.memory.memora.system import Memora

__all__ = ["Memora"]
