"""mem0: facts that a model adds, updates and deletes (arXiv 2504.19413), and its later forms.

The adapter to the package of the same name is `unbidden.memory.mem0.package`, which needs an extra.
"""

from unbidden.memory.mem0.system import Mem0
from unbidden.memory.mem0.v2 import Mem0V2

__all__ = ["Mem0", "Mem0V2"]
