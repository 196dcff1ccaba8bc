"""Where the real data comes from: pinned by sha256 and size, or found in a local folder.

A file is looked for in the folder named by ``UNBIDDEN_DATA`` (one sub-folder per source), then in
the download cache. Only `get` downloads.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import platformdirs

from unbidden.corpus.releases import KNOWN_VARIANTS, SOURCES, Source
from unbidden.errors import ConfigError, DataError, closest

__all__ = [
    "KNOWN_VARIANTS",
    "SOURCES",
    "Source",
    "cache_folder",
    "data_folder",
    "find",
    "get",
    "locate",
    "source",
    "verify",
]


def data_folder() -> Path | None:
    """Return the reader's own data folder, from ``UNBIDDEN_DATA``."""
    value = os.environ.get("UNBIDDEN_DATA", "").strip()
    return Path(value).expanduser() if value else None


def cache_folder() -> Path:
    """Return the folder for downloads and vectors, ``UNBIDDEN_CACHE`` or the platform's."""
    value = os.environ.get("UNBIDDEN_CACHE", "").strip()
    return Path(value).expanduser() if value else Path(platformdirs.user_cache_dir("unbidden"))


def source(name: str) -> tuple[Source, ...]:
    """Return the files of a named release.

    Raises
    ------
    ConfigError
        If the name is unknown.
    """
    if name not in SOURCES:
        raise ConfigError(
            f"unknown data source {name!r}",
            expected=closest(name, SOURCES),
            next_step="use one of these names, or give a file or folder of your own",
        )
    return SOURCES[name]


def find(item: Source) -> Path | None:
    """Return where a file lies, the reader's folder before the cache, or None."""
    folders = [folder for folder in (data_folder(), cache_folder() / "data") if folder is not None]
    for folder in folders:
        path = folder / item.folder / item.file
        if path.is_file():
            return path
    return None


def verify(path: Path, item: Source) -> Path:
    """Return `path` if its bytes are those pinned.

    Raises
    ------
    DataError
        If size or sha256 differ; a well-known variant is named as such.
    """
    if item.sha256 is None:
        return path
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    if digest != item.sha256:
        variant = KNOWN_VARIANTS.get(digest)
        raise DataError(
            f"{path.name} is not the pinned file",
            expected=f"sha256 {item.sha256}" + (f", {item.size:,} bytes" if item.size else ""),
            got=f"sha256 {digest}, {path.stat().st_size:,} bytes"
            + (f" ({variant})" if variant else ""),
            next_step=f"remove it and run `unbidden data get {item.folder}`; to study this file "
            "on purpose, give its path as the dataset",
        )
    return path


def locate(name: str) -> list[Path]:
    """Return the verified local files of a release.

    Raises
    ------
    DataError
        If one is missing or altered.
    """
    paths = []
    for item in source(name):
        path = find(item)
        if path is None:
            raise DataError(
                f"the data set {name!r} is not on this machine",
                expected=f"{item.folder}/{item.file} under UNBIDDEN_DATA or the download cache",
                got=f"UNBIDDEN_DATA={os.environ.get('UNBIDDEN_DATA', '(not set)')}, "
                f"cache {cache_folder() / 'data'}",
                next_step=f"run `unbidden data get {name}`, or set UNBIDDEN_DATA",
            )
        paths.append(verify(path, item))
    return paths


def get(name: str, *, sha256: dict[str, str] | None = None) -> list[Path]:
    """Download the files of a release into the cache, checking each; return their paths.

    Parameters
    ----------
    sha256 : dict of str to str, optional
        Hashes for files we have not pinned, by file name.

    Raises
    ------
    DataError
        If a download fails, a hash differs, or a file has no pinned hash and none was given.
    """
    import pooch

    paths = []
    for item in source(name):
        digest = item.sha256 or (sha256 or {}).get(item.file)
        if digest is None:
            raise DataError(
                f"{item.file} has no pinned hash",
                expected="its sha256, since a file must not change unnoticed",
                next_step=f"repeat with --sha256 {item.file}=HASH after inspecting {item.url}, or "
                f"put the file under UNBIDDEN_DATA/{item.folder}/",
            )
        try:
            path = pooch.retrieve(
                item.url,
                known_hash=f"sha256:{digest}",
                fname=item.file,
                path=cache_folder() / "data" / item.folder,
            )
        except (OSError, ValueError) as error:
            raise DataError(
                f"{item.file} could not be downloaded",
                expected=f"sha256 {digest} from {item.url}",
                got=f"{type(error).__name__}: {str(error)[:300]}",
                next_step="check the connection, or put the file under "
                f"UNBIDDEN_DATA/{item.folder}/",
            ) from error
        paths.append(Path(path))
    return paths
