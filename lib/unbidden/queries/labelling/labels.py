"""Labels as the labelling page exports them, one file for each person."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unbidden.corpus.jsonfile import read_json
from unbidden.errors import DataError
from unbidden.queries.labelling.checks import CHECKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

FORMAT = "unbidden-labels/1"
MOST_MEMBERS = 10
"""More facts than any item has; an export that claims more is refused."""


@dataclass(frozen=True, slots=True)
class Labels:
    """One person's labels of one packet.

    Attributes
    ----------
    items : dict of str to (str, int)
        Style and number of facts of each item of the packet.
    labels : dict of str to dict of str to str
        By item and check key; unfinished items have fewer.
    """

    annotator: str
    packet: str
    items: Mapping[str, tuple[str, int]]
    labels: Mapping[str, Mapping[str, str]]


def read_labels(paths: Iterable[Path]) -> list[Labels]:
    """Return the labels of exported files; raises as `parse_labels` and `read_json` do."""
    return [parse_labels(read_json(path)[0], path.name) for path in paths]


def parse_labels(value: Any, name: str) -> Labels:
    """Return the labels of one parsed export.

    Raises
    ------
    DataError
        If it is not of the page's form, or a label is not on its check's scale; it is named.
    """
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        found = value.get("format") if isinstance(value, dict) else type(value).__name__
        raise labels_error(name, f"format {FORMAT!r}", repr(found))
    for key, kind in (("annotator", str), ("packet", str), ("items", list)):
        if not isinstance(value.get(key), kind) or not value[key]:
            got = repr(value.get(key))
            raise labels_error(name, f"{key!r}, a {kind.__name__} that is not empty", got)
    if not isinstance(value.get("labels"), dict):
        raise labels_error(name, "'labels', an object", repr(value.get("labels")))
    items: dict[str, tuple[str, int]] = {}
    for record in value["items"]:
        item = record if isinstance(record, dict) else {}
        label, style, members = item.get("id"), item.get("style"), item.get("members")
        if (
            not isinstance(label, str)
            or not (isinstance(style, str) and style in CHECKS)
            or not (isinstance(members, int) and 1 <= members <= MOST_MEMBERS)
        ):
            raise labels_error(name, "items with id, style and members", repr(record))
        items[label] = (style, members)
    for label, found in value["labels"].items():
        _check_labels(items, label, found, name)
    return Labels(value["annotator"], value["packet"], items, value["labels"])


def _check_labels(items: Mapping[str, tuple[str, int]], label: str, found: Any, name: str) -> None:
    if label not in items or not isinstance(found, dict):
        raise labels_error(f"{name}: {label[:80]}", "labels of an item of the packet", repr(found))
    style, members = items[label]
    scales = {key: check.values for check in CHECKS[style] for key in check.keys(members)}
    for key, value in found.items():
        if value not in scales.get(key, ()):
            expected = f"one of {scales[key]}" if key in scales else f"a check among {list(scales)}"
            raise labels_error(f"{name}: {label[:80]} {key}", expected, repr(value))


def labels_error(where: str, expected: str, got: str) -> DataError:
    """Return the error of an export that is not of the page's form."""
    return DataError(
        f"{where}: no labels of the labelling page",
        expected=expected,
        got=got[:200],
        next_step="export again from the page, one file for each person",
    )
