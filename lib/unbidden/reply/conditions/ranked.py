"""Conditions made of what a memory system found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from unbidden.errors import ConfigError
from unbidden.llm import Call
from unbidden.llm.reaching import reached
from unbidden.queries.facets import NO_REWRITE, RewriteKind
from unbidden.reply.conditions.base import Remembered, Thinking
from unbidden.reply.material import ORIGINAL, Shown
from unbidden.reply.render import render

if TYPE_CHECKING:
    from unbidden.queries.build import Query
    from unbidden.reply.material import Material

COMPRESS = "compress_memories.v1"


@dataclass(frozen=True, slots=True)
class TopK:
    """The first `k` memories of a system, best first; also the base of the thinking conditions.

    Parameters
    ----------
    k : int
        10 in the paper's main tables.
    thinking : {"none", "think", "select"}
        Whether the model thinks first, and whether it also chooses memories.
    """

    k: int = 10
    name: str = "top_k"
    rankings: str = ORIGINAL
    thinking: Thinking = "none"
    gold: bool = False

    def __post_init__(self) -> None:
        _check(self.k)

    def remember(self, material: Material) -> list[Remembered]:
        """Return what the system found for each query; a search that failed is unscored."""
        return [found(material, query, self.rankings, self.k) for query in material.queries]


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The first `k` memories found with rewritten queries.

    Parameters
    ----------
    kind : {"convergent", "facets"}
        Also the name under which the material holds the rankings, unless `rankings` says another
        (for those that fuse the original query too).
    """

    kind: RewriteKind = "facets"
    k: int = 10
    rankings: str = ""
    thinking: Thinking = "none"
    gold: bool = False

    def __post_init__(self) -> None:
        _check(self.k)
        if not self.rankings:
            object.__setattr__(self, "rankings", self.kind)

    @property
    def name(self) -> str:
        """The condition's name."""
        return f"rewrite_{self.rankings}"

    def remember(self, material: Material) -> list[Remembered]:
        """Return what was found; without a rewrite see `ReplyRules.missing_rewrite`."""
        return [self._one(material, query) for query in material.queries]

    def _one(self, material: Material, query: Query) -> Remembered:
        one = found(material, query, self.rankings, self.k)
        missing = one.unscored is not None and one.unscored.startswith(NO_REWRITE)
        if not missing or material.rules.missing_rewrite == "unscored":
            return one
        plain = found(material, query, ORIGINAL, self.k)
        note = "no rewrite: the original search, with a hint"
        return Remembered(plain.memories, plain.unscored, hint=True, notes=(note,))


@dataclass(frozen=True, slots=True)
class Compressed:
    """The first `k` memories put into one text by a model, in one call, with the message in view.

    The call has the role "memory", so that it stays the same when the answer model changes; in the
    paper it is the answer model. Where nothing was found there is no call and nothing to show.
    """

    k: int = 10
    name: str = "compressed"
    rankings: str = ORIGINAL
    thinking: Thinking = "none"
    gold: bool = False

    def __post_init__(self) -> None:
        _check(self.k)

    def remember(self, material: Material) -> list[Remembered]:
        """Return one memory a query; a failed call is unscored.

        Raises
        ------
        ConfigError
            If the material has no model.
        LLMError, BudgetExceeded
            As `LLM.ask_many` and `reached`.
        """
        if material.llm is None:
            raise ConfigError(
                "the condition `compressed` needs a model",
                expected="Material(..., llm=...)",
                got="none",
                next_step="give one, or leave the condition out",
            )
        before = [found(material, query, self.rankings, self.k) for query in material.queries]
        wanted = [i for i, one in enumerate(before) if one.unscored is None and one.memories]
        calls = [_compression(material, material.queries[i], before[i]) for i in wanted]
        after = list(before)
        asked = material.llm.ask_many(calls, label="compressing memories") if calls else []
        for i, outcome in zip(wanted, reached(asked), strict=True):
            sources = tuple(dict.fromkeys(s for m in before[i].memories for s in m.sources))
            if outcome.ok:
                after[i] = Remembered((Shown(str(outcome.value).strip(), sources),))
            else:
                after[i] = Remembered(unscored=f"compression: {outcome.unscored}")
        return after


def found(material: Material, query: Query, rankings: str, k: int) -> Remembered:
    """Return the first `k` memories of rankings for a query, or why there are none to reply from.

    Raises
    ------
    ConfigError
        As `Material.hits`.
    """
    hits, reason = material.hits(rankings, query, k)
    if reason is not None:
        return Remembered(unscored=reason)
    return Remembered(tuple(material.shown(query, hit) for hit in hits))


def _compression(material: Material, query: Query, one: Remembered) -> Call:
    rules = material.rules
    rendered = render(one.memories, material.places(query), rules, keep=one.keep)
    variables = {
        "memories": list(rendered.lines),
        "speaker": query.speaker or "The user",
        "message": " ".join(query.text.split()),
    }
    return Call(COMPRESS, variables, max_tokens=rules.compressed_tokens)


def _check(k: int) -> None:
    if k < 1:
        raise ConfigError("`k` is out of range", expected="1 or more memories", got=str(k))
