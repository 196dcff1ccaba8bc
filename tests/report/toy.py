"""Long tables of items that can be checked on paper."""

import pandas as pd


def items(rows):
    frame = pd.DataFrame(
        rows,
        columns=["conversation", "query_id", "style", "category", "system", "value"],
    )
    return frame.assign(
        metric="recall", k=10, condition="paper", category=frame["category"].astype("Int8")
    )
