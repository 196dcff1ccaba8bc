"""What replies and verdicts took, as the endpoint counted when they were recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.report.replies.run import record_only, score_replies

if TYPE_CHECKING:
    from unbidden.config import RepliesConfig
    from unbidden.llm import LLM
    from unbidden.report.replies.run import ReplyRun

_COSTS = ["what", "model", "calls", "input_tokens", "output_tokens", "seconds"]


def costs(config: RepliesConfig, run: ReplyRun, llm: LLM) -> pd.DataFrame:
    """Return what the recorded calls of replies and verdicts took, as their endpoint counted.

    Returns
    -------
    DataFrame
        Columns ``what, model, calls, input_tokens, output_tokens, seconds``: a row for each way to
        remember, over its different calls that brought a text, and one for each judge's prompt.
        Tokens are missing where the endpoint did not count.
    """
    view = record_only(llm)
    if "model" in config.judges:
        alone = config.model_copy(update={"judges": ("model",)})
        score_replies(alone, run.corpus, run.table, view)
    rows = []
    for way, group in run.table.groupby("way", sort=False):
        found = [view.client.row(key) for key in dict.fromkeys(group["key"]) if key]
        known = [row for row in found if row is not None and (row.status == "ok" or row.text)]
        model = next(iter(group["model"]))
        usages = [(row.usage.input_tokens, row.usage.output_tokens, row.seconds) for row in known]
        rows.append(_spent(f"replies, {way}", str(model), usages))
    judged: dict[tuple[str, str], list[tuple[int | None, int | None, float]]] = {}
    for item, outcome in view.answered():
        if item.prompt.role == "judge" and (outcome.ok or outcome.text):
            usage = (outcome.usage.input_tokens, outcome.usage.output_tokens, outcome.seconds)
            judged.setdefault((item.prompt.name, item.model), []).append(usage)
    rows += [_spent(prompt, model, used) for (prompt, model), used in sorted(judged.items())]
    return pd.DataFrame(rows, columns=_COSTS)


def _spent(
    what: str, model: str, used: list[tuple[int | None, int | None, float]]
) -> tuple[str, str, int, int | None, int | None, float]:
    sums: list[int | None] = []
    for place in (0, 1):
        counts = [one[place] for one in used]
        sums.append(None if None in counts else sum(int(count or 0) for count in counts))
    return what, model, len(used), sums[0], sums[1], sum(one[2] for one in used)


def shown_costs(table: pd.DataFrame) -> pd.DataFrame:
    """Return `costs` as text."""
    each = [
        f"{seconds / calls:.1f}" if calls else "–"
        for seconds, calls in zip(table["seconds"], table["calls"], strict=True)
    ]
    return pd.DataFrame(
        {
            "calls of": table["what"],
            "model": table["model"],
            "calls": table["calls"],
            "input tokens": _counts(table, "input_tokens"),
            "output tokens": _counts(table, "output_tokens"),
            "seconds a call": each,
        },
        dtype=object,
    )


def _counts(table: pd.DataFrame, column: str) -> list[str]:
    return [
        "–" if not calls or pd.isna(value) else f"{int(value):,}"
        for value, calls in zip(table[column], table["calls"], strict=True)
    ]
