"""Composing: members, union gold, seeded samples, and leak repair as the paper does it."""

import pytest

from tests.queries.construction.scripts import CLEAN, answer, faults, rewrite
from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError
from unbidden.llm import ScriptedLLM
from unbidden.queries.construction.composing import compose, repair_leaks, sample_groups, to_cluster
from unbidden.queries.construction.drafting import Draft, Task, draft
from unbidden.queries.construction.rules import Rules

LEAKY = "I want to tell Rui how the red boat was painted blue that spring."
HALF = "I want to tell Rui how the old thing was painted blue that spring."


@pytest.fixture
def talk(write, sample):
    return load_corpus(str(write([sample]))).conversations[0]


@pytest.fixture
def groups(talk):
    return sample_groups(talk)


def test_what_the_composer_sees(talk, groups):
    paper, repaired = ScriptedLLM(answer), ScriptedLLM(answer)
    assert [group.members for group in groups] == [(0, 1)]
    compose(paper, talk, groups, protocol="paper")
    compose(repaired, talk, groups)
    shown = paper.seen[0].messages[1]["content"]
    assert "Memory 2: What happened to the boat" in shown
    assert "(turns D1:1, D1:3, D2:2)" in shown
    assert "I sold" not in shown
    shown = repaired.seen[0].messages[1]["content"]
    assert "Memory 1 (single-hop, a single fact): What did Ana sell? Answer: the red boat" in shown
    assert "[1:56 pm on 8 May, 2023] Ana: Rui painted the boat blue." in shown


def test_union_gold_and_cluster(talk, groups):
    item = compose(ScriptedLLM(answer), talk, groups)[0]
    assert (item.id, item.members, item.category) == ("tiny-1#0+1", (0, 1), None)
    made = to_cluster(talk, item, 0, "repaired")
    assert made.query.text == CLEAN["composed"]
    assert made.query.expected_memory_use == "both"
    assert made.gold_in_file == ("D1:1", "D1:3", "D2:2")
    failed = compose(ScriptedLLM(lambda _: "no"), talk, groups)[0]
    with pytest.raises(ConfigError, match="has no text"):
        to_cluster(talk, failed, 0, "repaired")


def test_samples_are_seeded_and_capped():
    talk = load_corpus("harbour").conversations[0]
    every = sample_groups(talk)
    some = sample_groups(talk, most=7, seed=3)
    assert len(some) == 7
    assert some == sample_groups(talk, most=7, seed=3)
    assert some == [group for group in every if group in some]
    assert some != sample_groups(talk, most=7, seed=4)
    assert sample_groups(talk, most=10_000) == every
    assert {len(group.members) for group in sample_groups(talk, size=3, most=2)} == {3}
    with pytest.raises(ConfigError, match="out of range"):
        sample_groups(talk, most=0)


def test_the_papers_leak_repair(talk, groups):
    script = [
        rewrite("composed", LEAKY),
        rewrite("composed", HALF),
        "no",
        rewrite("composed", LEAKY),
    ]
    llm = ScriptedLLM(script)
    item = compose(llm, talk, groups, protocol="paper")[0]
    assert item.attempts == 4  # the first, and three rounds
    assert item.failures == {"invalid_json": 1}
    assert item.rewrite.text == HALF  # the attempt with the least leak is kept
    assert item.problems == ("leak",)
    # "boat", "painted", "blue" of the answers' words longer than three characters
    assert (item.first_leak, item.leak) == (1.0, 2 / 3)
    shown = [seen.messages[1]["content"] for seen in llm.seen]
    assert "Do not use" not in shown[0]
    assert "hint at what they mean instead: blue, boat, painted" in shown[1]
    assert "hint at what they mean instead: blue, painted" in shown[2]
    assert "hint at what they mean instead: blue, painted" in shown[3]
    assert [seen.repeat for seen in llm.seen] == [0, 1, 2, 3]


def test_repair_stops_when_it_is_enough(talk, groups):
    llm = ScriptedLLM([rewrite("composed", LEAKY), rewrite("composed")])
    item = compose(llm, talk, groups, protocol="paper")[0]
    assert (item.attempts, item.leak, item.problems) == (2, 0.0, ())


def test_the_repaired_protocol_also_mends_cues(talk, groups):
    cue = "Remind me what we did about that thing before the weekend comes round."
    llm = ScriptedLLM([rewrite("composed", cue), rewrite("composed")])
    item = compose(llm, talk, groups)[0]
    assert (item.attempts, item.first_problems, item.problems) == (2, ("cue",), ())
    assert compose(ScriptedLLM([rewrite("composed", cue)]), talk, groups, protocol="paper")[
        0
    ].problems


@pytest.mark.parametrize("style", ["dialog", "implicit", "counterfactual", "composed"])
@pytest.mark.parametrize("measure", ["paper", "repaired"])
def test_leak_repair_of_every_style(style, measure):
    prompt = "compose_query.v1" if style == "composed" else f"rewrite_{style}.v1"
    known = {"speaker_a": "Ana", "speaker_b": "Ben"}
    item = {"question": "What?", "answer": "blue boat", "kind": "a single fact"}
    if style == "implicit":
        item["note"] = ""
    members = {"members": [{"question": "What?", "answer": "blue boat", "evidence": []}]}
    task = Task(
        "c#0",
        style,
        prompt,
        known | (members if style == "composed" else item),
        ("blue boat", "Rui"),
        "What?",
        ("Ana", "Ben"),
    )
    first = draft(
        ScriptedLLM([rewrite(style, "The blue boat of Rui is what I think of all the time")]),
        [task],
        Rules(measure, 1, 0, frozenset({"leak"}), tells=False),
    )
    script = [
        rewrite(style, f"The boat is what I think about all the time, number {n}") for n in "123"
    ]
    llm = ScriptedLLM(script)
    drafts, rules = repair_leaks(llm, first, measure=measure, threshold=0.4, rounds=2)
    assert len(drafts[0].attempts) == 1 + (2 if measure == "paper" else 1)
    best = drafts[0].best(rules)
    assert best.text.endswith("number 1")
    assert drafts[0].leak(best, rules) == (1 / 2 if measure == "paper" else 1 / 3)
    forbidden = llm.seen[0].variables["forbidden"]
    assert forbidden == (["blue", "boat"] if measure == "paper" else ["blue", "boat", "rui"])
    few, _ = repair_leaks(ScriptedLLM(script), first, measure=measure, rounds=1, words=1)
    assert len(few[0].attempts) == 2
    untouched, _ = repair_leaks(ScriptedLLM([]), first, measure=measure, threshold=1)
    assert untouched == first
    assert repair_leaks(ScriptedLLM([]), [])[0] == []
    assert Draft(task).unscored() == "not asked"


@pytest.mark.parametrize("status", faults(rewrite("composed")))
def test_a_failing_call_is_mended_or_unscored(talk, groups, status):
    fault = faults(rewrite("composed"))[status]
    mended = compose(ScriptedLLM([fault, rewrite("composed")]), talk, groups)[0]
    assert (mended.attempts, mended.rewrite.text) == (2, CLEAN["composed"])
    for protocol in ("paper", "repaired"):
        lost = compose(ScriptedLLM(lambda _: fault), talk, groups, protocol=protocol)[0]
        assert lost.rewrite is None
        assert lost.unscored.startswith(status.split(",")[0])
        assert lost.failures == {status.split(",")[0]: 4}


def test_members_without_an_answer_are_unscored(write, sample):
    sample["qa"][1]["answer"] = None
    talk = load_corpus(str(write([sample]))).conversations[0]
    item = compose(ScriptedLLM([]), talk, sample_groups(talk))[0]
    assert item.unscored == "no answer in the file"
