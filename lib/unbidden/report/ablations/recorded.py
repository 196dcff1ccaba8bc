"""The recorded run on real data that the chapter shows beside its own."""

from __future__ import annotations

import pandas as pd

from unbidden.recorded import recorded_folder

RUN, CHAPTER = "faults", "04_ablations"


def recorded_faults() -> pd.DataFrame | None:
    """Return the recorded effects of the switches, or None if they are not at hand."""
    path = recorded_folder(RUN, CHAPTER) / "tables" / "faults.csv"
    if not path.is_file():
        return None
    # An empty text is "measured", which is not the same as no value.
    return pd.read_csv(path, keep_default_na=True).fillna({"unscored": "", "interval": ""})
