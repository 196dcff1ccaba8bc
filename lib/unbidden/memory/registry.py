"""The memory systems by name."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from unbidden.errors import ConfigError, closest
from unbidden.llm.base import LLM
from unbidden.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unbidden.memory.protocol import MemorySystem

SYSTEMS: Registry[MemorySystem] = Registry(
    "memory system",
    {
        "bm25": "unbidden.memory.bm25:BM25",
        "dense": "unbidden.memory.dense:Dense",
        "rrf": "unbidden.memory.rrf:RRF",
        "amem": "unbidden.memory.amem:AMem",
        "amem-noevo": "unbidden.memory.amem:AMemNoEvolution",
        "mem0": "unbidden.memory.mem0:Mem0",
        "mem0-v2": "unbidden.memory.mem0:Mem0V2",
        "mem0-package": "unbidden.memory.mem0.package:Mem0Package",
        "anchormem": "unbidden.memory.anchormem:AnchorMem",
        "memora": "unbidden.memory.memora:Memora",
        "nemori": "unbidden.memory.nemori:Nemori",
        "full-history": "unbidden.memory.baselines:FullHistory",
        "all-memories": "unbidden.memory.baselines:AllMemories",
        "msc-retrieval": "unbidden.memory.baselines:MSCRetrieval",
        "memory-update": "unbidden.memory.baselines:MemoryUpdate",
        "rsum": "unbidden.memory.baselines:RSum",
        "memochat": "unbidden.memory.baselines:MemoChat",
        "comedy": "unbidden.memory.baselines:Comedy",
        "theanine": "unbidden.memory.theanine:Theanine",
        "unbidden": "unbidden.memory.cued:Unbidden",
        "unbidden-llm": "unbidden.memory.cued:UnbiddenLLM",
    },
    group="unbidden.systems",
)


def create_system(
    name: str, *, own: Mapping[str, Any] | None = None, **options: Any
) -> MemorySystem:
    """Return a new memory system, given those of the run's `options` that it takes.

    A user's own class need not know every option of the study: what its signature does not name
    is not passed.

    Parameters
    ----------
    own : mapping of str, optional
        Options meant for this system alone; they go before those of the run.

    Raises
    ------
    ConfigError
        If the name is unknown, its module cannot be imported, or it lacks an option of `own`.
    """
    parameters = inspect.signature(SYSTEMS.factory(name)).parameters
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    for key in own or {}:
        if not takes_any and key not in parameters:
            raise ConfigError(
                f"memory system {name!r} has no option {key!r}",
                expected=closest(key, parameters),
                next_step="correct `system_options`",
            )
    taken = {key: value for key, value in options.items() if takes_any or key in parameters}
    if isinstance(llm := taken.get("llm"), LLM):
        taken["llm"] = llm.for_system(name)
    return SYSTEMS.create(name, **{**taken, **(own or {})})
