"""The table of a reader's own metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.report.summary import means, select
from unbidden.report.tables import NumberedTable, with_interval

if TYPE_CHECKING:
    from unbidden.config import RetrievalConfig
    from unbidden.report.folder import RunFolder


def own_metrics_table(
    items: pd.DataFrame, config: RetrievalConfig, folder: RunFolder
) -> NumberedTable | None:
    """Return the means of the metrics of `config`, by style and system; None if it names none."""
    if not config.metrics:
        return None
    rows = items[items["metric"].isin(config.metrics)]
    parts = [select(rows, name, config.top_k) for name in config.metrics]
    found = [means(part, ["metric", "style", "system"]) for part in parts if len(part)]
    table = pd.concat(found, ignore_index=True)
    folder.table("own_metrics", table)
    texts = [
        with_interval(*triple)
        for triple in zip(table["mean"], table["low"], table["high"], strict=True)
    ]
    shown = table[["metric", "style", "system"]].assign(
        mean=texts, n=table["n"], unscored=table["unscored"]
    )
    return NumberedTable(shown, "tab-own-metrics", f"Metrics of your own at {config.top_k}, in %.")
