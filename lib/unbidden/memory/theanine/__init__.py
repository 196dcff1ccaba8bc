"""THEANINE: memories in a temporal-causal graph, read as timelines (arXiv 2406.10996)."""

from unbidden.memory.theanine.graph import MemoryGraph
from unbidden.memory.theanine.system import Theanine

__all__ = ["MemoryGraph", "Theanine"]
