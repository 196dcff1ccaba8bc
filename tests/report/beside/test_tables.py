import itertools
import re

import pytest

from unbidden.report.beside import rules
from unbidden.report.beside.page import beside_page
from unbidden.report.beside.rules import RULES
from unbidden.report.beside.tables import _rows, beside
from unbidden.report.published import PAPERS, published


@pytest.fixture(scope="module")
def frame():
    return beside()


def test_every_printed_number_is_there_once(frame):
    assert len(frame) == sum(len(published(paper)) for paper in PAPERS)
    assert set(frame["kind"]) <= {"same", "partly", "no"}
    assert (frame["why"] != "").all()
    assert ((frame["ours"] == "") == (frame["kind"] == "no")).all()
    assert ((frame["place"] == "") == (frame["kind"] == "no")).all()


def test_numbers_stand_as_printed(frame):
    cell = frame[(frame["section"] == "9") & (frame["row"] == "THEANINE")]
    assert cell[cell["column"] == "session 5, BLEU-4"]["printed"].tolist() == ["4.34 points"]
    assert "4.90 points" in set(frame["printed"])
    assert "36 to 198 clusters" in set(frame["printed"])


def test_same_things_come_close(frame):
    same = frame[frame["kind"] == "same"]
    assert len(same) >= 13
    for _, row in same.iterrows():
        printed = float(row["printed"].split()[0])
        assert float(row["ours"].replace(",", "")) == pytest.approx(printed, abs=0.3), row["row"]


def test_every_rule_is_used():
    rows = {paper: _rows(paper) for paper in PAPERS}
    used = {
        next(i for i, rule in enumerate(RULES) if rule.paper == paper and rule.fits(row))
        for paper in PAPERS
        for row in rows[paper]
    }
    assert used == set(range(len(RULES)))


def test_without_recorded_runs_nothing_is_compared(monkeypatch, tmp_path):
    monkeypatch.setattr(rules, "recorded_folder", lambda run, chapter: tmp_path / run / chapter)
    monkeypatch.setattr(rules, "has_recorded", lambda run, chapter: False)
    rules._table.cache_clear()
    found = beside()
    rules._table.cache_clear()
    assert set(found["kind"]) == {"no"}
    assert "not recorded here" in " ".join(found["why"])


def test_page_holds_every_number(frame):
    text = beside_page()
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    tables = text.count(":::{table}")
    assert len(rows) == len(frame) + tables
    assert len(set(re.findall(r":name: (\S+)", text))) == tables
    levels = [len(found) for found in re.findall(r"^(#+) ", text, re.MULTILINE)]
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
