"""A corpus and its queries as a Hugging Face style data set: Parquet files and a data card."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from unbidden.atomic import replacing, write_text
from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.queries.build import build_queries
from unbidden.queries.datacard import data_card

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from unbidden.corpus.evidence import EvidencePolicy
    from unbidden.corpus.models import Conversation, Corpus, Rewrite
    from unbidden.queries.build import Query

_TEXTS = pa.list_(pa.string())
SCHEMAS: dict[str, pa.Schema] = {
    "conversations": pa.schema(
        {
            "conversation": pa.string(),
            "speaker_a": pa.string(),
            "speaker_b": pa.string(),
            "sessions": pa.int32(),
            "turns": pa.int32(),
            "questions": pa.int32(),
        }
    ),
    "turns": pa.schema(
        {
            "conversation": pa.string(),
            "session": pa.int32(),
            "session_date": pa.string(),
            "time": pa.timestamp("s"),
            "turn": pa.string(),
            "speaker": pa.string(),
            "text": pa.string(),
            "caption": pa.string(),
        }
    ),
    "queries": pa.schema(
        {
            "query_id": pa.string(),
            "conversation": pa.string(),
            "style": pa.string(),
            "category": pa.int8(),
            "text": pa.string(),
            "speaker": pa.string(),
            "members": pa.list_(pa.int32()),
            "questions": _TEXTS,
            "answers": _TEXTS,
            "trap": pa.string(),
            "gold": _TEXTS,
            "expected_memory_use": pa.string(),
            "asserted_wrong": pa.string(),
            "naturalness": pa.string(),
        }
    ),
}
"""Tables of an export and their columns; lists follow the order of `members`."""


def export_corpus(
    corpus: Corpus,
    folder: Path,
    *,
    licence: str,
    languages: Sequence[str] = ("en",),
    evidence: EvidencePolicy = "paper",
) -> list[Path]:
    """Write ``data/*.parquet`` and ``README.md`` with a YAML header; return the files.

    Parameters
    ----------
    folder : Path
        Made if missing; files of the same names are replaced, each whole or not at all.
    licence : str
        The licence identifier of the data ("cc-by-4.0"); the data's owner decides, not this code.
    languages : sequence of str
        ISO 639 codes for the header.

    Raises
    ------
    ConfigError
        If no licence is given.
    """
    if not licence.strip():
        raise ConfigError(
            "an export needs a licence",
            expected="an identifier such as cc-by-4.0, or 'unknown' if none is stated",
            got=repr(licence),
            next_step="look at the licence of the data you export",
        )
    queries = build_queries(corpus, evidence=evidence)
    tables = {
        "conversations": [_conversation_row(item) for item in corpus.conversations],
        "turns": [row for item in corpus.conversations for row in _turn_rows(item)],
        "queries": [_query_row(corpus, query) for query in queries],
    }
    paths = []
    for name, rows in tables.items():
        path = folder / "data" / f"{name}.parquet"
        with replacing(path) as partial:
            pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMAS[name]), partial)
        paths.append(path)
    card = data_card(
        corpus, queries, list(SCHEMAS), licence=licence, languages=languages, evidence=evidence
    )
    write_text(folder / "README.md", card)
    return [*paths, folder / "README.md"]


def export_named(
    name: str, folder: Path, *, licence: str = "", languages: Sequence[str] = ()
) -> list[Path]:
    """Export a data set by name or path; for `harbour` licence, languages and its story are known.

    Raises
    ------
    ConfigError
        If no licence is given and the data set is not harbour.
    """
    corpus = load_corpus(name)
    if name != "harbour":
        return export_corpus(corpus, folder, licence=licence, languages=languages or ("en",))
    paths = export_corpus(
        corpus, folder, licence=licence or "cc-by-4.0", languages=languages or ("en", "zh")
    )
    story = files("unbidden.corpus").joinpath("harbour", "README.md").read_text(encoding="utf-8")
    card = folder / "README.md"
    about = story.partition("\n")[2].strip()
    write_text(card, f"{card.read_text(encoding='utf-8')}\n## How it was made\n\n{about}\n")
    return paths


def _conversation_row(item: Conversation) -> dict[str, Any]:
    return {
        "conversation": item.id,
        "speaker_a": item.speakers[0],
        "speaker_b": item.speakers[1],
        "sessions": len(item.sessions),
        "turns": len(item.turns),
        "questions": len(item.questions),
    }


def _turn_rows(item: Conversation) -> list[dict[str, Any]]:
    return [
        {
            "conversation": item.id,
            "session": session.number,
            "session_date": session.date_text,
            "time": session.when,
            "turn": turn.id,
            "speaker": turn.speaker,
            "text": turn.text,
            "caption": turn.caption,
        }
        for session in item.sessions
        for turn in session.turns
    ]


def _query_row(corpus: Corpus, query: Query) -> dict[str, Any]:
    members = [corpus.conversation(query.conversation).questions[i] for i in query.members]
    rewrite = _rewrite(corpus, query)
    return {
        "query_id": query.id,
        "conversation": query.conversation,
        "style": query.style,
        "category": query.category,
        "text": query.text,
        "speaker": query.speaker,
        "members": list(query.members),
        "questions": [member.text for member in members],
        "answers": [member.answer for member in members],
        "trap": members[0].trap,
        "gold": sorted(query.gold),
        "expected_memory_use": rewrite.expected_memory_use if rewrite else None,
        "asserted_wrong": rewrite.asserted_wrong if rewrite else None,
        "naturalness": rewrite.naturalness if rewrite else None,
    }


def _rewrite(corpus: Corpus, query: Query) -> Rewrite | None:
    """Return what the file says about a query beside its text; nothing for plain questions."""
    if query.style != "composed":
        question = corpus.conversation(query.conversation).questions[query.members[0]]
        return question.rewrites.get(query.style)
    for cluster in corpus.clusters:
        if (cluster.conversation, cluster.members) == (query.conversation, query.members):
            return cluster.query
    return None
