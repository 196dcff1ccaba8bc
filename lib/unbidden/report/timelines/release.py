"""THEANINE's published outputs in the chapter: scored now, or shown as they were recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.reply.released_memory import memories_per_session
from unbidden.reply.rescoring import (
    comedy_by_rule,
    compare_released,
    length_matched,
    released,
    rescore,
)
from unbidden.reply.retriever_check import retriever_items
from unbidden.report.kept import KeptTables
from unbidden.report.timelines.rescored import beside_printed, retriever_agreement

if TYPE_CHECKING:
    from unbidden.report.folder import RunFolder

RECORDED = ("theanine", "06_timelines")
"""Run and chapter under which the scores are recorded."""

TABLES = (
    *("published_rescored", "published_printed", "published_length", "published_comedy"),
    *("published_difference", "published_difference_cut", "published_update"),
    *("retriever_agreement", "memories_per_session"),
)


class ReleaseReport(KeptTables):
    """The tables of the published outputs.

    Parameters
    ----------
    now : bool
        Whether to score the released files, which must be there, and write the tables into
        `folder`; otherwise the recorded tables are shown, or a row that says there are none.
    """

    def __init__(self, folder: RunFolder, *, now: bool, embedder: str, seed: int = 0) -> None:
        super().__init__(folder, RECORDED)
        if now:
            self.add(_scored(embedder, seed))
        else:
            self.take_recorded(TABLES)

    def differences(self) -> pd.DataFrame | None:
        """Return THEANINE minus memory retrieval, as released and at equal length, or None."""
        parts = []
        for source, replies in (
            ("published_difference", "as released"),
            ("published_difference_cut", "cut to the same length"),
        ):
            if (frame := self.frames.get(source)) is None:
                return None
            parts.append(frame.query("first == 'msc-retrieval'").assign(replies=replies))
        return pd.concat(parts, ignore_index=True)

    def numbers(self) -> dict[str, str]:
        """Return what the chapter's text says of them; empty without tables."""
        frame = self.frames.get("published_rescored")
        found = self.differences()
        if frame is None or found is None:
            return {}
        numbers = {}
        for row in frame.query(
            "dataset == 'mean' and system in ['theanine', 'msc-retrieval']"
        ).itertuples():
            name = str(row.system).replace("-", "_")
            numbers[f"bleu_{name}"] = f"{row.bleu4:.2f}"
            numbers[f"rouge_{name}"] = f"{row.rouge_l:.2f}"
            numbers[f"words_{name}"] = f"{row.words:.0f}"
        for row in found.query("metric == 'bleu4'").itertuples():
            name = f"{row.dataset}_{'cut' if str(row.replies).startswith('cut') else 'released'}"
            numbers[f"gap_{name}"] = (
                f"{row.difference:+.2f} [{row.low:+.2f}, {row.high:+.2f}]".replace("-", "−")
            )
        return numbers


def _scored(embedder: str, seed: int) -> dict[str, pd.DataFrame]:
    turns = released()
    rescored = rescore(turns)
    return {
        "published_rescored": rescored,
        "published_printed": beside_printed(rescored),
        "published_length": length_matched(turns),
        "published_comedy": comedy_by_rule(turns),
        "published_difference": compare_released(turns, seed=seed),
        "published_difference_cut": compare_released(turns, cut=True, seed=seed),
        "published_update": compare_released(
            turns, second="memory-update", against=["msc-retrieval"], seed=seed
        ),
        "retriever_agreement": retriever_agreement(retriever_items(embedder=embedder)),
        "memories_per_session": memories_per_session(),
    }
