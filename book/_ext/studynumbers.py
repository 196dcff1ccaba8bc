"""Sphinx extension: numbers of the runs as substitutions, and no script from elsewhere."""

from __future__ import annotations

import json
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


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the two handlers."""
    app.connect("config-inited", load_numbers, priority=100)
    app.connect("html-page-context", drop_remote_scripts, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
