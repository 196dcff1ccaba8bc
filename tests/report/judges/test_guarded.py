"""What the guards of a judge found, counted by hand."""

import pandas as pd
import pytest

from unbidden.judge.guards import INSTRUCTS, TEMPLATE, guard
from unbidden.llm.session import PLANNED
from unbidden.report.judges.guarded import guard_note, guarded, shown_guarded

CUT = guard("word " * 5_000).notes[0]
ROWS = pd.DataFrame(
    [
        ("a", "", None),
        ("a", INSTRUCTS, None),
        ("a", f"{CUT}; {INSTRUCTS}; {TEMPLATE}", None),
        ("b", TEMPLATE, "timeout: slow"),
        ("b", "the verdict depends on the order", None),
        ("b", "", "no reply: timeout: slow"),
        ("b", INSTRUCTS, f"planned: {PLANNED}"),
    ],
    columns=["system", "notes", "unscored"],
)


def test_replies_are_counted_once_and_notes_each():
    """A reply that is not there, or not judged yet, is not among them; one that failed is."""
    table = guarded(ROWS, "system")
    assert list(table) == ["system", "replies", "clipped", "orders", "chat tokens", "flagged"]
    assert table.to_numpy().tolist() == [["a", 3, 1, 2, 1, 2], ["b", 2, 0, 0, 1, 1]]
    assert guard_note(table).startswith("Of the 5 replies that a model judged 3 had to be clipped")
    assert next(iter(shown_guarded(table, "agent"))) == "agent"


@pytest.mark.parametrize(("rows", "said"), [(ROWS[:1], "none was clipped"), (ROWS[:0], "No ver")])
def test_nothing_found_is_a_sentence_and_no_table(rows, said):
    table = guarded(rows, "system")
    assert said in guard_note(table) and shown_guarded(table, "agent").empty
