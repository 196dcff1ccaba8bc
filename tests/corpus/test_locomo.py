"""Facts of the real file (reference: the audit of LoCoMo, recomputed here)."""

import random

import pytest

from unbidden.corpus import load_corpus
from unbidden.corpus.audit import audit
from unbidden.corpus.jsonfile import read_json
from unbidden.corpus.locomo import LocomoReader
from unbidden.queries.build import build_queries
from unbidden.queries.clusters import count_pairs, mine_pairs
from unbidden.queries.overlap import overlap_items

pytestmark = pytest.mark.realdata

PAIRS = [73, 36, 85, 144, 126, 95, 86, 140, 198, 86]


@pytest.fixture
def locomo(real_data):
    return load_corpus("locomo")


def test_counts(locomo):
    found = audit(locomo)
    assert (found.conversations, found.sessions, found.turns) == (10, 272, 5_882)
    assert (found.questions, found.captions) == (1_986, 1_226)
    assert list(found.denominators.values()) == [1_986, 1_540, 1_982, 1_536, 1_533]
    totals = [sum(row[c] for row in found.categories.values()) for c in range(1, 6)]
    assert totals == [282, 321, 96, 841, 446]
    assert found.categories["conv-30"][3] == 0


def test_category_names_agree_with_the_evidence(locomo):
    def sessions_cited(category):
        cited = [
            {text.split(":")[0] for text in question.evidence}
            for conversation in locomo.conversations
            for question in conversation.questions
            if question.category == category
        ]
        return sum(len(sessions) > 1 for sessions in cited)

    assert sessions_cited(1) > 0.9 * 282  # multi-hop
    assert sessions_cited(4) <= 2  # single-hop


def test_bad_evidence_is_all_listed(locomo):
    changes = audit(locomo).evidence_changes
    assert {change.where for change in changes} == {
        *("conv-26#37", "conv-42#58", "conv-42#88", "conv-43#18", "conv-47#38"),
        *("conv-49#31", "conv-49#38", "conv-49#46", "conv-50#69"),
    }


def test_answers(locomo):
    questions = [q for conversation in locomo.conversations for q in conversation.questions]
    adversarial = [q for q in questions if q.category == 5]
    assert all(q.answer is None and q.trap for q in adversarial)
    assert all(isinstance(q.answer, str) for q in questions if q.category != 5)
    kinds = [item.kind for item in locomo.irregularities]
    assert kinds.count("answer is not text") == 6
    assert kinds.count("answer on an adversarial question") == 2


def test_sessions(locomo):
    for conversation in locomo.conversations:
        times = [session.when for session in conversation.sessions]
        assert times == sorted(times)
        assert len(set(times)) == len(times)
    midnight = [
        s
        for c in locomo.conversations
        for s in c.sessions
        if s.date_text.startswith("12:") and " am " in s.date_text
    ]
    assert len(midnight) == 14
    assert all(session.when.hour == 0 for session in midnight)


def test_composed_pairs_of_the_paper(locomo):
    paper = count_pairs(locomo.conversations, "paper")
    assert list(paper.values()) == PAIRS
    assert sum(paper.values()) == 1_069
    assert sum(count_pairs(locomo.conversations, "repaired").values()) == 1_081
    pairs = [pair for item in locomo.conversations for pair in mine_pairs(item)]
    assert round(100 * sum(pair.nested for pair in pairs) / len(pairs)) == 72


def test_released_clusters_equal_ours(locomo):
    (conversation,) = [c for c in locomo.conversations if c.id == "conv-26"]
    mined = {pair.members: pair.gold for pair in mine_pairs(conversation)}
    released = {cluster.members: set(cluster.gold_in_file) for cluster in locomo.clusters}
    assert len(released) == 73
    assert mined == released


def test_rewrites_join_by_content(locomo):
    with_rewrites = {c.id for c in locomo.conversations if c.questions[0].rewrites}
    assert with_rewrites == {"conv-26"}
    queries = build_queries(locomo, styles=["implicit", "counterfactual", "composed"])
    assert [sum(q.style == s for q in queries) for s in ("implicit", "counterfactual")] == [
        199,
        152,
    ]


def test_order_of_conversations_does_not_matter(real_data):
    value, _ = read_json(real_data / "locomo" / "locomo10.json")
    ordered = LocomoReader("a").read(value)
    random.Random(3).shuffle(value)
    shuffled = LocomoReader("b").read(value)
    assert sorted(ordered, key=lambda c: c.id) == sorted(shuffled, key=lambda c: c.id)


def test_equal_turn_ids_and_names_stay_apart(locomo):
    johns = [c.id for c in locomo.conversations if "John" in c.speakers]
    assert len(johns) == 3
    overlap = overlap_items(locomo, build_queries(locomo, styles=["question"]))
    assert overlap["query_id"].is_unique
    assert overlap["value"].isna().sum() == 4 + 4  # no evidence, or none that names a turn
