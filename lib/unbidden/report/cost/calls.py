"""The model calls on record: how many, how long, and what for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.llm.ledger.recording import replay

if TYPE_CHECKING:
    from pathlib import Path

    from unbidden.report.folder import RunFolder
    from unbidden.report.tables import NumberedTable


_NOTHING = pd.DataFrame([{"": "no call is on record in this installation"}])
_PURPOSES = {
    **{"theanine": "theanine", "amem": "amem", "mem0": "mem0", "anchormem": "anchormem"},
    **{"memora": "memora", "nemori": "nemori", "memochat": "memochat", "comedy": "comedy"},
    **{"rsum": "rsum", "memory_update": "memory-update", "extract_facts": "fact stores"},
    **{"summarise_session": "systems of session summaries", "compress": "compressed memories"},
    **{"next_turn": "replies", "reply": "replies", "judge": "judges", "rewrite": "query styles"},
    **{"compose": "query styles", "validate": "query styles", "teafarm": "TeaFarm questions"},
}


def ledger_costs(folder: Path) -> pd.DataFrame:
    """Return calls, failures, tokens and seconds of the model calls on record, by prompt.

    Parameters
    ----------
    folder : Path
        Holds recordings; one that does not exist holds none.

    Returns
    -------
    DataFrame
        Columns ``purpose, prompt, model, calls, failed, input_tokens, output_tokens, seconds``;
        tokens over calls whose endpoint counted them, seconds as recorded.
    """
    rows = [
        {
            "purpose": purpose(row.prompt),
            "prompt": row.prompt,
            "model": row.model,
            "calls": 1,
            "failed": int(row.status != "ok"),
            "input_tokens": row.usage.input_tokens or 0,
            "output_tokens": row.usage.output_tokens or 0,
            "seconds": row.seconds,
        }
        for row in replay(folder).rows()
    ]
    columns = ["purpose", "prompt", "model", "calls", "failed", "input_tokens", "output_tokens"]
    frame = pd.DataFrame(rows, columns=[*columns, "seconds"])
    return frame.groupby(columns[:3], as_index=False, sort=True).sum()


def purpose(prompt: str) -> str:
    """Return what a prompt is for: a memory system, or a step of the study.

    >>> purpose("theanine_relation.v1"), purpose("judge_trap.v1"), purpose("mine.v1")
    ('theanine', 'judges', 'other')
    """
    return next((text for start, text in _PURPOSES.items() if prompt.startswith(start)), "other")


def ledger_table(folder: RunFolder, frame: pd.DataFrame, name: str, caption: str) -> NumberedTable:
    """Return `ledger_costs` for readers: what one call costs, and all together."""
    if frame.empty:
        return folder.show(name, frame, _NOTHING, caption)
    shown = pd.DataFrame(
        {
            "for": frame["purpose"],
            "prompt": frame["prompt"],
            "model": frame["model"],
            "calls": frame["calls"],
            "failed": frame["failed"],
            "tokens in, a call": [f"{v:,.0f}" for v in frame["input_tokens"] / frame["calls"]],
            "tokens out, a call": [f"{v:,.0f}" for v in frame["output_tokens"] / frame["calls"]],
            "seconds, a call": [f"{v:.1f}" for v in frame["seconds"] / frame["calls"]],
            "minutes, all": [f"{v / 60:.1f}" for v in frame["seconds"]],
        }
    )
    return folder.show(name, frame, shown, caption)
