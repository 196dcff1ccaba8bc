"""Serving a local model for the length of a ``with`` block."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from threading import Timer
from typing import IO, TYPE_CHECKING, Any

from unbidden.errors import DataError, LLMError
from unbidden.llm.local.engine import ServerOptions, require_engine
from unbidden.llm.local.models import local_model
from unbidden.llm.local.weights import file_sha256, installed
from unbidden.llm.redact import redact
from unbidden.llm.settings import LLMSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_START_SECONDS = 300.0
_STOP_SECONDS = 10.0
DEFAULTS = ServerOptions()


@dataclass(frozen=True, slots=True)
class Served:
    """A local model that is being served.

    Attributes
    ----------
    base_url : str
        For `LLMSettings.base_url` or ``OPENAI_BASE_URL``.
    name, sha256, engine : str
        Which model file and which engine version answer; for the record of a run.
    pid : int
        Of the server.
    options : ServerOptions
        How it is served.
    """

    base_url: str
    name: str
    sha256: str
    engine: str
    pid: int
    options: ServerOptions

    def environment(self) -> dict[str, str]:
        """Return the variables that point a child process, for instance a kernel, to the model."""
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": "local"}

    def settings(self, **options: Any) -> LLMSettings:
        """Return settings with this model in every role.

        One call at a time, since the server has one slot, and time for a long prompt; `options`
        are those of `LLMSettings.of`.
        """
        defaults = {"base_url": self.base_url, "concurrency": 1, "timeout": 900.0}
        return LLMSettings.of(self.name, **{**defaults, **options})


@contextlib.contextmanager
def serving(
    name: str, options: ServerOptions = DEFAULTS, *, path: Path | None = None
) -> Iterator[Served]:
    """Serve a local model on 127.0.0.1 in a child process, and stop it at the end.

    Parameters
    ----------
    name : str
        A name of the table; its file must be there (``unbidden models get``).
    options : ServerOptions
        Port, threads, context, reuse of prompts.
    path : Path, optional
        Another GGUF file to serve under that name, for a model of the reader's own.

    Raises
    ------
    ConfigError
        If the name is unknown, or the extra 'local' is not installed.
    DataError
        If the file is not there or has not the size of the pinned one.
    LLMError
        If the server does not start.
    """
    file, digest = _file(name, path)
    require_engine()
    command = [
        sys.executable,
        "-m",
        "unbidden.llm.local.engine",
        str(file),
        name,
        *options.arguments(),
    ]
    with tempfile.TemporaryFile() as log:
        child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=_without_key()
        )
        try:
            base_url = _base_url(child, log, name)
            yield Served(base_url, name, digest, _engine(), child.pid, options)
        finally:
            _stop(child)


def _file(name: str, path: Path | None) -> tuple[Path, str]:
    if path is not None:
        if not path.is_file():
            raise DataError(
                f"there is no file to serve as {name!r}",
                expected="a GGUF chat model",
                got=str(path),
                next_step="correct the path",
            )
        return path, file_sha256(path)
    model, found = local_model(name), installed(name)
    if found is None:
        raise DataError(
            f"the file of the local model {name!r} is not on this machine",
            expected=f"{model.file}, {model.bytes:,} bytes, in the cache",
            next_step=f"run `unbidden models get {name}`",
        )
    return found, model.sha256


def _base_url(child: subprocess.Popen[bytes], log: IO[bytes], name: str) -> str:
    """Wait for the child's line, which it writes when the model is loaded."""
    assert child.stdout is not None
    timer = Timer(_START_SECONDS, child.kill)
    timer.start()
    try:
        line = child.stdout.readline()
    finally:
        timer.cancel()
    if line:
        return str(json.loads(line)["base_url"])
    child.wait()
    log.seek(max(0, log.seek(0, os.SEEK_END) - 2000))
    last = log.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
    raise LLMError(
        f"the local model {name!r} did not start",
        expected=f"a server within {_START_SECONDS:g} s",
        got=f"exit code {child.returncode}; its last words: {redact(last)[:300]}",
        next_step="check the memory, the model file and that the extra 'local' is installed",
    )


def _stop(child: subprocess.Popen[bytes]) -> None:
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.close()
    child.terminate()
    try:
        child.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    child.stdout.close()


def _without_key() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}


def _engine() -> str:
    try:
        return f"xllamacpp {version('xllamacpp')}"
    except PackageNotFoundError:
        return "xllamacpp (version unknown)"
