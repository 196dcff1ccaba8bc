"""The data card of an export: a YAML header and counts, in Markdown."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import yaml

from unbidden.corpus.models import CATEGORIES, STYLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import Corpus
    from unbidden.queries.build import Query

_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (10**6, "100K<n<1M"))


def data_card(
    corpus: Corpus,
    queries: Sequence[Query],
    tables: Sequence[str],
    *,
    licence: str,
    languages: Sequence[str],
    evidence: EvidencePolicy,
) -> str:
    """Return the data card: counts from the data, and none of its text.

    Parameters
    ----------
    tables : sequence of str
        Names of the files under ``data/``; "queries" is the one shown first.
    """
    header = _header(corpus, queries, tables, licence, languages)
    return "\n".join(
        [
            "---",
            yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=10_000).rstrip(),
            "---",
            f"# {_plain(corpus.name)}",
            "",
            "Long conversations between two people, questions about them, and the same questions "
            "as people really speak: the query styles of LoCoMo-Conv (arXiv 2609.03467).",
            "",
            *_counts(corpus),
            "",
            *_styles(queries),
            "",
            "Composed queries join questions of several categories and count in none.",
            "",
            f"Gold turns are read by the `{evidence}` rule of `unbidden`. A turn id is unique in "
            "its conversation only. `trap` is the answer a misled reply would give to an "
            "adversarial question, which has no answer.",
            "",
            *_sources(corpus),
            f"Licence, as given by whoever exported this: {_plain(licence)}.",
            "",
        ]
    )


def _counts(corpus: Corpus) -> list[str]:
    """Return the lines of a table of how much there is of each thing."""
    talks = corpus.conversations
    counts = {
        "conversations": len(talks),
        "sessions": sum(len(item.sessions) for item in talks),
        "turns": sum(len(item.turns) for item in talks),
        "questions": sum(len(item.questions) for item in talks),
        "clusters": len(corpus.clusters),
    }
    rows = [f"| {name} | {number:,} |" for name, number in counts.items()]
    return ["| what | number |", "| --- | ---: |", *rows]


def _styles(queries: Sequence[Query]) -> list[str]:
    """Return the lines of a table of queries by style and category."""
    styles = Counter(query.style for query in queries)
    cells = Counter((query.style, query.category) for query in queries)
    rows = [
        f"| {style} | {styles[style]:,} | "
        + " | ".join(f"{cells[style, number]:,}" for number in CATEGORIES)
        + " |"
        for style in STYLES
    ]
    head = f"| style | queries | {' | '.join(CATEGORIES.values())} |"
    return [head, "| --- | ---: |" + " ---: |" * len(CATEGORIES), *rows]


def _header(
    corpus: Corpus,
    queries: Sequence[Query],
    tables: Sequence[str],
    licence: str,
    languages: Sequence[str],
) -> dict[str, Any]:
    """Return the YAML header, every value on one line so that no text can end the header."""
    turns = sum(len(item.turns) for item in corpus.conversations)
    return {
        "license": " ".join(licence.split()),
        "language": list(languages),
        "pretty_name": " ".join(corpus.name.split()),
        "task_categories": ["text-retrieval", "question-answering"],
        "size_categories": [_size(max(turns, len(queries)))],
        "configs": [
            {
                "config_name": name,
                "data_files": [{"split": "test", "path": f"data/{name}.parquet"}],
                **({"default": True} if name == "queries" else {}),
            }
            for name in sorted(tables)
        ],
    }


def _sources(corpus: Corpus) -> list[str]:
    lines = [
        f"* {_plain(item.name)}, {item.size:,} bytes, sha256 `{item.sha256}`"
        for item in corpus.sources
    ]
    return ["Made from:", "", *lines, ""] if lines else []


def _size(rows: int) -> str:
    return next((label for limit, label in _SIZES if rows < limit), "n>1M")


def _plain(text: str) -> str:
    """Return a name as one line that Markdown does not read as markup."""
    line = " ".join(text.split())
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|!&" else char for char in line)
