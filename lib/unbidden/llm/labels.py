"""How likely each label of a judge is, read from the first token of a free reply.

Log-probabilities are taken before any grammar is applied, so under a JSON schema they say nothing
about the labels. A call that wants them therefore asks one free token, after a prompt that ends
where the label stands, with the likeliest alternatives. A token counts for the one label it begins
("cor" for "correct"); one that begins several, or none, counts for no label.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unbidden.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.llm.outcome import Status

TOP_LOGPROBS = 20
"""Alternatives asked for: the most that hosted endpoints give."""

NO_LOGPROBS = "the endpoint gave no log-probabilities"


@dataclass(frozen=True, slots=True)
class LabelScores:
    """Log-probabilities of labels as the first token of a reply.

    Attributes
    ----------
    labels : tuple of str
        In the order in which they were asked for.
    logprobs : tuple of float or None
        Natural logarithms; None where no likely token begins the label.
    token : str
        The token the model chose.
    """

    labels: tuple[str, ...]
    logprobs: tuple[float | None, ...]
    token: str

    @property
    def mass(self) -> float:
        """Share of the probability that lies on labels at all, 0..1."""
        return min(1.0, sum(math.exp(value) for value in self.logprobs if value is not None))

    @property
    def chosen(self) -> str | None:
        """The label that the chosen token begins; None if it begins none, or several.

        >>> LabelScores(("yes", "no"), (math.log(0.3), None), "Not").chosen is None
        True
        """
        return _begins(self.token, self.labels)

    @property
    def probabilities(self) -> dict[str, float]:
        """Probability of each label among the labels; they sum to 1.

        >>> LabelScores(("yes", "no"), (math.log(0.6), None), "yes").probabilities
        {'yes': 1.0, 'no': 0.0}
        """
        found = [0.0 if value is None else math.exp(value) for value in self.logprobs]
        return {label: p / sum(found) for label, p in zip(self.labels, found, strict=True)}

    @property
    def best(self) -> str | None:
        """The likeliest label; None if two are equally likely."""
        ranked = sorted(self.probabilities.items(), key=lambda item: -item[1])
        tied = len(ranked) > 1 and math.isclose(ranked[0][1], ranked[1][1], rel_tol=1e-9)
        return None if tied else ranked[0][0]


def check_labels(labels: Sequence[str]) -> None:
    """Check that labels can be told apart by how they begin.

    Raises
    ------
    ConfigError
        If there are fewer than two, one is blank, or one begins another.
    """
    lowered = [label.casefold() for label in labels]
    clash = any(
        i != j and other.startswith(one)
        for i, one in enumerate(lowered)
        for j, other in enumerate(lowered)
    )
    if len(labels) < 2 or clash or any(label != label.strip() or not label for label in labels):
        raise ConfigError(
            "these labels cannot be scored by likelihood",
            expected="two or more, none blank, none the beginning of another",
            got=repr(list(labels)),
            next_step="rename the labels",
        )


def read_label_scores(
    body: Mapping[str, Any] | None, labels: Sequence[str]
) -> tuple[Status, str, LabelScores | None]:
    """Return status, reason and scores of a reply of one token.

    Parameters
    ----------
    body : mapping or None
        The response of the endpoint, an OpenAI chat completion with ``logprobs``.
    """
    try:
        first = body["choices"][0]["logprobs"]["content"][0]  # type: ignore[index]
        found = [(str(item["token"]), float(item["logprob"])) for item in first["top_logprobs"]]
        token = str(first["token"])
    except (KeyError, IndexError, TypeError, ValueError):
        return "bad_response", NO_LOGPROBS, None
    if not found or any(math.isnan(value) or value > 1e-6 for _, value in found):
        return "bad_response", NO_LOGPROBS, None
    logprobs = tuple(_total(label, labels, found) for label in labels)
    if all(value is None for value in logprobs):
        likely = max(found, key=lambda item: item[1])[0]
        reason = f"none of the labels is likely; the likeliest token is {likely[:40]!r}"
        return "schema_mismatch", reason, None
    return "ok", "", LabelScores(tuple(labels), logprobs, token)


def read_stored(body: str | None, labels: Sequence[str]) -> tuple[Status, str, LabelScores | None]:
    """Return what `read_label_scores` does, from a body as the ledger keeps it."""
    return read_label_scores(None if body is None else json.loads(body), labels)


def _total(label: str, labels: Sequence[str], found: Sequence[tuple[str, float]]) -> float | None:
    own = [value for token, value in found if _begins(token, labels) == label]
    # The sum may pass 1 by rounding, and a log-probability is never positive.
    return min(0.0, math.log(sum(map(math.exp, own)))) if any(v > -700 for v in own) else None


def _begins(token: str, labels: Sequence[str]) -> str | None:
    start = token.strip().casefold()
    fitting = [label for label in labels if start and label.casefold().startswith(start)]
    return fitting[0] if len(fitting) == 1 else None
