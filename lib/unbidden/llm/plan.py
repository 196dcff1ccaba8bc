"""What a run would cost, before a single call is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unbidden.llm import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

    from unbidden.llm.base import Call, Prepared
    from unbidden.llm.client import Client


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
    return plan_prepared((llm.prepare(call) for call in calls), llm)


def plan_prepared(items: Iterable[Prepared], llm: Client) -> Plan:
    """Return the plan of calls whose prompts are filled in already; see `plan`."""
    groups: dict[tuple[str, str], list[Prepared]] = {}
    for item in items:
        groups.setdefault((item.prompt.name, item.model), []).append(item)
    rows = tuple(_row(*names, items, llm) for names, items in sorted(groups.items()))
    return Plan(rows, llm.prices.currency, tokens.method())


def _row(prompt: str, model: str, items: list[Prepared], llm: Client) -> PlanRow:
    distinct = {item.keys[0]: item for item in items}
    ask = [item for item in distinct.values() if not _answered(item, llm)]
    bodies = [item.forms[0].body for item in ask]
    inputs = sum(tokens.estimate_messages(body["messages"]) for body in bodies)
    high = sum(body.get("max_tokens") or body["max_completion_tokens"] for body in bodies)
    return PlanRow(
        prompt=prompt,
        model=model,
        calls=len(items),
        hits=len(distinct) - len(ask),
        same=len(items) - len(distinct),
        to_ask=len(ask),
        input_tokens=inputs,
        output_low=len(ask),
        output_high=high,
        price_low=llm.prices.cost(model, inputs, len(ask)),
        price_high=llm.prices.cost(model, inputs, high),
    )


def _answered(item: Prepared, llm: Client) -> bool:
    found = llm.known(item)
    return found is not None and found.ok
