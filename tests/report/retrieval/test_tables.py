"""Every table and figure of recall stands where nothing is scored, or nothing is compared."""

import numpy as np
import pandas as pd
import pytest

from unbidden.report.retrieval.tables import NOT_SCORED, RetrievalReport


def items(styles, value):
    rows = [
        {"style": style, "system": "bm25", "metric": metric, "k": k, "category": 4}
        | {"conversation": home, "query_id": f"{home}#0", "value": value, "condition": "paper"}
        for style in styles
        for home in ("a", "b")
        for metric, k in (
            ("recall", 1),
            ("recall", 10),
            ("recall_turns", 5),
            ("recall_tokens", 600),
        )
    ]
    columns = ["style", "system", "metric", "k", "category", "conversation", "query_id", "value"]
    return pd.DataFrame(rows, columns=[*columns, "condition"])


def written(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


TABLES = (
    *("recall_table", "bootstrap_table", "drop_table", "pairs_table", "budget_table"),
    *("category_table", "conversation_table"),
)


@pytest.mark.parametrize(
    ("rows", "scored"),
    [
        (items(["implicit"], 0.5), True),
        (items(["question", "implicit"], np.nan), False),
        (items([], 0.5), False),
    ],
    ids=["one style", "unscored", "no row"],
)
def test_a_report_of_little_or_nothing(rows, scored):
    report = RetrievalReport(rows, 10)
    for name in TABLES:
        text = repr(getattr(report, name)("tab-x", "c"))
        compares = name in ("drop_table", "pairs_table")
        assert ("50.0" in text) == (scored and not compares), name
        assert " 0.0" not in text, f"{name}: unscored is not zero"
    assert report.protocol_table(rows.iloc[:0], "tab-x", "c").frame.empty
    drawn = [report.figure(), report.k_figure()]
    assert [NOT_SCORED in written(figure) for figure in drawn] == [not scored] * 2
    assert written(report.drop_figure()) == ["Nothing to compare with the plain question."]


def test_the_drop_leaves_out_a_system_without_a_score():
    both = pd.concat(
        [
            items(["question", "implicit"], 0.5),
            items(["question", "implicit"], np.nan).assign(system="blind"),
        ]
    )
    [axes] = RetrievalReport(both, 10).drop_figure().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["implicit · bm25"]
