"""Building LoCoMo-Conv from plain conversations: rewrites, composed queries, verdicts, one report.

Queries a corpus already has are never looked at, so building anew from a corpus with its released
queries and from one without gives the same.
"""

from __future__ import annotations

import dataclasses
import random
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING

from unbidden.corpus.models import Corpus
from unbidden.errors import ConfigError, closest
from unbidden.queries.construction.composing import compose, sample_groups, to_cluster
from unbidden.queries.construction.counting import CountingLLM
from unbidden.queries.construction.rewriting import SINGLE_STYLES, rewrite_questions
from unbidden.queries.construction.rules import default_rules
from unbidden.queries.construction.summary import ConstructionReport, summarise
from unbidden.queries.construction.validation import Validated, validate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.corpus.models import Cluster, Conversation, Rewrite, Style
    from unbidden.llm.base import LLM
    from unbidden.queries.construction.rewriting import Written
    from unbidden.queries.construction.rules import Protocol, Rules

WRITTEN_STYLES: tuple[Style, ...] = (*SINGLE_STYLES, "composed")
"""The styles that are written, in the order in which they are."""


@dataclass(frozen=True, slots=True)
class Construction:
    """A corpus with built queries, all items behind it, and the report.

    Attributes
    ----------
    corpus : Corpus
        Conversations in the order given; a question or group whose query was not kept has none.
    items : tuple of Validated
        Every query that was to be written, kept or not, by conversation, style and question.
    """

    corpus: Corpus
    items: tuple[Validated, ...]
    report: ConstructionReport


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """What is built and how.

    Attributes
    ----------
    protocol : {"paper", "repaired"}
        What the rewriter sees, how it is checked, and how evidence is read.
    styles : sequence of str
        Styles to write.
    questions : int or None
        The most questions of a conversation to rewrite, see `sample_questions`; None for all.
    groups : int or None
        The most composed queries of a conversation, sampled; None for all.
    size : int
        Questions in a group, 2 or 3.
    seed : int
        Of both samples.
    rules : mapping of style to Rules
        In place of the protocol's.
    validated : bool
        Whether judges are asked.
    filtered : bool
        Whether the corpus holds only what passed. Needs `validated`.
    """

    protocol: Protocol = "repaired"
    styles: Sequence[Style] = WRITTEN_STYLES
    questions: int | None = None
    groups: int | None = None
    size: int = 2
    seed: int = 0
    rules: Mapping[Style, Rules] = dataclasses.field(default_factory=dict)
    validated: bool = True
    filtered: bool = True

    def __post_init__(self) -> None:
        if self.questions is not None and self.questions < 1:
            raise ConfigError(
                "`questions` is out of range",
                expected="1 or more, or none for all",
                got=str(self.questions),
                next_step="correct the parameter",
            )
        for style in self.styles:
            if style not in WRITTEN_STYLES:
                raise ConfigError(
                    f"the style {style!r} is not one that is written",
                    expected=closest(style, WRITTEN_STYLES),
                    next_step="correct the parameter `styles`",
                )
        if self.filtered and not self.validated:
            raise ConfigError(
                "an unvalidated corpus cannot be filtered",
                expected="validated=True, or filtered=False",
                next_step="ask the judges, or keep everything",
            )

    def rule(self, style: Style) -> Rules:
        """Return the rules of one style."""
        return self.rules.get(style) or default_rules(self.protocol)[style]


def construct(
    llm: LLM, corpus: Corpus, options: BuildOptions | None = None, *, second: LLM | None = None
) -> Construction:
    """Build all queries of a corpus, validate them, and return the corpus and a report.

    Calls are made in a fixed order and kept in the ledger of `llm`, so a stopped build goes on
    where it ended, and a recorded one replays to the same report.

    Parameters
    ----------
    llm : LLM
        Writes (role rewriter) and judges (role judge).
    corpus : Corpus
        One or more conversations with plain questions.
    options : BuildOptions, optional
    second : LLM, optional
        A second judge, asked in other words; `llm` itself gives another wording by the same model.

    Raises
    ------
    ConfigError
        If an option is unknown or out of range.
    LLMError, BudgetExceeded
        See `LLM.ask_many`.
    """
    chosen = options or BuildOptions()
    counted = CountingLLM(llm)
    other = counted if second is llm else CountingLLM(second) if second is not None else None
    items: list[Validated] = []
    built: list[Conversation] = []
    clusters: list[Cluster] = []
    for conversation in corpus.conversations:
        bare = strip(conversation)
        drafts = _written(counted, bare, chosen)
        if chosen.validated:
            found = validate(counted, bare, drafts, second=other)
        else:
            found = [Validated.unjudged(bare, item) for item in drafts]
        items.extend(found)
        kept = [item.written for item in found if item.kept or not chosen.filtered]
        kept = [item for item in kept if item.rewrite is not None]
        built.append(_with_rewrites(bare, kept))
        composed = [item for item in kept if item.style == "composed"]
        clusters.extend(
            to_cluster(bare, item, number, chosen.protocol) for number, item in enumerate(composed)
        )
    calls = [*counted.rows(), *(other.rows() if other is not None and other is not counted else [])]
    return Construction(
        Corpus(corpus.name, tuple(built), tuple(clusters), corpus.sources, corpus.irregularities),
        tuple(items),
        summarise(items, calls),
    )


def sample_questions(conversation: Conversation, most: int | None, seed: int = 0) -> list[int]:
    """Return the indices of a sample of questions, ascending; all if `most` is None.

    Each category in turn gives one, in random order, so all are there as soon as `most` is five. A
    larger sample of the same seed holds the smaller one.

    Parameters
    ----------
    most : int or None
        The most questions.
    seed : int
        Of the order, together with the conversation's id.
    """
    by_category: dict[int, list[int]] = {}
    for question in conversation.questions:
        by_category.setdefault(question.category, []).append(question.index)
    for category, indices in by_category.items():
        random.Random(f"{seed}:{conversation.id}:{category}").shuffle(indices)
    rounds = zip_longest(*(by_category[category] for category in sorted(by_category)))
    order = [index for group in rounds for index in group if index is not None]
    return sorted(order[:most])


def strip(conversation: Conversation) -> Conversation:
    """Return a conversation whose questions have no rewrites."""
    bare = tuple(dataclasses.replace(item, rewrites={}) for item in conversation.questions)
    return dataclasses.replace(conversation, questions=bare)


def _written(llm: LLM, conversation: Conversation, options: BuildOptions) -> list[Written]:
    found: list[Written] = []
    notes: dict[int, str] = {}
    chosen = sample_questions(conversation, options.questions, options.seed)
    for style in SINGLE_STYLES:
        if style not in options.styles:
            continue
        items = rewrite_questions(
            llm,
            conversation,
            style,
            protocol=options.protocol,
            rules=options.rule(style),
            notes=notes,
            only=chosen,
        )
        if style == "dialog":
            notes = {item.members[0]: item.reason for item in items}
        found.extend(items)
    if "composed" in options.styles:
        groups = sample_groups(
            conversation,
            protocol=options.protocol,
            size=options.size,
            most=options.groups,
            seed=options.seed,
        )
        rules = options.rule("composed")
        found.extend(compose(llm, conversation, groups, protocol=options.protocol, rules=rules))
    return found


def _with_rewrites(conversation: Conversation, kept: Sequence[Written]) -> Conversation:
    by_question: dict[int, dict[Style, Rewrite]] = {}
    for item in kept:
        if item.style != "composed" and item.rewrite is not None:
            by_question.setdefault(item.members[0], {})[item.style] = item.rewrite
    questions = tuple(
        dataclasses.replace(question, rewrites=by_question.get(question.index, {}))
        for question in conversation.questions
    )
    return dataclasses.replace(conversation, questions=questions)
