"""A-MEM: one note for each turn, linked and evolved by a model (arXiv 2502.12110)."""

from unbidden.memory.amem.noevo import AMemNoEvolution
from unbidden.memory.amem.system import AMem

__all__ = ["AMem", "AMemNoEvolution"]
