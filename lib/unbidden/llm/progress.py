"""A progress line on a terminal, and silence anywhere else."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import TracebackType

    from unbidden.llm.outcome import Outcome
    from unbidden.llm.prices import Prices


class Progress:
    """Counts finished calls: rate, tokens, cost so far, failures and time left.

    A notebook, papermill, a pipe and a log file see nothing: a bar is no result.
    """

    def __init__(self, total: int, prices: Prices, label: str = "") -> None:
        self._prices = prices
        self._tokens, self._cost, self._failed, self._unpriced = 0, 0.0, 0, False
        self._bar: Any = None
        if total > 1 and on_terminal():
            from tqdm import tqdm

            self._bar = tqdm(total=total, desc=label or None, unit="call", file=sys.stderr)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def done(self, model: str, outcome: Outcome[Any]) -> None:
        """Count one finished call."""
        if self._bar is None:
            return
        usage = outcome.usage
        self._tokens += (usage.input_tokens or 0) + (usage.output_tokens or 0)
        cost = self._prices.cost(model, usage.input_tokens or 0, usage.output_tokens or 0)
        self._unpriced |= cost is None
        self._cost += cost or 0.0
        self._failed += not outcome.ok
        money = f"{self._cost:.4f} {self._prices.currency}{' + ?' if self._unpriced else ''}"
        self._bar.set_postfix_str(f"{self._tokens:,} tokens, {money}, {self._failed} unanswered")
        self._bar.update()


def on_terminal() -> bool:
    """Return whether standard error is a terminal and this is no notebook kernel."""
    return sys.stderr.isatty() and "ipykernel" not in sys.modules
