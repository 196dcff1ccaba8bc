"""Holding a memory system to the protocol, so that a break of it is no wrong number."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, get_args

from unbidden.errors import ConfigError, DataError, UnbiddenError
from unbidden.memory.protocol import Provenance, SystemInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from unbidden.memory.protocol import IngestReport, MemorySystem, Retrieved
    from unbidden.queries.build import Query


def checked(name: str, system: MemorySystem) -> MemorySystem:
    """Return a system that has the protocol's parts, before any work is done with it."""
    info = getattr(system, "info", None)
    known = get_args(Provenance)
    lacking = [part for part in ("ingest", "search") if not callable(getattr(system, part, None))]
    if not isinstance(info, SystemInfo):
        lacking.append("info (a SystemInfo)")
    elif info.provenance not in known:
        lacking.append(f"a provenance among {', '.join(known)}")
    if lacking:
        raise ConfigError(
            f"{name!r} is no memory system",
            expected="`info`, `ingest` and `search`, as in the guide, 'Add a memory system'",
            got=f"without {', '.join(lacking)}",
            next_step="add what it lacks",
        )
    return system


@contextmanager
def naming(name: str, doing: str) -> Iterator[None]:
    """Say which system failed at what, whatever it raises."""
    try:
        yield
    except UnbiddenError:
        raise
    except Exception as error:
        raise DataError(
            f"system {name!r} failed {doing}",
            got=f"{type(error).__name__}: {str(error)[:300]}",
            next_step="correct the system; the traceback above names the line",
        ) from error


def check_found(
    name: str, query: Query, found: list[Retrieved], depth: int, known: frozenset[object]
) -> None:
    """Stop at the first break of the protocol, which would give wrong numbers in silence."""
    if len(found) > depth:
        problem, got = f"at most {depth} memories", f"{len(found)}"
    elif unknown := {source for hit in found for source in hit.sources} - known:
        problem, got = "source ids of turns of the conversation", f"{sorted(map(str, unknown))[:5]}"
    else:
        return
    raise DataError(
        f"system {name!r} broke the memory protocol on query {query.id} ({query.style})",
        expected=problem,
        got=got,
        next_step="correct its `search`; see the guide, 'Add a memory system'",
    )


def refusal(report: IngestReport, max_failed: float) -> str | None:
    """Return why a conversation is not scored for a system, or None.

    An empty store, or one that lost more than a small share of what was said, would be scored as
    if the system had read everything and remembered badly.

    Parameters
    ----------
    max_failed : float
        Largest share of units that may have failed, in whole or in part; and of what the model
        was asked while storing that may be without an answer, since a system that falls back on
        something simpler each time is no longer the one it is called.
    """
    if report.memories == 0:
        return "the system stored nothing of this conversation"
    if report.units and report.failed > max_failed * report.units:
        return (
            f"{report.failed} of {report.units} units failed while storing this conversation, "
            f"more than {max_failed:.0%}"
        )
    asked = sum(count.asked for count in report.calls.values())
    lost = sum(count.lost for count in report.calls.values())
    if lost > max_failed * asked:
        return (
            f"{lost} of {asked} answers are missing from storing this conversation, more than "
            f"{max_failed:.0%}"
        )
    return None
