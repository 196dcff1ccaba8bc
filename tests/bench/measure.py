"""What an action costs: processor seconds, seconds by the clock, and memory."""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


@dataclass(frozen=True)
class Spent:
    """What one action cost.

    Attributes
    ----------
    cpu, wall : float
        Seconds; `cpu` is what other programs of a busy machine disturb least, so ratios are of it.
    grown : float
        Megabytes that the process holds more than before.
    """

    cpu: float
    wall: float
    grown: float


def spent(action: Callable[[], T]) -> tuple[T, Spent]:
    """Return what an action gives, and what it cost."""
    gc.collect()
    before, cpu, wall = resident(), time.process_time(), time.perf_counter()
    found = action()
    cost = Spent(time.process_time() - cpu, time.perf_counter() - wall, resident() - before)
    return found, cost


def median(action: Callable[[], object], repeats: int) -> Spent:
    """Return the median cost of an action done several times."""
    costs = [spent(action)[1] for _ in range(repeats)]
    middle = repeats // 2
    return Spent(
        sorted(c.cpu for c in costs)[middle],
        sorted(c.wall for c in costs)[middle],
        max(c.grown for c in costs),
    )


def resident() -> float:
    """Return the megabytes this process holds in memory; 0 where the system does not say."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * 4096 / 1e6 if status.exists() else 0.0
