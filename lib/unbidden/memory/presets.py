"""Named settings of the memory systems, and options of the reader's own on top of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from unbidden.memory.registry import SYSTEMS

Settings = Literal["locomo-conv", "published"]
SETTINGS: tuple[Settings, ...] = get_args(Settings)
Options = Mapping[str, Mapping[str, Any]]

LOCOMO_CONV: Options = {
    "amem": {
        "analysis": False,
        "embed": "content",
        "query_mode": "raw",
        "link_expansion": False,
        "consolidate_every": None,
        "bug_compat": ["rank_as_position"],
    },
    "anchormem": {"event_parser": "parens"},
    "memora": {
        "segmentation": "fixed",
        "update_threshold": 2.0,
        "sources": "cited",
        "query_floor": 0.0,
    },
    "nemori": {
        "merge": False,
        "prediction_correction": False,
        "lists": "paper",
        "show_source_top": 0,
        "episode_text": "titled",
        "semantic_time": "none",
    },
}
"""What LoCoMo-Conv's runners set, where it differs from the systems' own papers.

- A-MEM is the authors' library rather than their reproduction code.
- AnchorMem's events are read by its released parser, which finds hardly any: its hits are chunks.
- What LoCoMo-Conv calls mem0 is release 2, which only adds: our `mem0-v2`, with its defaults. Our
  `mem0` is that of its paper, and its releases up to 1.0 by ``variant``; LoCoMo-Conv ran neither.
- Memora makes one segment of a session and never merges. Of LoCoMo-Conv's runs this is the third,
  which it reports: the model cites the turns of each entry, and no entry is too far from a query.
  The name of that run says so; its threshold is not known, 0 is ours.
- Nemori neither merges nor compares with a prediction; an episode is shown as title and content,
  without time or messages. Its ten episodes come first, so that ten memories hold no statement;
  LoCoMo-Conv also has a run that shows 20 statements more.
"""


def system_options(name: str, settings: Settings, own: Options) -> dict[str, Any]:
    """Return the options of one system: those of the named settings, then the reader's own.

    Parameters
    ----------
    settings : {"locomo-conv", "published"}
        "published" leaves a system's defaults, which follow its own paper.
    own : mapping of str to mapping
        Options by system name; they go before the settings.
    """
    base = LOCOMO_CONV.get(name, {}) if settings == "locomo-conv" else {}
    return {**base, **own.get(name, {})}


def all_options(
    systems: Sequence[str], settings: Settings, own: Options
) -> dict[str, dict[str, Any]]:
    """Return the options of all systems of a run, by name.

    Options of `own` for systems the run does not have are left out: the defaults of a chapter
    hold some for systems a reader may not choose.
    """
    return {name: system_options(name, settings, own) for name in systems}


def needs_model(name: str) -> bool:
    """Return whether a system calls a language model; one that does not say so does not."""
    return bool(getattr(getattr(SYSTEMS.factory(name), "info", None), "needs_llm", False))
