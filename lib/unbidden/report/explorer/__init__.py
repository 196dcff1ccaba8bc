"""The explorer: single items of a run, to be filtered and read offline in the book."""

from unbidden.report.explorer.model import Item, Judgement, Memory, Reply, Returned
from unbidden.report.explorer.read import Found, read_run
from unbidden.report.explorer.shards import write_shards

__all__ = [
    "Found",
    "Item",
    "Judgement",
    "Memory",
    "Reply",
    "Returned",
    "read_run",
    "write_shards",
]
