"""Fitted growth, the figure of it, and records that are not there."""

import pandas as pd
import pytest

from unbidden.report import cost, figures


def growth(power):
    sizes = [1_000, 10_000, 100_000]
    return pd.DataFrame(
        {"part": "p", "what": "query", "n": sizes, "cpu_ms": [n**power for n in sizes]}
    )


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0, 2.0])
def test_exponents_are_those_of_the_data(power):
    (row,) = cost.exponents(growth(power)).to_dict("records")
    assert row["exponent"] == pytest.approx(power)
    assert (row["sizes"], row["smallest"], row["largest"]) == (3, 1_000, 100_000)


def test_one_size_has_no_exponent():
    assert cost.exponents(growth(1).iloc[:1]).empty


def test_nothing_on_record_is_said(folder):
    report = cost.CostReport(folder)
    numbers = report.numbers()
    assert numbers["words_ms"] == "not recorded"
    assert "not been measured" in numbers["study_note"] + numbers["link_note"]
    assert numbers["bench_facts"] == "no benchmark is on record here"
    for table in (report.steps_table, report.growth_table, report.exponents_table):
        assert "no benchmark" in table("tab-x", "x")._repr_html_()


def test_the_figure_draws_queries_only():
    frame = pd.concat([growth(1), growth(1).assign(what="index", part="q")])
    (axes,) = figures.cost_against_size(frame).axes
    assert next(line.get_label() for line in axes.get_lines()) == "p"
    assert len(axes.get_lines()) == 2  # and the line at 100 ms
