"""BERTScore and MAUVE: scores that need a large model, or say why they cannot be had.

Both packages are an optional extra and fetch their weights on first use. Where package or weights
are missing the result says so in one line; it is then no number, and certainly not 0. Without a
network the attempt takes about half a minute, unless HF_HUB_OFFLINE=1 is set.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from unbidden.reply.bleu import same_length

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_EXTRA = "pip install 'unbidden[reply-metrics]'"


@dataclass(frozen=True, slots=True)
class ModelScore:
    """A score made by a model.

    Attributes
    ----------
    score : float or None
        In points, 0 to 100; None where it is not available.
    model : str
        The model's name, or its folder's.
    signature : str
        Version and settings, for BERTScore its own hash string; empty if not available.
    n : int
        Replies scored.
    why_not : str or None
        Why there is no score.
    """

    metric: str
    score: float | None
    model: str
    signature: str
    n: int
    why_not: str | None = None

    def __str__(self) -> str:
        """Return what a table shows."""
        return (
            f"not available because {self.why_not}" if self.score is None else f"{self.score:.2f}"
        )


def bert_score(
    replies: Sequence[str],
    gold: Sequence[str],
    *,
    model: str = "roberta-large",
    layers: int | None = None,
) -> ModelScore:
    """Return mean BERTScore F1 of replies, without rescaling.

    THEANINE states no settings; its values of 82 to 89 fit roberta-large without rescaling.

    Parameters
    ----------
    model : str
        A name BERTScore knows, or a model folder.
    layers : int, optional
        The layer read; needed for a model BERTScore does not know.

    Raises
    ------
    ConfigError
        If the lists differ in length.
    """
    same_length(replies, gold)

    def compute() -> tuple[float, str]:
        from bert_score import score

        (_, _, f1), signature = score(
            list(replies), list(gold), model_type=model, num_layers=layers, return_hash=True
        )
        return 100 * float(f1.mean()), str(signature)

    return _attempt("BERTScore F1", model, len(replies), compute)


def mauve_score(
    replies: Sequence[str], gold: Sequence[str], *, model: str = "gpt2-large", seed: int = 25
) -> ModelScore:
    """Return MAUVE between replies and gold texts, with the package's default settings.

    THEANINE states no settings. With about 600 texts a set, as there, the score varies much from
    one clustering seed to another: never read it without `n`.

    Raises
    ------
    ConfigError
        If the lists differ in length.
    """
    same_length(replies, gold)

    def compute() -> tuple[float, str]:
        import mauve

        found = mauve.compute_mauve(
            p_text=list(gold), q_text=list(replies), featurize_model_name=model, seed=seed
        )
        signature = (
            f"mauve-text {metadata.version('mauve-text')}, {model}, {found.num_buckets} clusters, "
            f"scaling 5, seed {seed}"
        )
        return 100 * float(found.mauve), signature

    return _attempt("MAUVE", model, len(replies), compute)


def _attempt(
    metric: str, model: str, n: int, compute: Callable[[], tuple[float, str]]
) -> ModelScore:
    name = Path(model).name if Path(model).is_dir() else model
    if not n:
        return ModelScore(metric, None, name, "", 0, "there is no reply to score")
    try:
        score, signature = compute()
    except ImportError as error:
        reason = f"a package is missing ({error}); {_EXTRA}"
    except Exception as error:  # noqa: BLE001 - loaders of weights raise anything; it is shown
        text = " ".join(str(error).split()).replace(model, name)[:120]
        reason = f"the model {name!r} could not be used ({type(error).__name__}: {text})"
    else:
        return ModelScore(metric, score, name, signature.replace(model, name), n)
    return ModelScore(metric, None, name, "", n, reason)
