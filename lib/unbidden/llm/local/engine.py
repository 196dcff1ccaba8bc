"""The child process that serves one GGUF model on 127.0.0.1; started by `unbidden.llm.local.serve`.

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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbidden.errors import ConfigError, LLMError

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


@dataclass(frozen=True, slots=True)
class ServerOptions:
    """How a model is served.

    Attributes
    ----------
    port : int
        0 takes a free one.
    threads : int
        One by default: with a second on a busy machine each step waits for the slower of both.
    context : int
        Tokens of prompt and reply together; a long session and its instructions fit.
    cache : bool
        Whether to reuse the evaluated beginning of the last prompt: about four times as fast for
        a long common beginning, but a text at temperature 0 then depends on what was asked
        before. Off where answers are recorded.
    """

    port: int = 0
    threads: int = 1
    context: int = 8192
    cache: bool = False

    def arguments(self) -> list[str]:
        """Return the options as the child's command line has them."""
        numbers = (f"--{name}={getattr(self, name)}" for name in ("port", "threads", "context"))
        return [*numbers, *(("--cache",) if self.cache else ())]


def start(path: Path, name: str, options: ServerOptions) -> Any:
    """Return a server of a GGUF file under a name; it stops when the object is deleted.

    Raises
    ------
    LLMError
        If it listens elsewhere than on 127.0.0.1.
    """
    import xllamacpp as engine

    params = engine.CommonParams()
    params.model.path = str(path)
    params.model_alias = {name} if isinstance(params.model_alias, set) else name
    params.n_ctx, params.n_parallel, params.port = options.context, 1, options.port
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = options.threads
    params.cache_prompt = params.cache_idle_slots = options.cache
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
    parser = argparse.ArgumentParser(prog="unbidden.llm.local.engine")
    parser.add_argument("path", type=Path)
    parser.add_argument("name")
    for option in ("--port", "--threads", "--context"):
        parser.add_argument(option, type=int, required=True)
    parser.add_argument("--cache", action="store_true")
    given = vars(parser.parse_args())
    done = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: done.set())
    server = start(given.pop("path"), given.pop("name"), ServerOptions(**given))
    print(json.dumps({"base_url": f"{server.listening_address}/v1"}), flush=True)
    threading.Thread(target=_wait_for_end, args=(done,), daemon=True).start()
    done.wait()
    del server


def _wait_for_end(done: threading.Event) -> None:
    sys.stdin.buffer.read()
    done.set()


if __name__ == "__main__":
    main()
