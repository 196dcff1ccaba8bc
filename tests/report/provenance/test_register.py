"""Every number of the prose lies in the table named for it."""

import csv
import json

import pandas as pd
import pytest
import yaml

from tests.conftest import ROOT
from tests.report.comparing.conftest import item, project, write_run  # noqa: F401
from unbidden.errors import DataError
from unbidden.report.comparing import open_run
from unbidden.report.pages.reference import reference_pages
from unbidden.report.provenance import (
    citations,
    claims_of_run,
    claims_page,
    failing,
    prose_pages,
    register,
    typed_numbers,
    write_register,
)
from unbidden.report.provenance.sources import Source, declared, sources_of
from unbidden.report.provenance.trace import trace

RECORDED = {
    path.parents[1].name for path in (ROOT / "results" / "recorded").glob("*/[0-9]*/run.json")
}
PRESETS = set(yaml.safe_load((ROOT / "notebooks" / "study.yaml").read_text())["presets"])
TABLE = pd.DataFrame(
    {
        "style": ["dialog", "implicit"],
        "mean": [0.541, 0.2],
        "low": [0.5, 0.1],
        "high": [0.58, 0.3],
        "n": [1_536, 4],
    }
)


@pytest.fixture
def results(project):  # noqa: F811
    rows = [item("a#1", 1.0), item("a#2", 0.0), item("b#1", 0.0, category=5)]
    write_run(project, "mine", rows, tables={"recall": TABLE})
    return open_run("mine")["02_retrieval"]


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        ({"table": "recall", "where": {"style": "{style}"}, "cell": "mean"}, "54.1"),
        ({"table": "recall", "where": {"style": "{style}"}, "cell": "mean"}, "54.1 [50.0, 58.0]"),
        ({"table": "recall", "where": {"style": "{style}"}, "cell": "n"}, "1,536"),
        ({"table": "recall", "where": {"style": "{style}"}, "cell": "mean + low"}, "104.1"),
        ({"table": "recall", "sum": "n"}, "1,540"),
        ({"table": "recall", "sum": "low", "per": "high"}, "68"),
        ({"table": "recall", "rows": True}, "2"),
        ({"table": "recall", "max": "n"}, "1,536"),
        ({"items": "items", "distinct": "conversation"}, "2"),
        ({"items": "items", "where": {"category": {"not": 5}}, "mean": "value"}, "50.0"),
        ({"fact": "parameters.top_k"}, "10"),
        ({"table": "recall", "where": {"style": "absent"}, "cell": "mean"}, "–"),
    ],
)
def test_each_kind_of_source_reads_its_cell(results, entry, text):
    source = Source(number="x_{style}", **entry)
    found = trace(source, source.match("x_dialog"), results)
    assert text in found.texts.values()
    assert "99.9" not in found.texts.values()


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"table": "absent", "rows": True}, "there is no tables/absent.csv"),
        ({"table": "recall", "where": {"styles": "x"}, "rows": True}, "has no column 'styles'"),
        ({"table": "recall", "cell": "mean"}, "2 rows are so"),
        ({"table": "recall", "sum": "absent"}, "not defined"),
        ({"fact": "parameters.absent"}, "run.json has no parameters.absent"),
    ],
)
def test_a_source_that_leads_nowhere_says_why(results, entry, problem):
    found = trace(Source(number="x", **entry), {}, results)
    assert problem in found.problem


def test_entries_that_mean_nothing_are_refused():
    for bad in ({"table": "x"}, {"cell": "x"}, {"table": "x", "items": "y", "rows": True}):
        with pytest.raises(ValueError, match="name one place and one of"):
            Source(number="x", **bad)


def test_what_a_chapter_glues_is_written_with_its_cell(project, tmp_path):  # noqa: F811
    recall = TABLE.assign(system="bm25")
    numbers = {"k": "10", "recall_dialog_bm25": "54.1", "n_dialog": "7", "mystery": "3"}
    write_run(project, "mine", [], tables={"recall": recall}, numbers=numbers)
    claims = claims_of_run(open_run("mine")["02_retrieval"])
    states = {claim.name: claim.state for claim in claims}
    assert states["k"] == states["recall_dialog_bm25"] == "holds"
    assert "reads 1,536" in states["n_dialog"]  # the table says otherwise
    assert "no source is declared" in states["mystery"]
    assert len(failing(claims)) == 2
    write_register(claims, tmp_path)
    with (tmp_path / "claims.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows[1]["table"] == "tables/recall.csv"
    assert rows[1]["row"] == "style=dialog, system=bm25"
    assert json.loads((tmp_path / "claims.json").read_text())[1] == rows[1]


def test_a_book_with_a_number_its_table_does_not_hold_is_refused(project):  # noqa: F811
    (project / "book").mkdir()
    (project / "book" / "index.md").write_text("It finds {{ run_n_dialog }} and {{ run_k }}.")
    write_run(project, "mine", [], tables={"recall": TABLE}, numbers={"n_dialog": "7", "k": "10"})
    with pytest.raises(DataError, match="1 numbers of the prose are not what their tables hold"):
        dict(reference_pages(project, "mine"))
    pages = dict(reference_pages(project, "mine", check=False))
    assert "not found" in pages["claims.md"]
    assert "top" in pages["claims.md"]


def test_every_recorded_number_of_the_prose_is_in_its_table(monkeypatch):
    """The issue's own words; live numbers are checked when the book is made."""
    monkeypatch.chdir(ROOT)
    claims = [claim for claim in register(ROOT, "default") if claim.run.startswith("recorded/")]
    assert len(claims) > 20
    assert failing(claims) == []
    assert {claim.state for claim in claims if claim.table.startswith("tables/")} == {"holds"}


def test_every_live_number_of_the_prose_has_a_declared_source():
    """Add a line to lib/unbidden/report/provenance/sources/CHAPTER.yaml where this fails."""
    chapters = {path.stem for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")}
    missing = []
    for citation in citations(ROOT):
        page = citation.page.rpartition("/")[2].removesuffix(".ipynb")
        prefix, _, name = citation.name.partition("_")
        kept = prefix in RECORDED | PRESETS
        if page in chapters and not kept and not list(sources_of(page, citation.name)):
            missing.append(f"{page}: {citation.name}")
        if prefix == "run" and name and not any(list(sources_of(c, name)) for c in declared()):
            missing.append(f"{page}: {citation.name}")
    assert missing == []


def test_no_result_is_typed_into_prose():
    typed = [
        f"{page}: {found.text} in “{found.around}”"
        for page, text in prose_pages(ROOT).items()
        for found in typed_numbers(text, page)
    ]
    assert typed == [], "cite it by name, so that a run can refresh it"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Word search finds 54.1 % of it.", ["54.1 %"]),
        ("It falls by 12 points, to 0.37.", ["12 points", "0.37"]),
        ("A −3.2 difference", ["−3.2"]),
        ("A 95 % interval at the 5 % level, with 80 % power; arXiv 2609.03467; CC BY 4.0", []),
        ("`x=0.5` and ```\n0.7\n``` and [a](b-1.5.md) and {{ x }} %", []),
        ("```bash\nrun -p x=0.5\n```\nthen 0.6", ["0.6"]),
        ("ten conversations, Recall@10, Table 5, 1,540 questions", []),
        ("Python 3.11 and section 4.1", []),
        ("scored 1, 0.5 or 0; doubting it (0.5); a mean of 0.5 there", ["0.5"]),
    ],
)
def test_what_counts_as_a_typed_result(text, found):
    assert [number.text for number in typed_numbers(text)] == found


def test_the_page_escapes_what_a_run_says(results):
    claims = claims_of_run(results)
    assert claims == []
    from unbidden.report.provenance import Claim

    page = claims_page([Claim("notebooks/02_x.ipynb", "n|o", "<b>", "r", "c", state="holds")])
    assert "<b>" not in page
    assert "n\\|o" in page


def test_a_number_cited_from_another_run_is_read_from_the_page(project, monkeypatch):  # noqa: F811
    """A chapter may cite what it never glues as its own: the executed page says how it reads."""
    import nbformat

    live = write_run(project, "default", [], chapter="09_toy")
    write_run(project, "bench", [], chapter="09_toy", tables={"recall": TABLE})
    (project / "results" / "runs" / "bench").rename(project / "results" / "bench")
    (project / "results" / "recorded").mkdir()
    (project / "results" / "bench").rename(project / "results" / "recorded" / "bench")
    prose = nbformat.v4.new_markdown_cell("It is {glue:text}`speed` and {glue:text}`pace`.")
    notebook = nbformat.v4.new_notebook(cells=[prose])
    nbformat.write(notebook, project / "notebooks" / "09_toy.ipynb")
    shown = [
        nbformat.v4.new_output(
            "display_data",
            {"application/papermill.record/text/plain": repr(text)},
            metadata={"scrapbook": {"name": name}},
        )
        for name, text in (("speed", "54.1"), ("pace", "99.9"))
    ]
    notebook.cells.append(nbformat.v4.new_code_cell("", outputs=shown))
    nbformat.write(notebook, live / "09_toy.ipynb")
    entry = {
        "table": "recall",
        "where": {"style": "dialog"},
        "cell": "mean",
        "run": "recorded/bench",
    }
    sources = tuple(Source(number=name, **entry) for name in ("speed", "pace"))
    monkeypatch.setattr("unbidden.report.provenance.sources.declared", lambda: {"09_toy": sources})
    speed, pace = register(project, "default")
    assert (speed.text, speed.state, speed.table) == ("54.1", "holds", "tables/recall.csv")
    assert pace.contradicted


def test_each_decimal_of_a_sentence_is_a_cell(results):
    from unbidden.report.provenance.trace import sentence

    source = Source(number="note", sentence=["recall"])
    told = sentence(source, "Of 12 systems qwen2.5-coder-1.5b finds 54.1 % and 20.0 %.", results)
    assert told.texts
    assert told.row == "54.1: recall, row 1, mean; 20.0: recall, row 2, mean"
    wrong = sentence(source, "It finds 54.2 %.", results)
    assert "no cell that reads 54.2" in wrong.problem
