"""The benchmarks on record: each step beside its reference, and how costs grow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from unbidden.recorded import has_recorded, recorded_facts, recorded_folder, recorded_table

if TYPE_CHECKING:
    from unbidden.report.folder import RunFolder
    from unbidden.report.tables import NumberedTable


_NOTHING = pd.DataFrame([{"": "no benchmark is on record in this installation"}])
RECORDED = ("bench", "09_cost")


MILLION = 1_000_000


def exponents(growth: pd.DataFrame) -> pd.DataFrame:
    """Return how each cost grows: the slope of its logarithm over that of the size.

    1 is in step with the size, 0 not at all; a least-squares fit over the sizes measured, at least
    two of them.

    Returns
    -------
    DataFrame
        Columns ``part, what, sizes, smallest, largest, exponent``.
    """
    rows = []
    for (part, what), group in growth.groupby(["part", "what"], sort=False):
        if group["n"].nunique() < 2:
            continue
        slope = np.polyfit(np.log(group["n"]), np.log(group["cpu_ms"].clip(lower=1e-3)), 1)[0]
        rows.append(
            {
                "part": part,
                "what": what,
                "sizes": len(group),
                "smallest": int(group["n"].min()),
                "largest": int(group["n"].max()),
                "exponent": float(slope),
            }
        )
    return pd.DataFrame(rows)


class CostReport:
    """Shows the benchmarks on record, or says that there are none.

    Parameters
    ----------
    folder : RunFolder
        Tables made from the records are written there too.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self.growth = _recorded("growth")
        self.steps = _recorded("steps")

    def numbers(self) -> dict[str, str]:
        """Return the numbers the chapter's text cites; "not recorded" where there are none."""
        words = self._query("bm25")
        largest = words[words["n"] == words["n"].max()] if len(words) else words
        return {
            "study_note": self._study(),
            "words_n": _text(largest, "n", ",.0f"),
            "words_ms": _text(largest, "cpu_ms", ".1f"),
            "million_exact": self._ms("dense, exact"),
            "million_bits": self._ms("dense, bits"),
            "million_recall": _text(self._query("dense, bits", MILLION), "recall", ".3f"),
            "million_mb": _text(self._query("dense, bits", MILLION), "mb", ",.0f"),
            "million_exact_mb": _text(self._query("dense, exact", MILLION), "mb", ",.0f"),
            "link_note": self._linking(),
            "bench_facts": self._facts(),
        }

    def _study(self) -> str:
        found = _only(self.steps, step="whole study without models")
        if found.empty:
            return (
                "A whole study beside a plain script of the same protocol has not been measured "
                "here yet."
            )
        row = found.iloc[0]
        return (
            f"A whole study of three systems ({row['data']}), vectors at hand, takes "
            f"{row['ours_s']:.1f} s here; a plain script of the same protocol takes "
            f"{row['reference_s']:.1f} s, {row['ratio']:.1f} times as long."
        )

    def _linking(self) -> str:
        fits = pd.DataFrame() if self.growth.empty else exponents(self.growth)
        found = _only(fits, part="theanine", what="link one session of 10")
        if found.empty:
            return "How linking grows with a graph of memories has not been measured here yet."
        return (
            "Linking a session to a graph of memories grows with the graph by the power "
            f"{found['exponent'].iloc[0]:.2f}."
        )

    def _query(self, part: str, n: int | None = None) -> pd.DataFrame:
        found = _only(self.growth, part=part, what="query")
        return found if n is None else _only(found, n=n)

    def _ms(self, part: str) -> str:
        return _text(self._query(part, MILLION), "cpu_ms", ".0f")

    def _facts(self) -> str:
        if not has_recorded(*RECORDED):
            return "no benchmark is on record here"
        facts = recorded_facts(*RECORDED)
        load = facts["load"]
        return (
            f"{facts['cores']} cores, {facts['machine']}, load {load['before']} to "
            f"{load['after']}, on {facts['finished'][:10]}, data {facts['dataset']}"
        )

    def steps_table(self, name: str, caption: str) -> NumberedTable:
        """Return each step beside its reference."""
        frame = self.steps
        if frame.empty:
            return self._folder.show(name, frame, _NOTHING, caption)
        shown = pd.DataFrame(
            {
                "step": frame["step"],
                "reference": frame["reference"],
                "data": frame["data"],
                "items": [f"{n:,}" for n in frame["n"]],
                "reference, s": [_seconds(v) for v in frame["reference_s"]],
                "here, s": [_seconds(v) for v in frame["ours_s"]],
                "times faster": [f"{v:.1f}" for v in frame["ratio"]],
            }
        )
        return self._folder.show(name, frame, shown, caption)

    def growth_table(self, name: str, caption: str) -> NumberedTable:
        """Return each cost at each size."""
        frame = self.growth
        if frame.empty:
            return self._folder.show(name, frame, _NOTHING, caption)
        shown = pd.DataFrame(
            {
                "part": frame["part"],
                "work": frame["what"],
                "size": [f"{n:,}" for n in frame["n"]],
                "ms": [_milliseconds(v) for v in frame["cpu_ms"]],
                "recall@10 of exact": [_number(v, ".3f") for v in frame["recall"]],
                "MB": [_number(v, ",.0f") for v in frame["mb"]],
            }
        )
        return self._folder.show(name, frame, shown, caption)

    def exponents_table(self, name: str, caption: str) -> NumberedTable:
        """Return how each cost grows with size."""
        if self.growth.empty:
            return self._folder.show(name, self.growth, _NOTHING, caption)
        frame = exponents(self.growth)
        shown = pd.DataFrame(
            {
                "part": frame["part"],
                "work": frame["what"],
                "sizes": [f"{row.smallest:,} to {row.largest:,}" for row in frame.itertuples()],
                "exponent": [f"{v:.2f}".replace("-", "−") for v in frame["exponent"]],
            }
        )
        return self._folder.show(name, frame, shown, caption)


def _recorded(name: str) -> pd.DataFrame:
    if (recorded_folder(*RECORDED) / "tables" / f"{name}.csv").is_file():
        return recorded_table(*RECORDED, name)
    return pd.DataFrame()


def _only(frame: pd.DataFrame, **wanted: Any) -> pd.DataFrame:
    for column, value in wanted.items() if not frame.empty else ():
        frame = frame[frame[column] == value]
    return frame


def _text(row: pd.DataFrame, column: str, form: str) -> str:
    return "not recorded" if row.empty else format(float(row[column].iloc[0]), form)


def _number(value: float, form: str) -> str:
    return "–" if pd.isna(value) else format(value, form)


def _seconds(value: float) -> str:
    return f"{value:.3f}" if value < 1 else f"{value:.1f}"


def _milliseconds(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"
