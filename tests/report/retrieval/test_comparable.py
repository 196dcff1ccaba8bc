"""What stands side by side: shared conversations, and systems that have them all."""

import pandas as pd
import pytest

from unbidden.memory import IngestReport
from unbidden.report.retrieval.comparable import comparable, lossy_systems
from unbidden.retrieval import Rankings
from unbidden.retrieval.run import NOT_RECORDED


def rows(**values):
    """Return rows of systems from strings like "1-0": a value, or none, in each conversation."""
    found = [
        {"system": name, "conversation": f"c{i}", "value": None if one == "-" else float(one)}
        for name, each in values.items()
        for i, one in enumerate(each)
    ]
    return pd.DataFrame(found)


@pytest.mark.parametrize(
    ("values", "lossy", "conversations", "systems"),
    [
        ({"a": "111", "b": "11-"}, (), {"c0", "c1"}, {"a", "b"}),  # b was not run on c2
        ({"a": "111", "b": "11-"}, ("b",), {"c0", "c1", "c2"}, {"a"}),  # b lost c2
        ({"a": "11-", "b": "011"}, ("b",), {"c0", "c1"}, {"a", "b"}),  # and has all that count
        ({"a": "11-", "b": "---"}, (), {"c0", "c1"}, {"a"}),  # nowhere scored
        ({"a": "1-1", "b": "-11"}, ("a", "b"), {"c2"}, {"a", "b"}),  # all lost one
        ({"a": "1-", "b": "-1"}, (), set(), set()),  # nothing in common
    ],
)
def test_who_is_compared_on_what(values, lossy, conversations, systems):
    found = comparable(rows(**values), lossy)
    assert set(found["conversation"]) == conversations
    assert set(found["system"]) == systems
    assert found["value"].notna().all()


def test_lost_is_not_the_same_as_not_run():
    stored = {"c0": IngestReport(units=10, memories=1, failed=9)}
    lost = Rankings("lost", None, 5, [], [], stored, (), {"c0": "9 of 10 failed"}, {}, {})
    unrun = Rankings("unrun", None, 5, [], [], {}, (), {"c0": NOT_RECORDED}, {}, {})
    whole = Rankings("whole", None, 5, [], [], stored, (), {}, {}, {})
    assert lossy_systems([lost, unrun, whole]) == {"lost"}
