"""The claims of the two papers that this study puts to the test, each as a bound on a quantity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from unbidden.report.claims.rule import Bound

MARGIN = 0.1
"""Ten points: a smaller loss is not "a gap", and a smaller deficit counts as being as good."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim.

    Attributes
    ----------
    key : str
    paper : {"LoCoMo-Conv", "THEANINE"}
    text : str
        In our words.
    quantity : str
        What is measured.
    bound : Bound
        What the claim says of it.
    needs : str
        What it takes to tell, shown where nothing was measured.
    """

    key: str
    paper: Literal["LoCoMo-Conv", "THEANINE"]
    text: str
    quantity: str
    bound: Bound
    needs: str


def _conv(key: str, text: str, quantity: str, needs: str, bound: Bound | None = None) -> Claim:
    return Claim(key, "LoCoMo-Conv", text, quantity, bound or Bound("above"), needs)


def _theanine(key: str, text: str, quantity: str, needs: str, bound: Bound | None = None) -> Claim:
    return Claim(key, "THEANINE", text, quantity, bound or Bound("above"), needs)


_REPLIES = "replies and verdicts of chapter 03 on record"
_GROUNDING = "replies and verdicts of chapter 05 on record"
_REWRITES = "rewritten queries of chapter 04 on record"

_ALL = (
    _conv(
        "recall_dialog",
        "Asking in one's own words finds less than the plain question.",
        "recall@10, question minus dialog",
        "queries of both styles",
    ),
    _conv(
        "recall_implicit",
        "A need that is only implied finds less than one that is asked for.",
        "recall@10, dialog minus implicit",
        "queries of both styles",
    ),
    _conv(
        "recall_composed",
        "A need for two memories at once finds less than their plain questions.",
        "recall@10, question minus composed",
        "queries of both styles",
    ),
    _conv(
        "rank_anchormem",
        "AnchorMem finds more than A-MEM, mem0 and BM25.",
        "recall@10, AnchorMem minus the other, implicit queries",
        "memories of these systems on record (chapter 02)",
    ),
    _conv(
        "facets_close_raw",
        "Searching by several facets brings memories made of raw turns closer to the question.",
        "recall@10, facets minus the query as it was said, raw-turn systems",
        _REWRITES,
    ),
    _conv(
        "facets_not_summaries",
        "For memories made of summaries it does not.",
        "gain by facets, raw-turn minus summary systems",
        f"{_REWRITES}, and a system of summaries",
    ),
    _conv(
        "single_rewrite_neutral",
        "One rewritten query gains nothing.",
        "recall@10, one rewrite minus the query as it was said",
        _REWRITES,
        Bound("below", MARGIN / 2),
    ),
    _conv(
        "retrieval_not_grounding",
        "Strong retrieval does not make grounded replies.",
        "one minus the mean score of replies whose evidence was all found",
        _REPLIES,
        Bound("above", MARGIN),
    ),
    _conv(
        "loss_after_retrieval",
        "More is lost after retrieval than in it.",
        "representation and response minus retrieval, of the loss",
        _REPLIES,
    ),
    _conv(
        "composed_ceiling",
        "Even with the gold turns, replies to composed queries leave a gap.",
        "one minus the oracle's mean score, composed queries",
        _REPLIES,
        Bound("above", MARGIN),
    ),
    _conv(
        "silent_grounding",
        "Memory grounds replies to implicit queries that never state the fact.",
        "wins minus losses of the gold turns, both orders, where the fact score is 0",
        _GROUNDING,
    ),
    _conv(
        "reasoned_as_good",
        "Memories chosen while thinking serve a reply as well as the gold turns.",
        "wins minus losses against the gold turns, three-part grades",
        _GROUNDING,
        Bound("above", -MARGIN),
    ),
    _conv(
        "more_memories",
        "Ten memories make better replies than five.",
        "score at 10 minus score at 5",
        "replies with both numbers of memories",
    ),
    _conv(
        "thinking_oracle",
        "A model that thinks first gains nothing broad with the gold turns.",
        "score with thinking minus score without, oracle",
        "replies of a model that thinks",
        Bound("below", MARGIN / 2),
    ),
    _conv(
        "traps",
        "AnchorMem's replies are misled by unanswerable questions more than mem0's.",
        "share of replies that assert something, AnchorMem minus mem0",
        "replies of both systems to category 5",
    ),
    _conv(
        "judges_agree",
        "Different models agree as judges of replies.",
        "Fleiss' kappa of three judges, above 0.6",
        "verdicts of several models on the same replies",
        Bound("above", 0.6),
    ),
    _conv(
        "natural",
        "People find the rewritten queries natural.",
        "mean rating of people, above 4 of 5",
        "people who rate them (the labelling page of chapter 01)",
        Bound("above", 4),
    ),
    _theanine(
        "theanine_replies",
        "THEANINE's replies come closer to what was said than those of memory retrieval.",
        "BLEU-4 and ROUGE-L, THEANINE minus memory retrieval",
        "replies of both",
    ),
    _theanine(
        "theanine_replies_cut",
        "They do so at equal length, too.",
        "the same, memory retrieval's replies cut to THEANINE's length",
        "replies of both",
    ),
    _theanine(
        "merging_hurts",
        "Merging and deleting memories makes replies worse than keeping them all.",
        "BLEU-4 and ROUGE-L, memory retrieval minus memory update",
        "replies of both",
    ),
    _theanine(
        "golden_memory",
        "THEANINE retrieves the memory that is needed more often than memory retrieval.",
        "share of turns, THEANINE minus memory retrieval",
        "the turns chosen by hand",
    ),
    _theanine(
        "linking_helps",
        "Links by cause make better replies than links by nearness in time.",
        "ROUGE-L, THEANINE minus THEANINE without relations",
        "replies of both",
    ),
    _theanine(
        "refinement_helps",
        "Rewriting timelines makes better replies than showing them as they are.",
        "ROUGE-L, THEANINE minus THEANINE without refinement",
        "replies of both",
    ),
    _theanine(
        "teafarm",
        "THEANINE is misled about the past less often than memory retrieval (TeaFarm).",
        "share of questions answered rightly, THEANINE minus memory retrieval",
        "TeaFarm questions and replies (chapter 07)",
    ),
    _theanine(
        "memories_preferred",
        "A judge finds THEANINE's memories more helpful than those of memory retrieval.",
        "wins minus losses, both orders",
        "verdicts on the memories of both",
    ),
    _theanine(
        "cost_over_retrieval",
        "THEANINE costs more than memory retrieval.",
        "input tokens of an episode, THEANINE minus memory retrieval, as a share of THEANINE's",
        "counted calls (chapter 06)",
    ),
    _theanine(
        "cost_under_update",
        "THEANINE costs less than updating memories pair by pair.",
        "input tokens of an episode, memory update minus THEANINE, as a share of THEANINE's",
        "counted calls (chapter 06)",
    ),
    _theanine(
        "linking_saving",
        "Linking once a component spares a fifth of the linking calls.",
        "share of relation calls spared by stopping early",
        "graphs on record (chapter 06)",
        Bound("above", 0.2),
    ),
)
CLAIMS: dict[str, Claim] = {claim.key: claim for claim in _ALL}
"""By key, in the order of the table."""
