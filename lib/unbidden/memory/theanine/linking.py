"""Phase I: which earlier memories a new one is linked to (THEANINE section 3.2, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

from unbidden.errors import ConfigError
from unbidden.memory.theanine.relations import UNLABELLED
from unbidden.memory.units import one_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from unbidden.memory.summaries import SummaryMemory
    from unbidden.memory.theanine.relations import Label

LinkRule = Literal["latest_per_component", "all_related"]
LINK_RULES: tuple[LinkRule, ...] = get_args(LinkRule)


@dataclass(frozen=True, slots=True)
class LinkRules:
    """How links are made.

    Attributes
    ----------
    candidates : int
        Associative memories of a new one; j = 3 in the paper.
    link_rule : {"latest_per_component", "all_related"}
        The paper's rule: one edge from each component of the graph, as it was before the session,
        from the latest related memory. Or the released code's: an edge from every related one.
    early_stop : bool
        Ask about the candidates of a component newest first, and no further once one is related.
        This gives the same graph as asking about all, as Algorithm 1 is printed, with fewer calls.
        It can save nothing with "all_related".
    keep_ties : bool
        Link all related memories of a component's latest session, as the released outputs show,
        not only the most similar of them. With `early_stop`, a session's candidates are then
        tested together.
    relations : bool
        False is the ablation "w/o Relation-aware Linking": all candidates count as related,
        without a label, and no model is asked. The paper does not say whether one link for each
        component is kept; here it is (`link_rule` is another switch), so that the ablation takes
        away the model call and nothing else.

    Raises
    ------
    ConfigError
        If a value is unknown or out of range.
    """

    candidates: int = 3
    link_rule: LinkRule = "latest_per_component"
    early_stop: bool = True
    keep_ties: bool = False
    relations: bool = True

    def __post_init__(self) -> None:
        one_of("link_rule", self.link_rule, LINK_RULES)
        if self.candidates < 1:
            raise ConfigError(
                "`candidates` is out of range",
                expected="1 or more associative memories (3 in the paper)",
                got=str(self.candidates),
            )


@dataclass(frozen=True, slots=True)
class Candidate:
    """An earlier memory that may be related, and how similar it is to the new one."""

    memory: SummaryMemory
    similarity: float


@dataclass(frozen=True, slots=True)
class Pair:
    """An earlier memory and a new one, to be asked about."""

    old: SummaryMemory
    new: SummaryMemory


@dataclass(frozen=True, slots=True)
class Link:
    """An edge to be added."""

    old: str
    new: str
    relation: Label


@dataclass
class _Group:
    """The candidates of one new memory in one component: asked about in batches, newest first."""

    new: SummaryMemory
    waiting: list[list[Candidate]]
    related: list[tuple[Candidate, Label]] = field(default_factory=list)


def links_of_session(
    found: Sequence[tuple[SummaryMemory, Sequence[Candidate]]],
    component: Mapping[str, Hashable],
    rules: LinkRules,
    ask: Callable[[Sequence[Pair]], Sequence[Label | None]],
) -> list[Link]:
    """Return the edges a session adds, by new memory, older ones first.

    Questions that do not depend on each other's answers are asked together: at most as many rounds
    as a memory has candidates, one without `early_stop`.

    Parameters
    ----------
    found : sequence of (new memory, candidates)
        Candidates best first; ties in similarity stand in order of making.
    component : mapping of str to hashable
        What is equal for candidates of one component of the graph before the session: new memories
        never see each other.
    ask : callable
        Returns for each pair the label of their relation, None if they have none.
    """
    groups = [
        _Group(new, _batches(candidates, rules))
        for new, all_candidates in found
        for candidates in _by_component(all_candidates, component, rules)
    ]
    while wave := [
        (group, group.waiting.pop(0))
        for group in groups
        if group.waiting and not (group.related and rules.early_stop)
    ]:
        pairs = [Pair(one.memory, group.new) for group, batch in wave for one in batch]
        answers = iter(ask(pairs) if rules.relations else [UNLABELLED] * len(pairs))
        for group, batch in wave:
            labels = [next(answers) for _ in batch]
            group.related += [
                (one, label) for one, label in zip(batch, labels, strict=True) if label is not None
            ]
    position = {new.id: i for i, (new, _) in enumerate(found)}
    kept = [
        (position[group.new.id], one.memory.session, Link(one.memory.id, group.new.id, label))
        for group in groups
        for one, label in _kept(group.related, rules)
    ]
    return [link for *_, link in sorted(kept, key=lambda row: row[:2])]


def _by_component(
    candidates: Sequence[Candidate], component: Mapping[str, Hashable], rules: LinkRules
) -> list[list[Candidate]]:
    """Return the candidates newest first (of one session: most similar first), by component."""
    newest_first = sorted(candidates, key=lambda one: -one.memory.session)
    if rules.link_rule == "all_related":
        return [newest_first]
    groups: dict[Hashable, list[Candidate]] = {}
    for one in newest_first:
        groups.setdefault(component[one.memory.id], []).append(one)
    return list(groups.values())


def _batches(candidates: Sequence[Candidate], rules: LinkRules) -> list[list[Candidate]]:
    if not rules.early_stop or rules.link_rule == "all_related" or not rules.relations:
        return [list(candidates)]
    if not rules.keep_ties:
        return [[one] for one in candidates]
    sessions: dict[int, list[Candidate]] = {}
    for one in candidates:
        sessions.setdefault(one.memory.session, []).append(one)
    return list(sessions.values())


def _kept(
    related: Sequence[tuple[Candidate, Label]], rules: LinkRules
) -> Sequence[tuple[Candidate, Label]]:
    """Return which of a group's related memories, newest first, are linked."""
    if rules.link_rule == "all_related" or not related:
        return related
    if not rules.keep_ties:
        return related[:1]
    latest = related[0][0].memory.session
    return [pair for pair in related if pair[0].memory.session == latest]
