"""The register of claims: each number of the prose with its run, table and cell.

A number is cited by name (`glue`, or a substitution in the book's own pages). Where it comes from
is declared once, in ``sources/CHAPTER.yaml``, and checked against the run's own tables.
"""

from unbidden.report.provenance.cited import Citation, citations, prose_pages, typed_numbers
from unbidden.report.provenance.register import (
    Claim,
    claims_of_run,
    claims_page,
    failing,
    register,
    write_register,
)

__all__ = [
    "Citation",
    "Claim",
    "citations",
    "claims_of_run",
    "claims_page",
    "failing",
    "prose_pages",
    "register",
    "typed_numbers",
    "write_register",
]
