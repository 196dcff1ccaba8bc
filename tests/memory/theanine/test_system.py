"""THEANINE as a memory system: replay of sessions, timelines as hits, options, counts."""

import json

import pytest

from tests.memory.hand import Words, conversation, texts
from tests.memory.theanine.hand import memory
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.schemas_summaries import CitedFact, CitedFacts, SessionFacts
from unbidden.llm.schemas_theanine import RefinedTimeline, RefinedTimelines, RelationLabel
from unbidden.memory import create_system
from unbidden.memory.protocol import CountsSearches, PreparesTexts
from unbidden.memory.theanine import Theanine

TALK = conversation(
    [("Ana", "I have a red boat."), ("Ben", "I have cats.")],
    [("Ana", "My red boat sank."), ("Ben", "My cats sleep.")],
    [("Ana", "I want another boat.")],
    [("Ana", "The red boat was found."), ("Ben", "Nice.")],
)
FACTS = {
    1: ["Ana red boat", "Ben cats"],
    2: ["Ana red boat sank", "Ben cats sleep"],
    3: ["Ana wants boat"],
    4: ["red boat found"],
}
"""What is linked, with every pair related: each sentence has at most three candidates, and
s1-m1 -> s2-m1 -> s3-m1 -> s4-m1, s1-m2 -> s2-m2 by nearness; see the first test."""
SESSION = {session.turns[0].text: session.number for session in TALK.sessions}


def summary(seen):
    return SessionFacts(facts=FACTS[SESSION[seen.variables["turns"][0]["text"]]])


def shares_a_noun(seen):
    a, b = (set(seen.variables[name]["text"].split()) for name in "ab")
    return RelationLabel(relation="Cause" if a & b & {"boat", "cats"} else "None")


def model(**answers):
    default = {
        "summarise_session": summary,
        "summarise_session_cited": lambda seen: CitedFacts(
            facts=[CitedFact(text=text, lines=[i]) for i, text in enumerate(
                summary(seen).facts, start=1)]
        ),
        "theanine_relation": shares_a_noun,
        "theanine_refine": lambda seen: RefinedTimeline(
            memory=f"Note on {seen.variables['timeline']}"
        ),
        "theanine_refine_joint": RefinedTimelines(memories=["One.", "Two."]),
    } | answers  # fmt: skip

    def answer(seen):
        found = default[seen.prompt_name.removesuffix(".v1")]
        return found(seen) if callable(found) else found

    return ScriptedLLM(answer)


def built(llm=None, talk=TALK, **options):
    llm = llm or model()
    system = Theanine(llm=llm, embedder=Words(), **options)
    return system, system.ingest(talk), llm


def asked(llm, name):
    return [seen.variables for seen in llm.seen if seen.prompt_name == f"{name}.v1"]


def edges(system):
    return [f"{a} {b} {label}" for a, b, label in system.graph.edges()]


BOATS = ["s1-m1 s2-m1 Cause", "s1-m2 s2-m2 Cause", "s2-m1 s3-m1 Cause", "s3-m1 s4-m1 Cause"]


def test_sessions_are_summarised_and_linked_in_time_order():
    system, report, llm = built()
    assert [(m.id, m.text, m.session) for m in system.graph] == [
        ("s1-m1", "Ana red boat", 1), ("s1-m2", "Ben cats", 1),
        ("s2-m1", "Ana red boat sank", 2), ("s2-m2", "Ben cats sleep", 2),
        ("s3-m1", "Ana wants boat", 3), ("s4-m1", "red boat found", 4),
    ]  # fmt: skip
    assert edges(system) == BOATS
    assert system.graph.components() == [["s1-m1", "s2-m1", "s3-m1", "s4-m1"], ["s1-m2", "s2-m2"]]
    assert (report.units, report.memories, report.failed) == (4 + 4, 6, 0)
    assert report.calls["summarise_session.v1"].calls == 4
    relation = asked(llm, "theanine_relation")
    assert relation[0]["a"] == {
        "text": "Ana red boat",
        "lines": [
            {"speaker": "Ana", "text": "I have a red boat."},
            {"speaker": "Ben", "text": "I have cats."},
        ],
    }
    order = ["Ana red boat sank", "Ben cats sleep", "Ana wants boat", "red boat found"]
    new = [seen["b"]["text"] for seen in relation]
    assert sorted(new, key=order.index) == new, "session by session"
    first = [set(seen["a"]["text"].split()) for seen in relation if seen["b"]["text"] in order[:2]]
    assert all(words <= {"Ana", "red", "boat", "Ben", "cats"} for words in first), "earlier only"


def test_early_stop_saves_calls_for_the_same_graph():
    system, _, llm = built()
    thorough, _, llm_all = built(early_stop=False)
    assert edges(system) == edges(thorough) == BOATS
    counts, counts_all = system.counts(), thorough.counts()
    assert counts.pairs == counts_all.pairs == counts_all.asked == 2 + 2 + 3 + 3
    assert counts.asked == len(asked(llm, "theanine_relation")) == 2 + 2 + 2 + 1
    assert (counts.saved, counts_all.saved) == (3, 0)
    assert len(asked(llm_all, "theanine_relation")) == counts_all.asked


def test_all_related_links_every_related_candidate():
    system, _, _ = built(link_rule="all_related")
    more = ["s1-m1 s3-m1 Cause", "s1-m1 s4-m1 Cause", "s2-m1 s4-m1 Cause"]
    assert sorted(edges(system)) == sorted([*BOATS, *more])
    assert system.counts().saved == 0 and system.counts().asked == 10


def test_equal_candidates_of_one_session_go_by_order_of_making():
    """s2-m1 joins both of session 1 in one component; they are as near to s3-m1 as each other."""
    facts = {1: ["Ana boat", "Ben boat"], 2: ["boat"], 3: ["boat again"], 4: []}

    def told(seen):
        return SessionFacts(facts=facts[SESSION[seen.variables["turns"][0]["text"]]])

    def not_to_session_2(seen):
        same = seen.variables["a"]["text"] == "boat"
        return RelationLabel(relation="None" if same else "Reason")

    llm = model(summarise_session=told, theanine_relation=not_to_session_2)
    first = ["s1-m1 s2-m1 Reason", "s1-m2 s2-m1 Reason"]
    assert edges(built(llm)[0]) == [first[0], "s1-m1 s3-m1 Reason", first[1]]
    kept = edges(built(llm, keep_ties=True)[0])
    assert kept == [first[0], "s1-m1 s3-m1 Reason", first[1], "s1-m2 s3-m1 Reason"]


def test_a_search_returns_timelines_with_all_their_turns():
    system, _, llm = built()
    (hit,) = system.search("red boat sank", k=1)
    assert hit.text == (
        "[Ana red boat] - (Cause) - [Ana red boat sank] - (Cause) - [Ana wants boat]"
        " - (Cause) - [red boat found]"
    )
    assert hit.sources == ("D1:1", "D1:2", "D2:1", "D2:2", "D3:1", "D4:1", "D4:2")
    assert hit.score == pytest.approx((3 / 4) ** 0.5, abs=1e-5) and hit.time is None
    hits = system.search("red boat sank cats", k=4)
    assert len(hits) == 2, "two components hold two timelines"
    assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
    assert isinstance(system, CountsSearches)
    assert system.search_events["memories without a timeline that was not drawn already"] == 2
    assert not [seen for seen in llm.seen if "refine" in seen.prompt_name], "off by default"


def test_a_timeline_of_one_session_has_its_time():
    alone, _, _ = built(model(theanine_relation=RelationLabel(relation="None")))
    assert edges(alone) == []
    (hit,) = alone.search("red boat sank", k=1)
    assert hit.text == "[Ana red boat sank]" and hit.time == TALK.sessions[1].when
    dated, _, _ = built(show_dates=True)
    assert dated.search("cats", k=1)[0].text == (
        "[2023-05-01: Ben cats] - (Cause) - [2023-05-02: Ben cats sleep]"
    )


def test_rewriting_changes_the_text_alone():
    plain, _, _ = built()
    system, _, llm = built(refine_mode="per_timeline")
    before = plain.search("red boat sank cats", k=3, speaker="Ana")
    after = system.search("red boat sank cats", k=3, speaker="Ana")
    assert texts(after) == [f"Note on {text}" for text in texts(before)]
    assert [(h.sources, h.score, h.time) for h in after] == [
        (h.sources, h.score, h.time) for h in before
    ]
    assert asked(llm, "theanine_refine")[0]["dialogue"] == ["Ana: red boat sank cats"]
    joint, _, llm = built(refine_mode="joint")
    (hit,) = joint.search("red boat sank cats", k=3)
    assert hit.text == "One.\nTwo." and set(hit.sources) == TALK.turn_ids
    assert asked(llm, "theanine_refine_joint")[0]["dialogue"] == ["red boat sank cats"]
    assert joint.query_calls.counts["theanine_refine_joint.v1"].calls == 1


def test_failed_rewriting_keeps_the_timeline_and_is_counted():
    system, _, _ = built(
        model(theanine_refine=Outcome("refused", "no")), refine_mode="per_timeline"
    )
    (hit,) = system.search("cats", k=1)
    assert hit.text == "[Ben cats] - (Cause) - [Ben cats sleep]"
    assert system.counts().refinements_failed == 1
    assert system.search_events["texts not rewritten because the call failed"] == 1


def test_timelines_for_a_dialogue_see_earlier_sessions_only():
    system, _, llm = built()
    dialogue = ["Ana: hello", "Ben: how is the red boat"]
    assert system.timelines(dialogue, session=1) == [], "nothing is remembered yet"
    assert system.refined([], dialogue, "joint") == []
    for session, ids in (
        (2, ("s1-m1",)),
        (3, ("s1-m1", "s2-m1")),
        (4, ("s1-m1", "s2-m1", "s3-m1")),
    ):
        timeline = system.timelines(dialogue, session=session, k=1)[0]
        assert timeline.ids == ids, "neither memories nor links of the session itself or later"
    (now,) = system.timelines(dialogue, k=1)
    assert now.ids == ("s1-m1", "s2-m1", "s3-m1", "s4-m1")
    raw, note = (system.refined([now], dialogue, mode)[0] for mode in ("off", "per_timeline"))
    assert note.text == f"Note on {raw.text}" and raw.text == now.text()
    assert asked(llm, "theanine_refine")[-1]["dialogue"] == dialogue
    assert system.timelines([]) == []


def test_the_whole_dialogue_is_the_query_or_its_last_lines():
    dialogue = ["Ben: cats cats cats", "Ana: red boat sank"]
    whole, _, _ = built()
    whole.timelines(dialogue)
    assert whole.embedder.seen[-1] == "Ben: cats cats cats\nAna: red boat sank"
    last, _, _ = built(query_lines=1)
    assert last.timelines(dialogue, k=1)[0].retrieved == "s2-m1"
    assert last.embedder.seen[-1] == "Ana: red boat sank"


def test_draws_do_not_depend_on_earlier_searches():
    """Without relations and with all candidates linked the graph branches."""
    options = {"relations": False, "link_rule": "all_related"}
    system, _, _ = built(**options)
    first = [system.search(q, k=3) for q in ("red boat", "cats", "sank")]
    again = [system.search(q, k=3) for q in ("sank", "cats", "red boat")]
    assert first == again[::-1]
    found = {tuple(texts(built(**options, seed=seed)[0].search("boat", k=1))) for seed in range(9)}
    assert len(found) > 1, "another seed, another draw"


def test_without_relations_no_model_links():
    system, report, _ = built(relations=False)
    assert set(report.calls) == {"summarise_session.v1"} and report.units == 4
    assert {label for _, _, label in system.graph.edges()} == {""}
    counts = system.counts()
    assert counts.relations == {"": counts.edges} and counts.unknown_rate is None
    assert (counts.asked, counts.saved) == (0, 0) and counts.pairs == 10
    assert "(" not in system.search("red boat", k=1)[0].text


def test_events_one_by_one_and_shuffled():
    whole, _, _ = built()
    broken, _, _ = built(timeline_form="broken_down")
    hits = broken.search("red boat sank", k=3)
    assert texts(hits) == ["Ana red boat", "Ana red boat sank", "Ana wants boat"]
    assert hits[1].sources == ("D2:1", "D2:2") and hits[1].time == TALK.sessions[1].when
    assert hits[0].score == whole.search("red boat sank", k=1)[0].score
    assert len(broken.search("red boat sank cats", k=10)) == 6
    orders = {
        tuple(texts(built(timeline_form="shuffled", seed=seed)[0].search("red boat sank", k=3)))
        for seed in range(8)
    }
    assert len(orders) > 1 and {tuple(sorted(order)) for order in orders} == {
        tuple(sorted(texts(hits)))
    }


def test_cited_turns():
    system, _, _ = built(sources="cited")
    assert system.info.provenance == "cited" and Theanine.info.provenance == "batch"
    assert system.search("cats", k=1)[0].sources == ("D1:2", "D2:2")


def test_a_session_without_a_summary_and_links_without_an_answer_are_losses():
    def lost(seen):
        return Outcome("timeout", "slow") if "sank" in str(seen.variables) else summary(seen)

    bad = Outcome("refused", "no")
    system, report, _ = built(model(summarise_session=lost, theanine_relation=bad))
    assert [m.id for m in system.graph] == ["s1-m1", "s1-m2", "s3-m1", "s4-m1"]
    assert edges(system) == []
    assert {failure.unit for failure in report.failures} == {
        "session 2", "links of s3-m1", "links of s4-m1",
    }  # fmt: skip
    assert (report.failed, report.units) == (3, 4 + 2)
    counts = system.counts()
    assert counts.failed == counts.asked == 2 + 3 and counts.unknown_rate is None
    assert len(system.search("boat", k=3)) == 3, "what is there can be found"


def test_counts_for_a_page():
    answers = iter(["Causes", "Effect", "None", "cause."])
    system, _, _ = built(
        model(theanine_relation=lambda seen: RelationLabel(relation=next(answers, "None")))
    )
    counts = system.counts()
    assert (counts.memories, counts.edges, counts.components) == (6, 2, 4)
    assert edges(system) == ["s1-m1 s2-m1 Cause", "s1-m1 s2-m2 Cause"], "the first and the fourth"
    assert counts.largest_component == 3 and counts.relations == {"Cause": 2}
    assert (counts.related, counts.unknown, counts.failed) == (2, 1, 0)
    assert counts.unrelated == counts.asked - 3
    assert counts.unknown_rate == pytest.approx(1 / counts.asked)
    assert counts.unknown_labels == {"Effect": 1}
    assert counts.fallback_rate is None
    system.search("red boat", k=3)
    assert system.counts().fallback_rate == 0 and system.counts().timelines > 0


def test_the_released_summaries_can_be_linked_without_dialogues():
    memories = [memory("s2-m1", 2, "red boat"), memory("s12-m1", 12, "red boat sank")]
    llm = model()
    system = Theanine(llm=llm, embedder=Words(), dialogues="none")
    report = system.ingest_memories(memories[::-1])
    assert edges(system) == ["s2-m1 s12-m1 Cause"], "in time order, sessions above 9 too"
    assert (report.memories, report.units) == (2, 1)
    assert asked(llm, "theanine_relation")[0]["a"]["lines"] == []
    with pytest.raises(ConfigError, match="dialogues that memories come from"):
        Theanine(llm=llm, embedder=Words()).ingest_memories(memories)
    again = system.ingest(TALK)
    assert again.memories == 6 and edges(system) == BOATS, "the other memories are forgotten"


def test_stored_records_hang_together_as_the_graph_does():
    system, _, _ = built()
    records = system.records()
    assert [r.links for r in records] == [(), (), ("m1",), ("m2",), ("m3",), ("m5",)]
    assert {change.action for change in system.history()} == {"add"}, "nothing is ever deleted"
    assert system.unstored(TALK.sessions[0]) == []
    assert isinstance(system, PreparesTexts)


def test_new_memories_are_encoded_a_session_at_a_time():
    class Batches(Words):
        calls = 0

        def encode(self, found):
            self.calls += 1
            return super().encode(found)

    embedder = Batches()
    Theanine(llm=model(), embedder=embedder).ingest(TALK)
    assert embedder.calls == 2 * 3, "old ones not encoded yet, and new ones, in sessions 2 to 4"


@pytest.mark.parametrize("talk", [conversation(), conversation([]), conversation([], [])])
def test_an_empty_conversation_finds_nothing(talk):
    system, report, _ = built(talk=talk)
    assert system.search("boat", k=3) == [] and report.memories == 0
    assert system.timelines(["Ana: boat"], session=5) == []
    assert system.counts().largest_component == 0


def test_a_second_ingestion_asks_the_same_and_nothing_else():
    llm = model()
    system, first, _ = built(llm, early_stop=True, keep_ties=True)
    keys = [seen.key for seen in llm.seen]
    second = system.ingest(TALK)
    assert [seen.key for seen in llm.seen[len(keys) :]] == keys and first == second
    assert len(set(keys)) == len(keys), "no call is made twice"


def test_by_name_and_options_out_of_range():
    system = create_system("theanine", llm=model(), embedder=Words(), protocol="paper", seed=3)
    assert isinstance(system, Theanine) and system.seed == 3
    for option in ("relation_prompt", "dialogues", "refine_mode", "timeline_form", "sources",
                   "link_rule", "start_rule", "per"):  # fmt: skip
        with pytest.raises(ConfigError, match="known: "):
            Theanine(llm=model(), embedder=Words(), **{option: "x"})
    for option in ({"query_lines": 0}, {"candidates": 0}, {"draws": 0}):
        with pytest.raises(ConfigError, match="out of range"):
            Theanine(llm=model(), embedder=Words(), **option)
    with pytest.raises(ConfigError, match="cannot be rewritten"):
        Theanine(llm=model(), embedder=Words(), timeline_form="shuffled", refine_mode="joint")
    with pytest.raises(ConfigError, match="needs a model"):
        Theanine(embedder=Words())
    with pytest.raises(ConfigError, match="known: "):
        built()[0].refined([], [], "x")


def test_requests_hold_no_text_of_a_later_session():
    _, _, llm = built()
    for seen in asked(llm, "theanine_relation"):
        if seen["b"]["text"] in FACTS[2]:
            assert "found" not in json.dumps(seen) and "another" not in json.dumps(seen)
