"""The systems THEANINE (arXiv 2406.10996) is compared with, each after its own paper."""

from unbidden.memory.baselines.comedy import Comedy
from unbidden.memory.baselines.history import FullHistory
from unbidden.memory.baselines.memochat import MemoChat
from unbidden.memory.baselines.pools import AllMemories, MSCRetrieval
from unbidden.memory.baselines.rsum import RSum
from unbidden.memory.baselines.update import MemoryUpdate

__all__ = [
    "AllMemories",
    "Comedy",
    "FullHistory",
    "MSCRetrieval",
    "MemoChat",
    "MemoryUpdate",
    "RSum",
]
