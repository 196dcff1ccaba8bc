"""AnchorMem: atomic facts as anchors of raw chunks, and events over groups of facts."""

from unbidden.memory.anchormem.system import AnchorMem

__all__ = ["AnchorMem"]
