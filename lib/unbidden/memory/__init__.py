"""Memory systems behind one protocol; names are in `unbidden.memory.registry`."""

from unbidden.memory.protocol import IngestReport, MemorySystem, Retrieved, SystemInfo
from unbidden.memory.registry import SYSTEMS, create_system

__all__ = [
    "SYSTEMS",
    "IngestReport",
    "MemorySystem",
    "Retrieved",
    "SystemInfo",
    "create_system",
]
