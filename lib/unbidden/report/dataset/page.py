"""The page on data and licences: the embedded set's data card, and what is not included."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from unbidden.corpus import load_corpus
from unbidden.queries.build import build_queries
from unbidden.queries.datacard import data_card
from unbidden.queries.export import SCHEMAS
from unbidden.report.tables import NumberedTable

if TYPE_CHECKING:
    from unbidden.corpus.models import Corpus

EMBEDDED, LICENCE, LANGUAGES = "harbour", "cc-by-4.0", ("en", "zh")

LICENCES = (
    ("this study's code", "in the repository", "Apache-2.0"),
    ("harbour: conversations, questions, styles", "in the package", "CC BY 4.0"),
    ("labelled replies of the chapter on judges", "in the package", "CC BY 4.0"),
    ("recorded numbers of real-data runs", "in the repository: ids and values", "Apache-2.0"),
    ("numbers of the papers, cited with their place", "in the repository", "facts, cited"),
    ("MathJax, which sets formulas in this book", "in the repository", "Apache-2.0"),
    ("LoCoMo", "not included; unbidden data get locomo", "CC BY-NC 4.0"),
    ("LoCoMo-Conv's queries", "not included; unbidden data get locomo-conv", "none stated"),
    ("released replies for THEANINE", "not included; unbidden data get theanine", "none stated"),
    ("Multi-Session Chat, Conversation Chronicles", "not included", "their own; see their pages"),
)
"""What the study uses, where it is, and on which terms."""

_PAGE = """# Data and licences

Which data is part of the study, who made it, and on which terms may it be used?

## What is used, and on which terms

{licences}
Where no licence is stated, nothing may be passed on: such files are read on the machine of whoever
downloads them, and only ids and values are recorded. The explorer shows texts of `{name}` alone. To
cite the study, see `CITATION.cff`; the works behind it are in the [bibliography](../bibliography).

## Data card of {name}

{name} was written for this project with a language model, by a written specification (facts said
once and changed later, near-duplicates, causes across sessions); it was checked by program for ids,
leaks and difficulty, and read against its evidence by a second reader, also a language model. All
people, places and events are invented. No person has labelled it yet. It is smaller and cleaner
than real chat, so it is for trying the study: conclusions need the real data.

```{{code-block}} yaml
{header}
```

{counts}
"""


def embedded_card(corpus: Corpus) -> tuple[str, str]:
    """Return the YAML header and the Markdown body of the embedded data set's card."""
    card = data_card(
        corpus,
        build_queries(corpus),
        list(SCHEMAS),
        licence=LICENCE,
        languages=LANGUAGES,
        evidence="paper",
    )
    _, header, body = card.split("---\n", 2)
    return header.rstrip(), body.strip()


def data_page() -> str:
    """Return the page."""
    header, body = embedded_card(load_corpus(EMBEDDED))
    table = pd.DataFrame(LICENCES, columns=["what", "where", "terms"])
    return _PAGE.format(
        licences=NumberedTable(
            table, "tab-licences", "Data, code and their terms."
        )._repr_markdown_(),
        name=EMBEDDED,
        header=header,
        counts=body.split("\n", 1)[1].strip(),  # without its heading
    )
