"""The child process that serves one GGUF model on 127.0.0.1; started by `unbidden.llm.serve`.

It prints one line of JSON with its base URL once it can answer, and ends when its standard input
is closed: so it cannot outlive the process that started it, even one killed without warning.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from unbidden.errors import ConfigError, LLMError

if TYPE_CHECKING:
    from pathlib import Path

_LOOPBACK = "http://127.0.0.1:"


def require_engine() -> None:
    """Check that the engine is installed, without loading it.

    Raises
    ------
    ConfigError
        If the extra is not installed.
    """
    if importlib.util.find_spec("xllamacpp") is None:
        raise ConfigError(
            "serving a local model needs the extra 'local'",
            expected="the package xllamacpp",
            next_step="install `unbidden[local]`; recorded calls replay without it",
        )


def start(path: Path, name: str, *, port: int, threads: int, context: int, cache: bool) -> Any:
    """Return a running server; it stops when the object is deleted.

    Parameters
    ----------
    path : Path
        The GGUF file.
    name : str
        Model name that replies carry.
    port : int
        0 takes a free one.
    threads : int
        For prompt and generation.
    context : int
        Tokens of prompt and reply together.
    cache : bool
        Whether to reuse the evaluated beginning of the last prompt: about four times as fast for
        a long common beginning, but texts at temperature 0 then depend on what was asked before.

    Raises
    ------
    LLMError
        If it listens elsewhere than on 127.0.0.1.
    """
    import xllamacpp as engine

    params = engine.CommonParams()
    params.model.path = str(path)
    params.model_alias = {name} if isinstance(params.model_alias, set) else name
    params.n_ctx, params.n_parallel, params.port = context, 1, port
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.cache_prompt = params.cache_idle_slots = cache
    params.cache_ram_mib = 0
    params.ui = params.endpoint_slots = False
    params.verbosity = 1
    server = engine.Server(params)
    if not server.listening_address.startswith(_LOOPBACK):
        address = server.listening_address
        del server
        raise LLMError(
            "the local model would listen outside this machine; it was stopped",
            expected="127.0.0.1",
            got=address,
            next_step="report it; until then use another server",
        )
    return server


def main() -> None:
    """Serve until standard input is closed or a signal comes."""
    parser = argparse.ArgumentParser(prog="unbidden.llm.engine")
    parser.add_argument("path", type=_path)
    parser.add_argument("name")
    for option, default in (("--port", 0), ("--threads", 1), ("--context", 8192)):
        parser.add_argument(option, type=int, default=default)
    parser.add_argument("--cache", action="store_true")
    options = vars(parser.parse_args())
    done = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: done.set())
    server = start(options.pop("path"), options.pop("name"), **options)
    print(json.dumps({"base_url": f"{server.listening_address}/v1"}), flush=True)
    threading.Thread(target=_wait_for_end, args=(done,), daemon=True).start()
    done.wait()
    del server


def _wait_for_end(done: threading.Event) -> None:
    sys.stdin.buffer.read()
    done.set()


def _path(text: str) -> Path:
    from pathlib import Path

    return Path(text)


if __name__ == "__main__":
    main()
