"""Memory conditions by name: what a reply may draw on.

>>> condition("oracle").gold, condition("top_k", k=5).k
(True, 5)
"""

from typing import Any

from unbidden.registry import Registry
from unbidden.reply.conditions.base import Condition, Remembered, Thinking
from unbidden.reply.conditions.fixed import FixedReply
from unbidden.reply.conditions.ranked import Compressed, Rewritten, TopK
from unbidden.reply.conditions.turns import AllMemory, NoMemory, Oracle, RandomMemory

_HERE = "unbidden.reply.conditions:"
CONDITIONS: Registry[Condition] = Registry(
    "memory condition",
    {
        "top_k": _HERE + "TopK",
        "oracle": _HERE + "Oracle",
        "oracle_context": _HERE + "oracle_context",
        "no_memory": _HERE + "NoMemory",
        "random": _HERE + "RandomMemory",
        "all_memory": _HERE + "AllMemory",
        "compressed": _HERE + "Compressed",
        "rewrite_convergent": _HERE + "rewrite_convergent",
        "rewrite_facets": _HERE + "Rewritten",
        "cot_select": _HERE + "cot_select",
        "cot_noselect": _HERE + "cot_noselect",
        "always_agree": _HERE + "always_agree",
        "always_refuse": _HERE + "always_refuse",
    },
    "unbidden.conditions",
    listing="`unbidden.reply.conditions.CONDITIONS.names()` gives the names",
)
"""A user's own: ``package.module:Class``, or the entry-point group."""


def condition(name: str, **options: Any) -> Condition:
    """Return the condition of a name; raises as `Registry.create` does."""
    return CONDITIONS.create(name, **options)


def oracle_context(neighbours: int = 5) -> Oracle:
    """Return the oracle with neighbouring turns; the paper takes five on each side."""
    return Oracle(neighbours=neighbours)


def rewrite_convergent(k: int = 10, rankings: str = "") -> Rewritten:
    """Return the condition of one rewritten query."""
    return Rewritten("convergent", k, rankings)


def cot_select(k: int = 10) -> TopK:
    """Return the condition in which the model thinks and chooses memories first."""
    return TopK(k, "cot_select", thinking="select")


def cot_noselect(k: int = 10) -> TopK:
    """Return the condition in which the model thinks first, but chooses nothing."""
    return TopK(k, "cot_noselect", thinking="think")


def always_agree() -> FixedReply:
    """Return the condition that agrees with everything."""
    return FixedReply("always-agree")


def always_refuse() -> FixedReply:
    """Return the condition that declines everything."""
    return FixedReply("always-refuse")


__all__ = [
    "CONDITIONS",
    "AllMemory",
    "Compressed",
    "Condition",
    "FixedReply",
    "NoMemory",
    "Oracle",
    "RandomMemory",
    "Remembered",
    "Rewritten",
    "Thinking",
    "TopK",
    "always_agree",
    "always_refuse",
    "condition",
    "cot_noselect",
    "cot_select",
    "oracle_context",
    "rewrite_convergent",
]
