"""Two runs beside each other: paired differences, and what changed between them."""

from unbidden.report.comparing.files import write_comparison
from unbidden.report.comparing.page import comparison_page, one_line
from unbidden.report.comparing.runs import ChapterResults, known_runs, open_run
from unbidden.report.comparing.together import Choice, Comparison, compare_runs

__all__ = [
    "ChapterResults",
    "Choice",
    "Comparison",
    "compare_runs",
    "comparison_page",
    "known_runs",
    "one_line",
    "open_run",
    "write_comparison",
]
