"""The mem0 package made to work with our embedder and our model layer, and with nothing else."""

from __future__ import annotations

import importlib
import os
import re
import sys
import tempfile
from typing import TYPE_CHECKING, Any

from unbidden.errors import ConfigError, UnbiddenError
from unbidden.memory.modelled import checked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.memory.calls import CountedCalls
    from unbidden.memory.records import Encodes

_DATES = re.compile(r"(?m)^(## (?:Observation|Current) Date\n).*$")
_FOLDER: list[tempfile.TemporaryDirectory[str]] = []


def load_package() -> Any:
    """Import mem0 with its telemetry off and its files in a temporary folder.

    Both are read from the environment once, when the package is imported.

    Raises
    ------
    ConfigError
        If it is not installed, or was imported before with telemetry on.
    """
    if "mem0" not in sys.modules:
        if not _FOLDER:
            _FOLDER.append(tempfile.TemporaryDirectory(prefix="unbidden-mem0-"))
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = _FOLDER[0].name
    try:
        package = importlib.import_module("mem0")
        telemetry = importlib.import_module("mem0.memory.telemetry")
    except ImportError as error:
        raise ConfigError(
            "`mem0-package` needs the mem0 package",
            expected="the extra `mem0` (package mem0ai 2.2 or later, below 3)",
            got=str(error),
            next_step="pip install 'unbidden[mem0]', or use `mem0-v2`, our own writing of it",
        ) from error
    if telemetry.MEM0_TELEMETRY:
        raise ConfigError(
            "mem0 was imported before, with its telemetry on",
            expected="telemetry off, since it sends what is done to a third party",
            got="MEM0_TELEMETRY on at the first import",
            next_step="set MEM0_TELEMETRY=False before mem0 is imported",
        )
    return package


def new_memory(embedder: Encodes, calls: CountedCalls) -> tuple[Any, ModelBridge]:
    """Return an empty memory of the package, held in this process alone, and its model.

    Its word search and entity boost are switched off: they download models, and are off anyway
    where those are missing, so that a result would depend on what else is installed.

    Raises
    ------
    ConfigError
        If this release cannot be switched so.
    """
    package = load_package()
    vectors = EmbedderBridge(embedder)
    unused = {"model": "unused", "api_key": "unused", "openai_base_url": "http://127.0.0.1:9/v1"}
    store = {
        "collection_name": "memories",
        "embedding_model_dims": vectors.size,
        "path": ":memory:",
    }
    memory = package.Memory.from_config(
        {
            "llm": {"provider": "openai", "config": unused},
            "embedder": {"provider": "openai", "config": unused},
            "vector_store": {"provider": "qdrant", "config": store},
            "history_db_path": ":memory:",
        }
    )
    spacy = importlib.import_module("mem0.utils.spacy_models")
    switches = [
        (spacy, "_load_failed_full", True),
        (spacy, "_load_failed_lemma", True),
        (memory.vector_store, "_bm25_encoder", False),
        (memory, "embedding_model", vectors),
        (memory, "llm", model := ModelBridge(calls)),
    ]
    for owner, name, value in switches:
        if not hasattr(owner, name):
            raise ConfigError(
                "this release of mem0 cannot be used",
                expected=f"an attribute {name!r}, as in mem0ai 2.2.1",
                got=f"mem0ai {getattr(package, '__version__', 'unknown')}",
                next_step="install mem0ai 2.2.1",
            )
        setattr(owner, name, value)
    return memory, model


class EmbedderBridge:
    """Our embedder in the form the package expects: the same vectors for every system."""

    def __init__(self, embedder: Encodes) -> None:
        self._embedder = embedder
        # The package's store takes any size at first and fails at the first search.
        self.size = int(embedder.encode(["size"]).shape[1])

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """Return the vector of a text."""
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:
        """Return the vectors of texts."""
        if not texts:
            return []
        found: list[list[float]] = self._embedder.encode(list(texts)).tolist()
        return found


class ModelBridge:
    """Our model in the form the package expects: its calls are counted, kept and replayed as ours.

    Attributes
    ----------
    date : str
        The session's day; it takes the place of today's, which the package writes into its request
        and by which it would date what was said years ago.
    reply : str
        What the model said last.
    stop : UnbiddenError or None
        What must end the run: the package takes every error for a failed call.
    """

    def __init__(self, calls: CountedCalls) -> None:
        self._calls = calls
        self.date, self.reply = "", ""
        self.stop: UnbiddenError | None = None

    def generate_response(self, messages: list[dict[str, str]], **options: object) -> str:
        """Return the model's text.

        Raises
        ------
        RuntimeError
            If the call failed; the reason is its message.
        """
        self.reply = ""
        try:
            variables = self._variables(messages)
            outcome = self._calls.ask("mem0_package.v1", variables)
        except UnbiddenError as error:
            self.stop = error
            raise
        if not outcome.ok and outcome.status != "empty":
            raise RuntimeError(outcome.unscored)
        self.reply = checked(outcome.value or "", str, "mem0_package.v1")
        return self.reply

    def _variables(self, messages: list[dict[str, str]]) -> dict[str, str]:
        roles = [message["role"] for message in messages]
        request, dates = _DATES.subn(lambda found: found[1] + self.date, messages[-1]["content"])
        if roles != ["system", "user"] or dates < 2:
            raise ConfigError(
                "this release of mem0 asks in another form",
                expected="a system and a user message, the latter with two dates to replace",
                got=f"messages {roles}, {dates} dates",
                next_step="install mem0ai 2.2.1",
            )
        return {"instructions": messages[0]["content"], "request": request}
