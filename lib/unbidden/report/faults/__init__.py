"""The fault ledger: one row for each switch that moves a number, and by how much it does."""

from unbidden.report.faults.base import Context, Effect, Fault
from unbidden.report.faults.ledger import FAULTS, measure_faults

__all__ = ["FAULTS", "Context", "Effect", "Fault", "measure_faults"]
