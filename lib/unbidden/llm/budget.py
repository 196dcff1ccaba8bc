"""A limit on calls, tokens or money, kept even with many calls in flight."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from unbidden.errors import BudgetExceeded, ConfigError
from unbidden.llm.tokens import estimate_messages

if TYPE_CHECKING:
    import anyio

    from unbidden.llm.outcome import Usage
    from unbidden.llm.prices import Prices
    from unbidden.llm.request import Request


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may spend at most; None is no limit.

    Attributes
    ----------
    calls : int or None
        Calls that are really made; a replayed one costs nothing.
    tokens : int or None
        Input and output tokens together.
    money : float or None
        In the currency of the price table; needs a price for every model.
    """

    calls: int | None = None
    tokens: int | None = None
    money: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """Calls, tokens and money of one or more calls."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.calls + other.calls, self.tokens + other.tokens, self.money + other.money)

    def __sub__(self, other: Cost) -> Cost:
        return self + Cost(-other.calls, -other.tokens, -other.money)


@dataclass(slots=True)
class Purse:
    """What one run has spent and what its calls in flight may still cost.

    A call is let through only if the budget holds even should its reply be of full length. All
    methods run in the event loop, so nothing needs a lock.
    """

    budget: Budget
    prices: Prices
    spent: Cost = Cost()
    held: Cost = Cost()
    _changed: anyio.Event | None = field(default=None, init=False)

    async def hold(self, request: Request) -> Cost:
        """Set aside the most a request can cost; wait if only calls in flight stand in the way.

        Raises
        ------
        BudgetExceeded
            If what is left cannot pay for it.
        """
        import anyio

        most = self._estimate(request)
        while not self._fits(self.spent + self.held + most):
            if not self._fits(self.spent + most):
                raise self._exceeded(most)
            if self._changed is None:
                self._changed = anyio.Event()
            await self._changed.wait()
        self.held += most
        return most

    def settle(self, most: Cost, request: Request, usage: Usage, *, made: bool) -> None:
        """Replace what was set aside for a request by what it did cost.

        Where the endpoint counts no tokens, the estimate stands in; a failed call without a
        count costs its input.
        """
        self.held -= most
        if made:
            self.spent += self._actual(request, usage)
        if self._changed is not None:
            self._changed.set()
            self._changed = None

    def _fits(self, total: Cost) -> bool:
        limits = ((total.calls, self.budget.calls), (total.tokens, self.budget.tokens))
        within = all(limit is None or value <= limit for value, limit in limits)
        money = self.budget.money
        return within and (money is None or total.money <= money + 1e-12)

    def _estimate(self, request: Request) -> Cost:
        body = request.body
        longest = int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)
        return self._cost(request, estimate_messages(body["messages"]), longest)

    def _actual(self, request: Request, usage: Usage) -> Cost:
        counted = usage.input_tokens
        if counted is None:
            counted = estimate_messages(request.body["messages"])
        return self._cost(request, counted, usage.output_tokens or 0)

    def _cost(self, request: Request, inputs: int, outputs: int) -> Cost:
        model = str(request.body["model"])
        money = self.prices.cost(model, inputs, outputs)
        if money is None and self.budget.money is not None:
            raise ConfigError(
                f"a budget of money needs the price of {model!r}",
                expected=f"the model in the price table ({', '.join(sorted(self.prices.models))})",
                next_step="give a price table that has it, or limit calls or tokens instead",
            )
        return Cost(1, inputs + outputs, 0.0 if money is None or math.isnan(money) else money)

    def _exceeded(self, most: Cost) -> BudgetExceeded:
        names = ("calls", "tokens", "money")
        limits = [f"{name} {getattr(self.budget, name)}" for name in names]
        set_ = [text for text in limits if not text.endswith("None")]
        return BudgetExceeded(
            "the budget of this run is spent",
            expected=f"at most {', '.join(set_)}",
            got=f"spent: {self.spent.calls} calls, {self.spent.tokens} tokens, "
            f"{self.spent.money:.4f} {self.prices.currency}; the next call may take "
            f"{most.tokens} tokens",
            next_step="raise the budget and run again: what was answered is kept and not asked "
            "for again",
        )
