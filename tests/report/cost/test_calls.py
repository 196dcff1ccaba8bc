"""Calls on record are counted by prompt, and by what they are for."""

from tests.bench.growth import _call
from unbidden.llm.ledger import Ledger
from unbidden.llm.ledger.recording import record
from unbidden.report import cost


def test_calls_on_record_are_counted_by_prompt(folder, tmp_path):
    with Ledger(tmp_path / "l.sqlite") as ledger:
        for number in range(3):
            ledger.append(_call(number))
        record(ledger, tmp_path / "ledger")
    (row,) = cost.ledger_costs(tmp_path / "ledger").to_dict("records")
    assert (row["purpose"], row["calls"], row["failed"]) == ("replies", 3, 0)


def test_a_folder_without_recordings_holds_no_calls(folder):
    calls = cost.ledger_costs(folder.path / "none")
    assert calls.empty
    page = cost.ledger_table(folder, calls, "tab-calls", "x")._repr_html_()
    assert "no call is on record" in page
