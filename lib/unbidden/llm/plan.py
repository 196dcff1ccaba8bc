"""What a run would cost, before a single call is made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unbidden.llm import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from unbidden.llm.base import Call, Prepared
    from unbidden.llm.client import Client
    from unbidden.llm.outcome import Outcome


@dataclass(frozen=True, slots=True)
class PlanRow:
    """The calls of one prompt to one model.

    Attributes
    ----------
    calls : int
        Asked for in all.
    hits : int
        Answered in the ledger or a recording: free.
    same : int
        Repetitions of a call of the same plan: asked once.
    to_ask : int
        Left to be made.
    input_tokens : int
        Of these, estimated.
    output_low, output_high : int
        From one token for each call to its full limit.
    price_low, price_high : float or None
        In the price table's currency; None where the table lacks the model.
    """

    prompt: str
    model: str
    calls: int
    hits: int
    same: int
    to_ask: int
    input_tokens: int
    output_low: int
    output_high: int
    price_low: float | None
    price_high: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """An estimate for a whole run; real counts are in the ledger afterwards.

    Attributes
    ----------
    method : str
        How tokens were estimated.
    """

    rows: tuple[PlanRow, ...]
    currency: str
    method: str

    def frame(self) -> pd.DataFrame:
        """Return the rows as a table, one for each prompt and model."""
        import dataclasses

        import pandas as pd

        names = [field.name for field in dataclasses.fields(PlanRow)]
        return pd.DataFrame([dataclasses.asdict(row) for row in self.rows], columns=names)

    @property
    def to_ask(self) -> int:
        """Calls that would be made."""
        return sum(row.to_ask for row in self.rows)

    @property
    def price(self) -> tuple[float, float] | None:
        """Lowest and highest price of the run; None if a model's price is not known."""
        lows, highs = [], []
        for row in self.rows:
            if row.price_low is None or row.price_high is None:
                return None
            lows.append(row.price_low)
            highs.append(row.price_high)
        return sum(lows), sum(highs)

    def __str__(self) -> str:
        """Return the table with its totals, marked as an estimate."""
        price = self.price
        money = (
            "price not known for every model"
            if price is None
            else f"{price[0]:.2f} to {price[1]:.2f} {self.currency}"
        )
        hits = sum(row.hits for row in self.rows)
        total = f"{self.to_ask} calls to make, {hits} already answered, {money}"
        return f"{self.frame().to_string(index=False)}\n{total} (estimate: {self.method})"


@dataclass(slots=True)
class _Group:
    """Distinct calls of one prompt to one model, and how often any was asked."""

    calls: int = 0
    waiting: dict[str, tuple[int, int]] = field(default_factory=dict)  # key: tokens in, limit out
    answered: set[str] = field(default_factory=set)


class Tally:
    """A plan that grows by one call at a time.

    Each distinct call is prepared, looked up and measured once, however often the plan is read.

    Parameters
    ----------
    llm : Client
        For its prompts, models, prices and the answers it has.
    """

    def __init__(self, llm: Client) -> None:
        self._llm = llm
        self._groups: dict[tuple[str, str], _Group] = {}

    def add(self, item: Prepared) -> Outcome[Any] | None:
        """Count a call, and return its outcome if it is on record."""
        group = self._groups.setdefault((item.prompt.name, item.model), _Group())
        group.calls += 1
        key, found = item.keys[0], self._llm.known(item)
        if key in group.waiting or key in group.answered:
            return found
        if found is not None and found.ok:
            group.answered.add(key)
        else:
            body = item.forms[0].body
            limit = body.get("max_tokens") or body["max_completion_tokens"]
            group.waiting[key] = (tokens.estimate_messages(body["messages"]), limit)
        return found

    def plan(self) -> Plan:
        """Return the plan of all calls counted so far."""
        rows = tuple(self._row(*names) for names in sorted(self._groups))
        return Plan(rows, self._llm.prices.currency, tokens.method())

    def _row(self, prompt: str, model: str) -> PlanRow:
        group, cost = self._groups[prompt, model], self._llm.prices.cost
        ask = len(group.waiting)
        inputs = sum(tokens_in for tokens_in, _ in group.waiting.values())
        high = sum(limit for _, limit in group.waiting.values())
        return PlanRow(
            prompt=prompt,
            model=model,
            calls=group.calls,
            hits=len(group.answered),
            same=group.calls - ask - len(group.answered),
            to_ask=ask,
            input_tokens=inputs,
            output_low=ask,
            output_high=high,
            price_low=cost(model, inputs, ask),
            price_high=cost(model, inputs, high),
        )


def plan(calls: Iterable[Call], llm: Client) -> Plan:
    """Return what calls would take; none is made.

    Parameters
    ----------
    calls : iterable of Call
        As they would be given to `Client.ask_many`.
    llm : Client
        For its prompts, models, prices and the answers it has.

    Raises
    ------
    ConfigError
        If a prompt or its variables are wrong.
    """
    tally = Tally(llm)
    for call in calls:
        tally.add(llm.prepare(call))
    return tally.plan()
