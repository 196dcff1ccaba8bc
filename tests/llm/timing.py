"""Benchmarks on a machine that others use as well."""

import time


def slowdown():
    """Return how much longer work takes now than it computes: 1 on an idle machine.

    Time limits are multiplied by it, so that a neighbour's load fails no benchmark.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    while time.process_time() - cpu < 0.3:
        sum(range(10_000))
    return max(1.0, (time.perf_counter() - wall) / (time.process_time() - cpu))
