"""axe-core in the page: what keeps people out, by rule."""

import json
from importlib import resources
from typing import Any

import pytest

GRAVE = {"serious", "critical"}
HEADINGS = "heading-order"
CONTEXT = """{include: [['html']], exclude: [
    ['tbody tr:nth-child(n+9)'], ['section:nth-of-type(n+9) div.highlight']]}"""
"""Of a long table and of many code blocks the first: the others are made and styled alike."""


def _source() -> str:
    pytest.importorskip("axe_playwright_python", reason="axe-core: needs the extra `test`")
    path = resources.files("axe_playwright_python") / "axe.min.js"
    return path.read_text(encoding="utf-8")


def serious_violations(page: Any, *, without: str = "", only: str = "") -> list[str]:
    """Return violations of serious or critical level, and headings out of order.

    `without` leaves one rule out and `only` runs one alone: contrast takes most of the time, and a
    dark page differs from a light one in nothing else.
    """
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if without:
        options["rules"] = {without: {"enabled": False}}
    if only:
        options["runOnly"] = [only]
    page.evaluate(_source())
    found = page.evaluate(f"axe.run({CONTEXT}, {json.dumps(options)})")
    return [
        f"{one['id']} ({one['impact']}): {node['html'][:160]}"
        for one in found["violations"]
        if one["impact"] in GRAVE or one["id"] == HEADINGS
        for node in one["nodes"][:3]
    ]
