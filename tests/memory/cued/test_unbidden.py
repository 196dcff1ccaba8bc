"""The system without a model: every part by hand, what it explains, and its properties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.memory.hand import Words, conversation, texts
from unbidden.errors import ConfigError
from unbidden.memory import create_system
from unbidden.memory.cued import ABLATIONS, Parts, Unbidden
from unbidden.memory.cued.budget import within
from unbidden.memory.cued.cues import facets, information, standardised
from unbidden.memory.cued.links import nearest, passed_on, top
from unbidden.memory.protocol import PreparesTexts
from unbidden.memory.tokens import count_tokens

TALK = conversation(
    [
        ("Ana", "Hello there, how nice!"),
        ("Ben", "Which harbour is the boat in now?"),
        ("Ana", "Long Pier, berth nine."),
        ("Ben", "The fee for a boat is forty a month."),
    ],
    [("Ana", "I sold the red boat to Rui."), ("Ben", "I bake rye bread.")],
    [("Ana", "Hello there, how nice!"), ("Ana", "My cousin paints walls.")],
)
OFF = {
    "words": 0.0,
    "who": 0.0,
    "substance": 0.0,
    "answers": 0.0,
    "links": 0.0,
    "feedback": 0.0,
}


def built(talk=TALK, **options):
    system = Unbidden(embedder=Words(), **options)
    return system, system.ingest(talk)


def only(**parts):
    return built(parts={**OFF, **parts})[0]


def ids(hits):
    return [hit.sources[0] for hit in hits]


def test_values_are_raw_turns_with_exact_ids():
    system, report = built()
    hits = system.search("boat", k=50)
    assert report.units == report.memories == len(hits) == 8
    assert sorted(ids(hits)) == sorted(turn.id for turn in TALK.turns)
    sold = next(hit for hit in hits if hit.sources == ("D2:1",))
    assert sold.text == 'DATE: 1:00 pm on 2 May, 2023\nAna said, "I sold the red boat to Rui."'
    assert sold.time.day == 2
    assert report.events["questions"] == 1


def test_with_every_part_off_it_is_dense_search():
    dense = create_system("dense", embedder=Words())
    dense.ingest(TALK)
    for query in ("red boat", "rye bread", "walls"):
        assert ids(only().search(query, k=8)) == ids(dense.search(query, k=8))


def test_words_add_their_bm25_scores():
    bm25 = create_system("bm25")
    bm25.ingest(TALK)
    scores = {hit.sources[0]: hit.score for hit in bm25.search("rye boat", k=8)}
    for item in only(words=0.5).explain("rye boat", k=8):
        expected = 0.5 * scores.get(item.hit.sources[0], 0.0)
        assert item.parts["words"] == pytest.approx(expected)


def test_who_speaks_puts_own_turns_first():
    system = only(who=100.0)
    spoken = {turn.id: turn.speaker for turn in TALK.turns}
    assert {spoken[i] for i in ids(system.search("boat", k=5, speaker="Ana"))} == {"Ana"}
    assert {spoken[i] for i in ids(system.search("boat", k=3, speaker="Ben"))} == {"Ben"}
    by_nobody = ids(system.search("boat", k=8))
    assert by_nobody == ids(only().search("boat", k=8))
    assert by_nobody == ids(system.search("boat", k=8, speaker="Somebody else"))


def test_substance_demotes_what_everybody_says():
    found = {i.hit.sources[0]: i.parts["substance"] for i in only(substance=1.0).explain("x", k=8)}
    assert found["D1:1"] == found["D3:1"] == min(found.values())
    assert sum(found.values()) == pytest.approx(0, abs=1e-9)


def test_an_answer_gets_a_share_of_its_question():
    items = {i.hit.sources[0]: i for i in only(answers=0.5).explain("which harbour", k=8)}
    question, answer = items["D1:2"], items["D1:3"]
    assert answer.parts["answers"] == pytest.approx(0.5 * question.parts["meaning"])
    assert "answers the question D1:2" in answer.reasons
    assert all(i.parts["answers"] == 0 for key, i in items.items() if key != "D1:3")


def test_a_question_passes_on_only_to_another_speaker_in_its_session():
    scores, ask = np.array([1.0, 2.0, 3.0]), np.array([True, True, True])
    follows = np.array([False, True, False])
    assert passed_on(scores, ask, follows).tolist() == [0.0, 1.0, 0.0]
    talk = conversation([("Ana", "Why?"), ("Ana", "Well.")], [("Ben", "So?")], [("Ana", "Yes.")])
    items = Unbidden(embedder=Words(), parts={**OFF, "answers": 1.0})
    items.ingest(talk)
    assert all(i.parts["answers"] == 0 for i in items.explain("why", k=9))


def test_links_bring_a_turn_that_shares_nothing_with_the_message():
    talk = conversation(
        [("Ana", "kayak"), ("Ana", "kayak paddle lake"), ("Ben", "bread")], [("Ben", "rye")]
    )
    system = Unbidden(embedder=Words(), parts={**OFF, "links": 1.0, "neighbours": 1})
    system.ingest(talk)
    parts = {i.hit.sources[0]: i.parts for i in system.explain("kayak", k=4)}
    assert parts["D1:2"]["links"] == pytest.approx(parts["D1:1"]["meaning"])
    assert parts["D1:1"]["links"] == pytest.approx(parts["D1:2"]["meaning"])


def test_via_names_the_neighbour_that_brought_a_turn():
    system = only(answers=5.0)
    assert [(h.sources[0], h.via) for h in system.search("which harbour now", k=1)] == [
        ("D1:3", "D1:2")
    ]
    assert {hit.via for hit in only().search("which harbour now", k=8)} == {None}


def test_feedback_follows_the_best_turns():
    talk = conversation([("Ana", "kayak lake"), ("Ben", "lake swimming"), ("Ben", "rye bread")])
    with_it = Unbidden(embedder=Words(), parts={**OFF, "feedback": 1.0, "feedback_turns": 1})
    with_it.ingest(talk)
    parts = {i.hit.sources[0]: i.parts["feedback"] for i in with_it.explain("kayak", k=3)}
    assert parts["D1:2"] > parts["D1:3"]


def test_facets_find_what_only_a_part_of_a_message_is_about():
    query = "boat boat boat boat boat boat boat, and rye bread today maybe"
    whole, apart = only().explain(query, k=8), only(facets=1.0).explain(query, k=8)
    place = [[i.hit.sources[0] for i in found].index("D2:2") for found in (whole, apart)]
    assert place[1] <= place[0]
    bread = next(i for i in apart if i.hit.sources == ("D2:2",))
    assert bread.parts["facets"] > 0
    assert "facets" not in only(facets=1.0).explain("rye bread", k=1)[0].parts


def test_rank_fusion_alone_is_rrf():
    rrf = create_system("rrf", embedder=Words())
    rrf.ingest(TALK)
    system = built(parts={**OFF, "words": 1.0, "fusion": "ranks"})[0]
    for query in ("red boat", "rye fee month", "Rui"):
        assert ids(system.search(query, k=8)) == ids(rrf.search(query, k=8))


@pytest.mark.parametrize("parts", [v["parts"] for v in ABLATIONS.values()], ids=list(ABLATIONS))
def test_the_parts_of_a_score_sum_to_it(parts):
    system, _ = built(parts=parts)
    for item in system.explain(
        "I owe a fee for the boat, and rye bread is dear", k=8, speaker="Ana"
    ):
        assert sum(item.parts.values()) == pytest.approx(item.hit.score, abs=1e-9)
    scores = [item.hit.score for item in system.explain("the boat", k=8)]
    assert scores == pytest.approx(sorted(scores, reverse=True), abs=2e-6)


def test_reasons_are_in_words_and_in_order_of_weight():
    item = built()[0].explain("the red boat", k=1, speaker="Ana")[0]
    assert item.hit.sources == ("D2:1",)
    assert "was said by Ana, who speaks now" in item.reasons
    assert "shares the words boat, red, the" in item.reasons
    positive = [name for name, value in item.parts.items() if value > 0]
    assert len(item.reasons) == len(positive)


def test_a_token_budget_is_kept_and_filled():
    cost = {
        turn: count_tokens(hit.text)
        for hit in built()[0].search("boat", k=8)
        for turn in hit.sources
    }
    for budget in (1, 20, 40, 75, 1000):
        hits = built(token_budget=budget)[0].search("boat", k=8, speaker="Ana")
        spent = sum(count_tokens(hit.text) for hit in hits)
        assert spent <= budget
        left_out = [c for turn, c in cost.items() if turn not in ids(hits)]
        assert all(c > budget - spent for c in left_out)
    assert len(built(token_budget=1000)[0].search("boat", k=3)) == 3


def test_turns_too_long_for_the_budget_are_passed_over():
    order = np.array([2, 0, 1])
    assert within(order, ["a b", "a", "a b c d"], 3).tolist() == [0, 1]


@pytest.mark.parametrize(
    "parts",
    [{"who": -1}, {"facets": 1.5}, {"neighbours": 0}, {"fusion": "sum"}, {"feedback_turns": 0}],
)
def test_weights_out_of_range_are_errors(parts):
    with pytest.raises(ConfigError):
        Parts(**parts)


def test_an_unknown_part_is_an_error_that_names_it():
    with pytest.raises(ConfigError, match="whom"):
        create_system("unbidden", own={"parts": {"whom": 1}}, embedder=Words())
    with pytest.raises(ConfigError, match="token_budget"):
        Unbidden(embedder=Words(), token_budget=0)


def test_nothing_is_left_of_an_earlier_conversation():
    system, _ = built()
    assert system.ingest(conversation([])).memories == 0
    assert system.search("boat", k=5) == []
    system.ingest(conversation([("Ben", "Hi")]))
    assert ids(system.search("boat", k=5)) == ["D1:1"]


def test_preparing_changes_no_result_and_encodes_each_text_once():
    query = "my boat, and how is the bread today then?"
    for parts in ({}, {"facets": 0.5}):
        plain = built(parts=parts)[0].search(query, k=8, speaker="Ana")
        embedder = Words()
        system = Unbidden(embedder=embedder, parts=parts)
        assert isinstance(system, PreparesTexts)
        system.prepare([TALK], [query])
        before = len(embedder.seen)
        system.ingest(TALK)
        after = len(embedder.seen)
        assert system.search(query, k=8, speaker="Ana") == plain
        assert len(embedder.seen) == after
        assert after - before == len(TALK.turns)  # asked again; the cache of `Embedder` answers


def test_a_message_in_another_script():
    talk = conversation([("林悦", "我在码头卖了红船。"), ("陈浩", "谁买的？"), ("林悦", "表哥。")])
    system = Unbidden(embedder=Words())
    system.ingest(talk)
    assert ids(system.search("红船", k=1, speaker="林悦")) == ["D1:1"]
    assert "answers the question D1:2" in str(system.explain("谁买", k=3))


WORD = st.sampled_from(["boat", "rye", "fee", "pier", "red", "kayak", "why?"])
WORDS = st.lists(WORD, max_size=5).map(" ".join)
SPEAKERS, VARIANTS = st.sampled_from([None, "Ana"]), st.sampled_from(list(ABLATIONS))
TALKS = st.lists(
    st.lists(st.tuples(st.sampled_from(["Ana", "Ben"]), WORDS), max_size=6), min_size=1, max_size=4
)


@given(TALKS, WORDS, st.integers(1, 9), SPEAKERS, VARIANTS)
@settings(max_examples=150, deadline=None)
def test_any_talk_gives_distinct_turns_of_it_best_first(talk, query, k, speaker, variant):
    talk = conversation(*talk)
    system = Unbidden(embedder=Words(), **ABLATIONS[variant])
    report = system.ingest(talk)
    hits = system.search(query, k=k, speaker=speaker)
    assert report.memories == len(talk.turns)
    assert len(hits) == min(k, len(talk.turns))
    assert len(set(ids(hits))) == len(hits)
    assert set(ids(hits)) <= talk.turn_ids
    assert all(np.isfinite(hit.score) for hit in hits)
    deeper = system.search(query, k=len(talk.turns) + 1, speaker=speaker)
    assert ids(deeper)[: len(hits)] == ids(hits)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=30), st.integers(1, 35))
def test_top_is_the_beginning_of_a_stable_sort(values, count):
    scores = np.array([values, values[::-1]], dtype=float)
    expected = np.argsort(-scores, axis=-1, kind="stable")[:, :count]
    assert top(scores, count).tolist() == expected.tolist()


def test_links_in_blocks_are_those_of_one_product():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(1100, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = np.round(vectors @ vectors.T, 5)
    np.fill_diagonal(cosines, -np.inf)
    assert (nearest(vectors, 3) == np.argsort(-cosines, axis=1, kind="stable")[:, :3]).all()
    assert nearest(vectors[:1], 3).shape == (1, 0)
    assert nearest(vectors[:2], 3).tolist() == [[1], [0]]


@given(st.text(st.sampled_from("ab ,.;!?—and but 我，。"), max_size=60))
def test_facets_hold_all_letters_of_the_message(message):
    def letters(text):
        return [c for c in text if c.isalnum()]

    assert letters("".join(facets(message))) == letters(message)


def test_information_and_standardising_by_hand():
    found = information([["a", "b"], ["a"], ["a", "a"], ["c", "b", "d"]])
    assert found.tolist() == pytest.approx([0.0, 0.0, 0.0, 2 * np.log(3.5 / 1.5)])
    assert standardised(np.array([0.1, 0.1, 0.1])).tolist() == [0, 0, 0]
    assert standardised(np.array([1.0, 3.0])).tolist() == [-1, 1]


def test_the_memories_shown_are_those_of_rrf():
    rrf = create_system("rrf", embedder=Words())
    rrf.ingest(TALK)
    assert sorted(texts(built()[0].search("boat", k=8))) == sorted(texts(rrf.search("boat", k=8)))
