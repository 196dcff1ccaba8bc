"""AnchorMem step by step: windows, facts as anchors, groups, events, reading; and failed calls."""

import datetime as dt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.hand import Words, conversation, texts
from unbidden.corpus import load_corpus
from unbidden.corpus.models import Question
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.schemas_notes import AnchorEvents, AnchorFacts
from unbidden.memory.anchormem import AnchorMem
from unbidden.memory.anchormem.groups import fact_groups
from unbidden.memory.windows import session_windows

WINDOWS = [214, 188, 340, 323, 349, 343, 355, 347, 260, 292]
PIER = "Ana keeps the boat at Long Pier"
TALK = conversation(
    [("Ana", "boat one"), ("Ben", "boat two"), ("Ana", "boat three"), ("Ben", "boat four")],
    [("Ana", "cat"), ("Ben", "dog")],
    [("Ana", "owl")],
    [("Ben", "fox")],
)
# Chunks: D1:1-3, D1:3-4, D2:1-2, D3:1, D4:1
FACTS = {
    "boat one": [PIER + " now", "Ana likes red paint"],
    "boat four": [PIER + " still"],
    "cat": [PIER + " today"],
    "owl": [PIER + " too"],
    "fox": ["Ben saw a fox"],
}


def model(facts=FACTS, events=("The boat lay at Long Pier.",)):
    def answer(seen):
        if seen.prompt_name.startswith("anchormem_events"):
            return (
                events if isinstance(events, str | Outcome) else AnchorEvents(events=list(events))
            )
        said = next(word for word in facts if f'"{word}"' in seen.variables["chunk"])
        found = facts[said]
        return AnchorFacts(facts=found) if isinstance(found, list) else found

    return ScriptedLLM(answer)


def built(llm, talk=TALK, **options):
    system = AnchorMem(llm=llm, embedder=Words(), **options)
    return system, system.ingest(talk)


def asked(llm, prompt):
    return [seen.variables for seen in llm.seen if seen.prompt_name.startswith(prompt)]


def chunk_ids(system):
    return [record.sources for record in system.stores()[0]]


def test_windows_are_three_turns_that_share_one():
    windows = [w.ids for session in TALK.sessions for w in session_windows(session)]
    assert windows[:2] == [("D1:1", "D1:2", "D1:3"), ("D1:3", "D1:4")]
    assert windows[2:] == [("D2:1", "D2:2"), ("D3:1",), ("D4:1",)]
    text = session_windows(TALK.sessions[0])[1].text
    assert text == 'DATE: 1:00 pm on 1 May, 2023\nAna said, "boat three"\nBen said, "boat four"'


def test_an_odd_session_ends_in_a_turn_it_has_already():
    session = conversation([("Ana", w, "a pier") for w in "abcde"]).sessions[0]
    assert [w.ids[-1] for w in session_windows(session)] == ["D1:3", "D1:5", "D1:5"]
    assert session_windows(session)[2].text.endswith('Ana said, "e" and shared a pier.')
    repaired = session_windows(session, protocol="repaired")[2]
    assert repaired.text == "Ana, 1 May 2023: e [image: a pier]"


@given(st.integers(1, 30), st.integers(1, 5), st.integers(0, 4))
def test_every_turn_is_in_a_window(turns, size, overlap):
    session = conversation([("Ana", str(i)) for i in range(turns)]).sessions[0]
    if overlap >= size:
        with pytest.raises(ConfigError, match="overlap"):
            session_windows(session, size=size, overlap=overlap)
        return
    windows = session_windows(session, size=size, overlap=overlap)
    assert {t for w in windows for t in w.ids} == {t.id for t in session.turns}
    assert len(windows) == -(-turns // (size - overlap))


@pytest.mark.realdata
def test_locomo_has_as_many_windows_as_the_committed_run(real_data):
    found = [
        sum(len(session_windows(session)) for session in talk.sessions)
        for talk in load_corpus("locomo").conversations
    ]
    assert found == WINDOWS
    assert sum(found) == 3_011


def test_each_chunk_and_each_group_is_asked_once():
    llm = model()
    _, report = built(llm)
    assert [seen.prompt_name for seen in llm.seen] == ["anchormem_facts.v1"] * 5 + [
        "anchormem_events.v1"
    ]
    assert (report.units, report.failed) == (6, 0)
    assert report.memories == 5 + 6 + 1
    assert report.events["windows"] == 5 and report.events["groups"] == 1
    assert report.events["unreachable_chunks"] == 0
    (call,) = asked(llm, "anchormem_events")
    assert call["facts"] == [PIER + " now", PIER + " still", PIER + " today", PIER + " too"]
    # The main fact's own chunk is not shown, the supporting facts' chunks are.
    assert ['"boat one"' in chunk for chunk in call["chunks"]] == [False] * 3
    keys = [seen.key for seen in llm.seen]
    again = model()
    built(again)
    assert [seen.key for seen in again.seen] == keys


def test_the_chunk_of_an_anchored_fact_is_returned_raw():
    system, _ = built(model(), use_events=False)
    hits = system.search("Ana likes red paint", k=2)
    assert hits[0].sources == ("D1:1", "D1:2", "D1:3")
    assert hits[0].text.startswith("DATE: 1:00 pm on 1 May, 2023\nAna said")
    assert "red paint" not in hits[0].text
    assert hits[0].time == dt.datetime(2023, 5, 1, 13)
    assert hits[0].score == 1
    assert len(system.search("Long Pier", k=9)) == 5, "each chunk once"


def test_k_memories_though_one_chunk_has_many_facts():
    facts = FACTS | {"boat one": [f"Ben saw a fox number {i}" for i in range(9)]}
    system, _ = built(model(facts), use_events=False)
    assert [hit.sources[-1] for hit in system.search("Ben saw a fox", k=2)] == ["D4:1", "D1:3"]
    assert len(system.search("Ben saw a fox", k=4)) == 4


def test_paper_mode_gives_the_chunks_of_the_best_facts_then_events():
    system, _ = built(model(), mode="paper", top_facts=2, top_events=1)
    hits = system.search("Ben saw a fox boat", k=10)
    assert hits[0].sources == ("D4:1",)
    assert len(hits) == 3 and hits[2].text == "The boat lay at Long Pier."
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len(system.search("Ben saw a fox boat", k=2)) == 2


def test_an_event_comes_from_all_its_facts():
    system, _ = built(model())
    (event,) = system.stores()[2]
    assert set(event.sources) == {t for ids in chunk_ids(system)[:4] for t in ids}
    assert event.links == ("fact1", "fact3", "fact4", "fact5")
    assert event.time is None, "it spans sessions"
    best = system.search("boat lay at Long Pier", k=5)
    assert event.text in texts(best)


def test_the_main_chunk_can_be_shown():
    llm = model()
    built(llm, include_main_chunk=True)
    assert '"boat one"' in asked(llm, "anchormem_events")[0]["chunks"][0]


def test_equal_sentences_are_one_fact_of_two_chunks():
    facts = FACTS | {"owl": [PIER + "  now"]}
    system, _ = built(model(facts), use_events=False)
    fact = next(iter(system.stores()[1]))
    assert fact.links == ("chunk1", "chunk4")
    assert fact.sources == ("D1:1", "D1:2", "D1:3", "D3:1")
    hits = system.search(PIER + " now", k=2)
    assert [hit.sources[0] for hit in hits] == ["D1:1", "D3:1"]


def test_identical_chunks_unite_their_turns():
    twice = conversation([("Ana", "hey"), ("Ana", "hey"), ("Ana", "hey"), ("Ana", "hey")])
    system, report = built(
        model({"hey": ["Ana said hey"]}), twice, chunk_size=1, overlap=0, use_events=False
    )
    assert chunk_ids(system) == [("D1:1", "D1:2", "D1:3", "D1:4")]
    assert (report.units, report.events["windows"]) == (1, 4)


@pytest.mark.parametrize(
    "bad",
    ['{"facts": ["Ana', '{"facts": "Ana has a boat"}', '["Ana has a boat"]', "{}", "Sure!",
     '{"facts": [1]}', Outcome("truncated", "cut"), Outcome("http_error", "500")],
)  # fmt: skip
def test_a_chunk_that_cannot_be_read_is_kept_and_reported(bad):
    system, report = built(model(FACTS | {"boat one": bad}))
    assert report.failed == 1
    assert report.failures[0].unit == "chunk D1:1 to D1:3"
    assert report.failures[0].turns == ("D1:1", "D1:2", "D1:3")
    assert report.events["unreachable_chunks"] == 1
    assert len(chunk_ids(system)) == 5
    assert all(hit.sources[0] != "D1:1" for hit in system.search("boat one", k=9))


@pytest.mark.parametrize("bad", ['{"events": "x"}', "(x)", "", Outcome("truncated", "cut")])
def test_a_group_that_cannot_be_told_is_asked_again_then_reported(bad):
    llm = model(events=bad)
    system, report = built(llm)
    assert [s.repeat for s in llm.seen if s.prompt_name.startswith("anchormem_e")] == [0, 1]
    assert report.failed == 1 and report.failures[0].unit == "group of fact1"
    assert len(system.stores()[2]) == 0
    assert len(system.search("Long Pier", k=9)) == 5
    llm = model(events=bad)
    built(llm, retry_failed_groups=0)
    assert len(asked(llm, "anchormem_events")) == 1


def test_facts_too_short_or_without_a_name_are_counted():
    facts = FACTS | {"fox": ["ok", " ", "Ben saw a fox", "Nobody came to dinner"]}
    _, report = built(model(facts), require_speaker=True)
    assert report.events["short_facts"] == 2 and report.events["facts_without_speaker"] == 1
    system, report = built(model(facts), min_fact_words=1)
    assert report.events["short_facts"] == 1
    assert "ok" in [record.text for record in system.stores()[1]]


@pytest.mark.parametrize("count", [0, 1])
def test_no_fact_and_one_fact(count):
    facts = {key: [] for key in FACTS} | {"fox": ["Ben saw a fox"] * count}
    system, report = built(model(facts))
    hits = system.search("fox", k=5)
    assert [hit.score for hit in hits] == [1.0] * count
    assert report.events["unreachable_chunks"] == 5 - count


def test_dates_are_asked_for_only_by_the_switch():
    for switch in (False, True):
        llm = model()
        built(llm, resolve_dates=switch)
        user = llm.seen[0].messages[1]["content"]
        assert ("Work out" in user) is switch


def test_the_released_event_parser_finds_what_is_in_brackets():
    system, report = built(model(events=["Ana (and Ben) met."]), event_parser="parens")
    assert [record.text for record in system.stores()[2]] == ["and Ben"]
    system, _ = built(model(), event_parser="parens")
    assert len(system.stores()[2]) == 0 and report.failed == 0


def test_only_cited_sessions_is_a_leak_that_must_be_asked_for():
    from dataclasses import replace

    talk = replace(TALK, questions=(Question(0, "?", 4, ("D2:1; D4:1",)),))
    _, report = built(model(), talk)
    assert report.events["windows"] == 5
    _, report = built(model(), talk, only_referenced=True)
    assert (report.events["windows"], report.events["sessions_left_out"]) == (2, 2)


@pytest.mark.parametrize("rank", ["best_fact", "sum", "arbitrary"])
def test_chunk_ranks(rank):
    facts = {"boat one": ["a b c d", "a b c e"], "boat four": ["a b f g"], "cat": ["a b c f"]}
    facts |= {"owl": ["x y z w"], "fox": ["x y z v"]}
    system, _ = built(model(facts), use_events=False, chunk_rank=rank, mode="paper", top_facts=3)
    hits = system.search("a b c f", k=9)
    assert {hit.sources[0] for hit in hits} == {"D2:1", "D1:1"}
    if rank == "best_fact":
        assert hits[0].sources[0] == "D2:1"
    if rank == "sum":
        assert (hits[0].sources[0], hits[0].score) == ("D1:1", 1)
    if rank == "arbitrary":
        assert [hit.score for hit in hits] == [1, 1]


def grouped(vectors, chunks, **options):
    rows = np.array(vectors, np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return [(g.main, g.support) for g in fact_groups(rows, chunks, **options)]


def test_groups_by_hand():
    same = [[1, 0], [1, 0.1], [1, 0.2], [0, 1]]
    assert grouped(same, "abcd") == [(1, (2, 0))], "closest to the others, and closest first"
    assert grouped(same, "aaad") == [], "only facts of other chunks support"
    assert grouped(same, "abbd") == [(0, (1,))], "one of each chunk"
    assert grouped(same, "abcd", top_k=1) == [(1, (2,))]
    assert grouped([[1, 0], [1, 0]], "ab", threshold=1.0) == [], "the threshold is strict"
    assert grouped([[1, 0]], "a") == grouped(np.zeros((0, 2)), "") == []


def test_a_later_group_needs_three_new_facts():
    blocks = [[1, 0, 0]] * 4 + [[0, 1, 0]] * 3 + [[0, 0, 1]] * 2
    chunks = "abcdefghi"
    assert grouped(blocks, chunks) == [(0, (1, 2, 3)), (4, (5, 6))]
    assert len(grouped(blocks, chunks, min_new=2)) == 3
    assert len(grouped(blocks[-2:], "hi")) == 1, "a pair survives as the first"


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abcd")), min_size=2, max_size=20))
def test_groups_keep_their_rules(items):
    angles = np.array([angle for angle, _ in items]) * 0.3
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    chunks = [chunk for _, chunk in items]
    groups = fact_groups(vectors, chunks)
    for i, group in enumerate(groups):
        assert 1 <= len(group.support) <= 3
        assert len({chunks[j] for j in group.members}) == len(group.members)
        assert all(vectors[group.main] @ vectors[j] > 0.85 - 1e-5 for j in group.support)
        assert all(len(group.members - earlier.members) >= 3 for earlier in groups[:i])


def test_parameters_out_of_range():
    for option in ({"mode": "x"}, {"chunk_rank": "x"}, {"event_parser": "x"}, {"protocol": "x"}):
        with pytest.raises(ConfigError, match="known: "):
            AnchorMem(llm=ScriptedLLM([]), embedder=Words(), **option)
    with pytest.raises(ConfigError, match="cannot be grouped"):
        grouped([[1, 0], [1, 0]], "ab", top_k=0)
