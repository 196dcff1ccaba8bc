import pandas as pd

from unbidden.report.grounding import silence


def test_a_cut_reply_is_told_from_one_that_failed_or_waits():
    reasons = ["truncated: limit", "timeout: slow", "planned: this run only plans", None]
    table = pd.DataFrame(
        {
            "way": ["random"] * 4,
            "text": [None, None, None, "two words"],
            "unscored": pd.Series(reasons, dtype=object),
        }
    )
    (row,) = silence.cut_table(table, table[:0]).to_dict("records")
    assert (row["replies"], row["cut"], row["other"], row["waiting"]) == (1, 1, 1, 1)
    assert row["words"] == 2
    waits = silence.cut_table(table[2:3], table[:0])
    assert silence.shown_cut(waits)["replies"].tolist() == ["not run"]
