"""Where the real data comes from: pinned by sha256 and size, or found in a local folder.

A file is looked for in the folder named by ``UNBIDDEN_DATA`` (one sub-folder per source), then in
the download cache. Only `get` downloads.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from unbidden.errors import ConfigError, DataError, closest


@dataclass(frozen=True, slots=True)
class Source:
    """One file of one public release.

    Attributes
    ----------
    sha256 : str or None
        None where we could not obtain the file to measure it; then `get` wants the hash from the
        reader, and the content checks stand in for it.
    size : int or None
        Bytes.
    """

    folder: str
    file: str
    url: str
    licence: str
    sha256: str | None = None
    size: int | None = None


_LOCOMO = "https://raw.githubusercontent.com/snap-research/locomo"
_CONV = "https://raw.githubusercontent.com/MiuLab/LoCoMo-Conv"
_CONV_COMMIT = "d133260c021d5ba763628a5d00fe5364c94787a1"

SOURCES: dict[str, tuple[Source, ...]] = {
    "locomo": (
        Source(
            "locomo",
            "locomo10.json",
            f"{_LOCOMO}/3eb6f2c585f5e1699204e3c3bdf7adc5c28cb376/data/locomo10.json",
            "CC BY-NC 4.0",
            "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4",
            2_805_274,
        ),
    ),
    "locomo-conv": tuple(
        Source("locomo-conv", name, f"{_CONV}/{_CONV_COMMIT}/data/{name}", "none stated")
        for name in ("locomo10_dialog.json", "locomo10_multimem_full.json")
    ),
}

KNOWN_VARIANTS = {
    "589a37f5dd7d83ce20f35d1100894b8ddac910bbf0e62c0c6f82e0d793fefbc8": (
        "the copy inside MemInsight: an acronym is replaced by 'SD' in conv-26, and the order of "
        "conversations differs"
    ),
    "6c679a67d5227e44cea271180fff24e5afcbee3fdf794fc7a751679cdaf2234b": "an edited copy",
    "2e570ce748611d20f388559de30508dbeb8025db12f881b2de8d6561446f197e": "an edited copy",
    "5805543832119db9211e197274ce334093ad2d01b2c666fbaee58e07d1d55820": "an edited copy",
    "fd11a0db4af967c38e18c3ef44beca2935fb634d6dac92b1527f2556fbdb924a": "an edited copy",
    "8f941d1c22ab3dee4cb72521fbccc82d24c30208590a15b0b4005a2f927ff769": (
        "dial481/locomo at its newest commit: 26 questions edited, one removed"
    ),
}
"""Files that go by the name locomo10.json and are not the official one."""


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
            expected=f"sha256 {item.sha256}, {item.size:,} bytes",
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
