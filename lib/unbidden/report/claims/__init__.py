"""The seed papers' claims, each with a verdict that a rule draws from measured intervals.

>>> from unbidden.report.claims.rule import Measured
>>> part = Measured("recall_implicit", "bm25", "mine", "none", 0.2, 0.1, 0.3, 50, 5, "", "")
>>> claim_rows([part], [CLAIMS["recall_implicit"]])["verdict"].tolist()
['holds']
"""

from unbidden.report.claims.evidence import evidence_frame, read_evidence, recorded_evidence
from unbidden.report.claims.listing import CLAIMS, Claim
from unbidden.report.claims.rule import Bound, Measured
from unbidden.report.claims.table import (
    ClaimsTable,
    claim_numbers,
    claim_rows,
    claim_verdicts,
)

__all__ = [
    "CLAIMS",
    "Bound",
    "Claim",
    "ClaimsTable",
    "Measured",
    "claim_numbers",
    "claim_rows",
    "claim_verdicts",
    "evidence_frame",
    "read_evidence",
    "recorded_evidence",
]
