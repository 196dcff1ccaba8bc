"""Sphinx extension: numbers of the runs as substitutions, no script from elsewhere, access."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config


def load_numbers(app: Sphinx, config: Config) -> None:
    """Make every collected number a substitution; a page that cites a missing one fails."""
    path = Path(app.srcdir) / "_generated" / "numbers.json"
    numbers = json.loads(path.read_text(encoding="utf-8"))
    config.myst_substitutions = {**config.myst_substitutions, **numbers}


def drop_remote_scripts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Remove the launch scripts Jupyter Book adds to every page; nothing here uses them."""
    kept = []
    for script in context.get("script_files", []):
        text = f"{getattr(script, 'filename', script)} {getattr(script, 'attributes', {})}"
        if "thebe" not in text.lower() and "http" not in text:
            kept.append(script)
    context["script_files"] = kept


TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
SCROLLS = '<div class="unbidden-scroll" tabindex="0" role="group" aria-label="Table">'


def make_accessible(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Let a keyboard scroll what is wider than the page, and drop roles used in the wrong place.

    A table scrolls in a box of its own, so that it stays a table to a screen reader; boxes that
    scroll can be reached by the tab key. docutils calls a bibliography a list, but its entries
    are not marked as the items of one.
    """
    body = context.get("body")
    if not body:
        return
    body = TABLE.sub(lambda match: f"{SCROLLS}{match.group()}</div>", body)
    body = body.replace("<pre>", '<pre tabindex="0">')
    body = body.replace('class="unbidden-graph"', 'class="unbidden-graph" tabindex="0"')
    body = body.replace(' role="list" class="citation-list"', ' class="citation-list"')
    body = body.replace('class="citation-list" role="list"', 'class="citation-list"')
    context["body"] = body.replace(' role="doc-biblioentry"', "")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the handlers."""
    app.connect("config-inited", load_numbers, priority=100)
    app.connect("html-page-context", drop_remote_scripts, priority=900)
    app.connect("html-page-context", make_accessible, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
