"""One entry for every data set: a name, a LoCoMo-shaped file, or a folder of release files."""

from __future__ import annotations

import dataclasses
import re
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from unbidden.corpus import sources
from unbidden.corpus.episodes import episode_file, read_episodes
from unbidden.corpus.jsonfile import read_json
from unbidden.corpus.locomo import LocomoReader
from unbidden.corpus.models import Corpus, Irregularity
from unbidden.corpus.release import drop_repeats, join_rewrites, read_clusters
from unbidden.errors import ConfigError, DataError, closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from unbidden.corpus.models import Cluster, Conversation, SourceFile

DATASETS = ("harbour", "locomo", "locomo-conv", "msc", "cc")
"""Names `load_corpus` knows; anything else is a path."""


def load_corpus(dataset: str, *, conversations: Sequence[str] = ()) -> Corpus:
    """Return the corpus a `dataset` parameter names.

    Parameters
    ----------
    dataset : str
        ``harbour`` (embedded), ``locomo`` (the official file, with LoCoMo-Conv's rewrites joined
        by content for the conversations whose release files are on this machine),
        ``locomo-conv`` (the release files alone), ``msc`` and ``cc`` (Multi-Session Chat and
        Conversation Chronicles, without questions), the path of a LoCoMo-shaped JSON file or of
        episodes as `unbidden.corpus.episodes` reads them, or of a folder holding
        ``locomo10_dialog*.json`` and, if there, ``locomo10_multimem_full*.json``.
    conversations : sequence of str
        Sample ids to keep, in the corpus's order; empty keeps all.

    Raises
    ------
    DataError
        If a file is missing, altered or malformed.
    ConfigError
        If `dataset` is neither a name nor a path, or a conversation is unknown.
    """
    path = _existing(dataset)
    if dataset == "harbour":
        with resources.as_file(resources.files("unbidden.corpus") / "harbour") as folder:
            corpus = _folder(folder, "harbour", "harbour_dialog", "harbour_multimem")
    elif dataset == "locomo":
        corpus = _locomo()
    elif dataset == "locomo-conv":
        corpus = _release()
    elif dataset in ("msc", "cc"):
        corpus = read_episodes(sources.locate(dataset)[0], dataset, wanted=conversations)
    elif path is not None and path.is_dir():
        corpus = _folder(path, path.resolve().name)
    elif path is not None and episode_file(path):
        corpus = read_episodes(path, _file_label(path), wanted=conversations)
    elif path is not None:
        corpus = _read(_file_label(path), [path], [])
    else:
        raise ConfigError(
            f"unknown dataset {dataset[:200]!r}",
            expected=f"a name, a JSON file or a folder; {closest(dataset, DATASETS)}",
            got="neither a known name nor a path that can be read",
            next_step="correct the parameter `dataset`",
        )
    return _only(corpus, conversations)


def _existing(dataset: str) -> Path | None:
    """Return the file or folder a text names, or None if there is none that can be looked up."""
    try:
        path = Path(dataset).expanduser()
        return path if path.is_dir() or path.is_file() else None
    except (OSError, RuntimeError, ValueError):
        # Too long for the system, closed to us, or of an unknown user's home; the caller says so.
        return None


def _file_label(path: Path) -> str:
    """Return a corpus name from a file's name, in plain characters, for tables and file names."""
    label = re.sub(r"[^A-Za-z0-9._-]+", "-", path.stem)[:60].strip(".-")
    # A file must not pass for one of the named data sets.
    return "custom" if not label or label in DATASETS else label


def _only(corpus: Corpus, wanted: Sequence[str]) -> Corpus:
    if not wanted:
        return corpus
    known = [conversation.id for conversation in corpus.conversations]
    for name in wanted:
        if name not in known:
            raise ConfigError(
                f"unknown conversation {name!r} in {corpus.name}",
                expected=closest(name, known),
                next_step="correct the parameter `conversations`",
            )
    return Corpus(
        corpus.name,
        tuple(item for item in corpus.conversations if item.id in wanted),
        tuple(item for item in corpus.clusters if item.conversation in wanted),
        corpus.sources,
        tuple(item for item in corpus.irregularities if _owner(item, known) in (None, *wanted)),
    )


def _owner(note: Irregularity, known: Iterable[str]) -> str | None:
    """Return the id of the conversation an irregularity concerns, or None."""
    fits = [
        name
        for name in known
        if note.where == name or note.where.startswith((f"{name}#", f"{name} "))
    ]
    return max(fits, key=len, default=None)


def _folder(
    folder: Path,
    name: str,
    dialog: str = "locomo10_dialog",
    multimem: str = "locomo10_multimem_full",
) -> Corpus:
    dialogs = sorted(folder.glob(f"{dialog}*.json"))
    if not dialogs:
        raise DataError(
            f"no conversations in the folder {folder.name!r}",
            expected=f"{dialog}*.json (and, for composed queries, {multimem}*.json)",
            got=", ".join(sorted(p.name for p in folder.iterdir())[:10]) or "an empty folder",
            next_step="name the files so, or give the path of one JSON file",
        )
    return _read(name, dialogs, sorted(folder.glob(f"{multimem}*.json")))


def _release_folder() -> Path | None:
    """Return the folder of LoCoMo-Conv's files, whole or in parts: the reader's or the cache's."""
    for base in (sources.data_folder(), sources.cache_folder() / "data"):
        if base is not None and list((base / "locomo-conv").glob("locomo10_dialog*.json")):
            return base / "locomo-conv"
    return None


def _release() -> Corpus:
    folder = _release_folder()
    if folder is None:
        sources.locate("locomo-conv")  # raises, saying where it looked
        raise AssertionError("unreachable: a located release has a dialog file")
    return _folder(folder, "locomo-conv")


def dialog_files(dataset: str) -> list[Path]:
    """Return the release files with rewrites that a `dataset` parameter reads, if any.

    They hold more than a corpus keeps, such as the lists of supportive turns.
    """
    path = _existing(dataset)
    if dataset in ("locomo", "locomo-conv"):
        folder = _release_folder()
    else:
        folder = path if path is not None and path.is_dir() else None
    return sorted(folder.glob("locomo10_dialog*.json")) if folder is not None else []


def _locomo() -> Corpus:
    official = _read("locomo", sources.locate("locomo"), [])
    if _release_folder() is None:
        # Without the release's files the corpus has plain questions only, as its tables show.
        return official
    release = _release()
    joined, homes, notes = join_rewrites(official.conversations, release.conversations)
    # The release repeats what is odd in the official file; only the rest is news.
    news = [item for item in release.irregularities if item not in official.irregularities]
    return Corpus(
        "locomo",
        tuple(joined),
        tuple(
            dataclasses.replace(cluster, conversation=homes[cluster.conversation])
            for cluster in release.clusters
            if cluster.conversation in homes
        ),
        official.sources + release.sources,
        (*official.irregularities, *notes, *news),
    )


def _read(name: str, dialogs: Iterable[Path], multimems: Iterable[Path]) -> Corpus:
    conversations: list[Conversation] = []
    clusters: list[Cluster] = []
    files: list[SourceFile] = []
    notes: list[Irregularity] = []
    seen: dict[str, str] = {}
    for path in dialogs:
        value, file = read_json(path)
        reader = LocomoReader(path.name)
        for conversation in reader.read(value):
            if conversation.id in seen:
                raise DataError(
                    f"the conversation {conversation.id!r} stands in two files",
                    expected="each sample_id in one file",
                    got=f"{seen[conversation.id]} and {path.name}",
                    next_step="remove one of the files from the folder",
                )
            seen[conversation.id] = path.name
            conversations.append(conversation)
        files.append(file)
        notes.extend(reader.irregularities)
        if variant := sources.KNOWN_VARIANTS.get(file.sha256):
            notes.append(Irregularity("altered copy of LoCoMo", path.name, variant))
    for path in multimems:
        value, file = read_json(path)
        found, odd = read_clusters(value, conversations, path.name)
        clusters.extend(found)
        files.append(file)
        notes.extend(odd)
    kept, repeats = drop_repeats(clusters)
    return Corpus(name, tuple(conversations), tuple(kept), tuple(files), (*notes, *repeats))
