"""The commands on results, as a user meets them."""

import pytest
from typer.testing import CliRunner

from tests.report.comparing.conftest import item, project, write_run  # noqa: F401
from unbidden.cli import app
from unbidden.errors import DataError


@pytest.fixture
def two(project):  # noqa: F811
    for run, value in (("one", 0.0), ("two", 1.0)):
        rows = [item(f"{c}#{i}", value) for c in "abcd" for i in range(3)]
        write_run(project, run, rows, numbers={"k": "10"}, embedder=run)
    return project


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_a_comparison_on_the_screen(two):
    text = run("compare", "one", "two").output
    assert "First run: *one*. Second run: *two*." in text
    assert (
        "| implicit | bm25 | paper | recall | 10 | 0.0 | 100.0 | 100.0 [100.0, 100.0] | 12 | 4 |"
        in text
    )
    assert "| fact | embedder | one | two |" in text


def test_a_comparison_in_files(two):
    done = run("compare", "one", "two", "--out", "out/page.md", "--metric", "all", "-k", "10")
    assert done.exit_code == 0, done.output
    assert (two / "out" / "page.md").read_text().startswith("# Compare runs: one and two")
    assert (two / "out" / "page.02_retrieval.paired-items.csv").is_file()


def test_wrong_names_are_errors_that_lead_on(two):
    done = run("compare", "one", "tow")
    assert isinstance(done.exception, DataError)
    assert "did you mean two" in str(done.exception)
    assert "must" not in run("export", "one", "out", "--form", "csv").output
    assert isinstance(run("export", "one", "out", "--form", "trec").exception, DataError)


def test_status_says_what_was_not_executed(two):
    (two / "notebooks" / "02_retrieval.ipynb").write_text('{"cells": []}')
    said = run("status", "one").output
    assert "02_retrieval             it was not executed before" in said
    assert "`unbidden pages one` takes those of `default`" in said
    assert "takes those of" not in run("status", "default").output
