"""What the chapter on cost shows: benchmarks on record, model calls on record, tokens to read."""

from unbidden.report.cost.bench import CostReport, exponents
from unbidden.report.cost.calls import ledger_costs, ledger_table, purpose
from unbidden.report.cost.reading import reading_costs, reading_table

__all__ = [
    "CostReport",
    "exponents",
    "ledger_costs",
    "ledger_table",
    "purpose",
    "reading_costs",
    "reading_table",
]
