import pandas as pd
import pytest

from tests.conftest import ROOT
from unbidden.report.claims import (
    CLAIMS,
    ClaimsTable,
    Measured,
    claim_numbers,
    claim_rows,
    claim_verdicts,
)
from unbidden.report.claims.table import is_shown

EVIL = "x|`{numref}`<script>alert(1)</script>"


def part(claim, dataset, low, high, *, name="p", table="tab-recall", chapter="02_retrieval"):
    middle = (low + high) / 2
    return Measured(claim, name, dataset, "none", middle, low, high, 50, 5, chapter, table)


def test_one_row_a_claim_and_data_set_with_its_verdict():
    rows = claim_rows(
        [
            part("recall_dialog", "one", 0.1, 0.2, name="bm25"),
            part("recall_dialog", "one", 0.1, 0.3, name="dense"),
            part("recall_dialog", "two", -0.3, -0.1),
            part("recall_implicit", "one", -0.1, 0.3),
        ],
        [CLAIMS[key] for key in ("recall_dialog", "recall_implicit", "natural")],
    )
    assert rows["verdict"].tolist() == [
        *("holds", "does not hold", "cannot be told here", "cannot be told here")
    ]
    assert rows["measured"][0] == "bm25 15.0 [10.0, 20.0]; dense 20.0 [10.0, 30.0]"
    assert rows["measured"][3].startswith("not measured; it takes people")
    numbers = claim_numbers(rows)
    assert numbers["claims"] == "3" and numbers["claims_mixed"] == "1"
    assert numbers["claims_open"] == "2" and numbers["claims_measured"] == "2"
    assert numbers["claim_recall_dialog"] == "mixed"
    words = claim_verdicts(rows).set_index("claim")
    assert words.loc["recall_dialog", ["verdict", "data"]].tolist() == ["mixed", "one, two"]
    assert words.loc["natural", "data"] == ""


def test_every_claim_has_a_row_without_any_evidence():
    rows = claim_rows([])
    assert rows["claim"].tolist() == list(CLAIMS)
    assert set(rows["verdict"]) == {"cannot be told here"}


@pytest.fixture
def hostile(monkeypatch):
    monkeypatch.chdir(ROOT)
    rows = claim_rows(
        [
            part("recall_dialog", EVIL, 0.1, 0.2),
            part("recall_dialog", "two", 0.1, 0.2, table=EVIL, chapter="../" + EVIL),
        ],
        [CLAIMS["recall_dialog"]],
    )
    return ClaimsTable(rows, "tab-claims", EVIL)


def test_only_tables_that_are_shown_are_linked(hostile):
    assert is_shown("02_retrieval", "tab-recall")
    assert not is_shown("02_retrieval", "tab-none")
    assert not is_shown("../lib", "tab-recall")
    page = hostile._repr_markdown_()
    assert page.count("{numref}`tab-recall`") == 1
    assert page.count("{numref}`") == 1  # what a cell says is no role
    assert "<" not in page.replace("\\<", "")
    assert "<script" not in hostile._repr_html_()
    assert hostile._repr_html_().count("<a href") == 1


def test_the_claims_are_shown_once(hostile):
    shown = hostile.shown()
    assert (shown["claim"] != "").tolist() == [True, False]
    assert isinstance(shown, pd.DataFrame) and EVIL in repr(hostile)
