"""Every model call on record: the ledger of a run, its rows, and recordings that replay it."""

from unbidden.llm.ledger.calls import Ledger

__all__ = ["Ledger"]
