"""Whole constructions: nothing lost, nothing leaked, nothing read from released queries."""

import json
import random
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.queries.construction.scripts import CLEAN, VERDICTS, answer, faults, rewrite, style_of
from unbidden.corpus import load_corpus
from unbidden.errors import BudgetExceeded, ConfigError
from unbidden.llm import LLMSettings, Outcome, PromptLibrary, ScriptedLLM, Usage, connect
from unbidden.queries.build import build_queries
from unbidden.queries.construction.building import (
    WRITTEN_STYLES,
    BuildOptions,
    construct,
    sample_questions,
)
from unbidden.queries.construction.checking import plain
from unbidden.queries.construction.rules import Rules

ONE = BuildOptions()


@pytest.fixture
def corpus(write, sample):
    return load_corpus(str(write([sample])))


def rates(made, style):
    return next(row for row in made.report.rates if row["style"] == style)


def test_a_whole_construction(corpus):
    llm = ScriptedLLM(answer)
    made = construct(llm, corpus, second=llm)
    assert [item.written.id for item in made.items] == [
        *[f"tiny-1#{n}" for n in (0, 1, 2, 3, 4)],
        *[f"tiny-1#{n}" for n in (0, 1, 2, 3, 4)],
        *[f"tiny-1#{n}" for n in (0, 1, 2, 3)],
        "tiny-1#0+1",
    ]
    assert all(item.kept for item in made.items)
    questions = made.corpus.conversations[0].questions
    assert {len(question.rewrites) for question in questions[:4]} == {3}
    assert set(questions[4].rewrites) == {"dialog", "implicit"}
    assert questions[0].rewrites["dialog"].naturalness == "low"
    assert [cluster.members for cluster in made.corpus.clusters] == [(0, 1)]
    styles = [query.style for query in build_queries(made.corpus)]
    assert {style: styles.count(style) for style in styles} == {
        "question": 5,
        "dialog": 5,
        "implicit": 5,
        "counterfactual": 4,
        "composed": 1,
    }
    row = rates(made, "dialog")
    assert (row["asked"], row["written"], row["judged"], row["not_applicable"]) == (5, 5, 4, 1)
    assert (row["pass_rate"], row["kept"], row["attempts"]) == (1, 5, 5)
    calls = {row["prompt"]: row["calls"] for row in made.report.calls}
    assert calls == {
        "rewrite_dialog_repaired.v1": 5,
        "rewrite_implicit_repaired.v1": 5,
        "rewrite_counterfactual_repaired.v1": 4,
        "compose_query_repaired.v1": 1,
        "validate_dialog.v1": 4,
        "validate_implicit.v1": 4,
        "validate_implicit_adversarial.v1": 1,
        "validate_counterfactual.v1": 4,
        "validate_composed.v1": 1,
        "validate_brief.v1": 14,
    }
    assert len(llm.seen) == 43
    json.dumps(made.report.as_dict())
    assert list(made.report.frame("agreement")["style"]) == [*WRITTEN_STYLES, "all"]


@pytest.mark.parametrize("protocol", ["paper", "repaired"])
def test_released_queries_are_never_used(write, sample, cluster, tmp_path, protocol):
    write([sample], "set/locomo10_dialog.json")
    write([cluster], "set/locomo10_multimem_full.json")
    full = load_corpus(str(tmp_path / "set"))
    assert full.clusters
    for name in list(sample["qa"][0]):
        if "query" in name or name in ("expected_memory_use", "asserted_wrong"):
            del sample["qa"][0][name]
    bare = load_corpus(str(write([sample], "bare.json")))
    options = BuildOptions(protocol=protocol)
    with_, without = ScriptedLLM(answer), ScriptedLLM(answer)
    one, two = construct(with_, full, options), construct(without, bare, options)
    assert [seen.key for seen in with_.seen] == [seen.key for seen in without.seen]
    assert one.items == two.items
    assert one.corpus.conversations == two.corpus.conversations
    assert one.corpus.clusters == two.corpus.clusters
    assert "mooring" not in json.dumps([seen.messages for seen in with_.seen])


def test_paper_protocol_passes_the_reason_on(corpus):
    llm = ScriptedLLM(answer)
    construct(llm, corpus, BuildOptions(protocol="paper"))
    implicit = [seen for seen in llm.seen if seen.prompt_name == "rewrite_implicit.v1"]
    assert len(implicit) == 5
    assert all("rarely asked" in seen.messages[1]["content"] for seen in implicit)
    assert {s.prompt_name for s in llm.seen if "repaired" in s.prompt_name} == set()


def test_what_does_not_pass_is_left_out_and_counted(corpus):
    def odd(seen):
        if seen.prompt_name == "validate_implicit.v1" and "Ana rich" in seen.variables["question"]:
            return json.dumps({"verdict": "no", "reason": "x"})
        if seen.prompt_name == "validate_composed.v1":
            return Outcome("refused", "no")
        if "rewrite_dialog" in seen.prompt_name and "Ben start" in seen.variables["question"]:
            return rewrite("dialog", "Was it in 2023 that I started there?")
        return answer(seen)

    made = construct(ScriptedLLM(odd), corpus)
    questions = made.corpus.conversations[0].questions
    assert set(questions[2].rewrites) == {"implicit", "counterfactual"}
    assert set(questions[3].rewrites) == {"dialog", "counterfactual"}
    assert made.corpus.clusters == ()
    assert len(made.items) == 15  # all are still there
    assert rates(made, "implicit")["pass_rate"] == 4 / 5
    composed = rates(made, "composed")
    assert (composed["no_verdict"], composed["judged"], composed["pass_rate"]) == (1, 0, None)
    assert {"style": "composed", "step": "judge", "reason": "refused: no", "count": 1} in (
        made.report.failures
    )
    dialog = rates(made, "dialog")
    assert (dialog["first_clean"], dialog["clean"], dialog["attempts"]) == (4, 4, 8)
    assert {"style": "dialog", "problem": "gold", "first": 1, "left": 1} in made.report.problems
    assert {"style": "dialog", "attempts": 4, "count": 1} in made.report.attempts

    everything = construct(ScriptedLLM(odd), corpus, BuildOptions(filtered=False))
    assert len(everything.corpus.clusters) == 1
    assert all(question.rewrites for question in everything.corpus.conversations[0].questions)
    unjudged = BuildOptions(validated=False, filtered=False)
    llm = ScriptedLLM(odd)
    made = construct(llm, corpus, unjudged)
    assert not [seen for seen in llm.seen if seen.prompt_name in VERDICTS]
    assert rates(made, "all")["no_verdict"] == 15


@pytest.mark.parametrize("protocol", ["paper", "repaired"])
@settings(
    max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(seed=st.integers(0, 10_000), share=st.sampled_from([0.1, 0.5, 1.0]))
def test_nothing_is_lost_whatever_fails(corpus, protocol, seed, share):
    random_ = random.Random(seed)

    def broken(seen):
        good = answer(seen)
        if random_.random() >= share:
            return good
        kinds = list(faults(good).values())
        return random_.choice([*kinds, Outcome("timeout", "slow")])

    llm = ScriptedLLM(broken)
    made = construct(llm, corpus, BuildOptions(protocol=protocol), second=llm)
    assert len(made.items) == 15
    assert len({(item.written.style, item.written.id) for item in made.items}) == 15
    for row in made.report.rates:
        assert row["asked"] == row["written"] + row["unscored"]
        assert row["written"] == row["judged"] + row["not_applicable"] + row["no_verdict"]
        assert row["kept"] <= row["written"]
    for item in made.items:
        assert (item.written.rewrite is None) == (item.written.unscored is not None)
        assert item.kept <= (item.written.rewrite is not None)
    every = rates(made, "all")
    reported = sum(row["count"] for row in made.report.failures if row["step"] == "not written")
    assert reported == every["unscored"]
    lost = sum(row["count"] for row in made.report.failures if row["step"] == "judge")
    assert lost == every["no_verdict"] + every["not_applicable"]
    assert sum(row["calls"] for row in made.report.calls) == len({s.key for s in llm.seen})
    built = made.corpus.conversations[0]
    assert (
        sum(len(question.rewrites) for question in built.questions) + len(made.corpus.clusters)
        == every["kept"]
    )


WORDS = [
    *("the red boat", "Red boat", "it was painted blue", "2023", "Ana", "Remember", "unknown"),
    *("I", "think", "of", "nothing", "much", "and", "want", "a", "slow", "day", "blue", "boat"),
]


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), min_size=1, max_size=9))
def test_no_whole_gold_answer_in_what_passed(corpus, texts):
    turn = iter(range(10_000))

    def writer(seen):
        if seen.prompt_name in VERDICTS:
            return answer(seen)
        return rewrite(style_of(seen.prompt_name), " ".join(texts[next(turn) % len(texts)]))

    made = construct(ScriptedLLM(writer), corpus)
    questions = corpus.conversations[0].questions
    for item in made.items:
        if item.written.style == "counterfactual" or not item.kept:
            continue
        held = plain(item.written.rewrite.text)
        for member in item.written.members:
            gold = plain(questions[member].answer or "")
            if len(gold) >= 3:
                assert not re.search(rf"(?<!\w){re.escape(gold)}(?!\w)", held)


def test_order_is_fixed_over_many_conversations(write, sample):
    other = json.loads(json.dumps(sample)) | {"sample_id": "tiny-2"}
    corpus = load_corpus(str(write([sample, other])))
    keys = []
    for _ in range(2):
        llm = ScriptedLLM(answer)
        made = construct(llm, corpus)
        keys.append([seen.key for seen in llm.seen])
    assert keys[0] == keys[1]
    assert [item.written.conversation for item in made.items] == ["tiny-1"] * 15 + ["tiny-2"] * 15
    assert [cluster.name for cluster in made.corpus.clusters] == ["tiny-1_C0", "tiny-2_C0"]
    assert rates(made, "all")["asked"] == 30
    # The same request for both conversations is one call.
    assert sum(row["calls"] for row in made.report.calls) == len(set(keys[0]))


def test_samples_of_questions_are_nested_and_hold_every_category():
    talk = load_corpus("harbour").conversations[1]
    five = sample_questions(talk, 5)
    assert sorted(talk.questions[n].category for n in five) == [1, 2, 3, 4, 5]
    assert set(five) < set(sample_questions(talk, 12)) < set(sample_questions(talk, None))
    assert sample_questions(talk, None) == list(range(len(talk.questions)))
    assert five != sample_questions(talk, 5, seed=1)


def test_options(corpus):
    llm = ScriptedLLM(answer)
    options = BuildOptions(
        styles=["implicit"],
        questions=2,
        rules={"implicit": Rules("repaired", 1, 0, frozenset())},
    )
    made = construct(llm, corpus, options)
    assert [item.written.style for item in made.items] == ["implicit"] * 2
    for wrong in (
        {"styles": ["question"]},
        {"questions": 0},
        {"validated": False},
        {"groups": 0},
        {"protocol": "papre"},
    ):
        with pytest.raises(ConfigError):
            construct(llm, corpus, BuildOptions(**wrong))


def test_calls_count_tokens_and_seconds_once(corpus):
    def counted(seen):
        value = PromptLibrary().get(seen.prompt_name).schema.model_validate_json(answer(seen))
        return Outcome("ok", value=value, usage=Usage(10, None), seconds=0.5, key=seen.key)

    llm = ScriptedLLM(counted)
    made = construct(llm, corpus, BuildOptions(styles=["composed"]), second=ScriptedLLM(counted))
    assert [(row["prompt"], row["calls"]) for row in made.report.calls] == [
        ("compose_query_repaired.v1", 1),
        ("validate_composed.v1", 1),
        ("validate_brief.v1", 1),
    ]
    assert {row["input_tokens"] for row in made.report.calls} == {10}
    assert {row["output_tokens"] for row in made.report.calls} == {0}
    assert {row["uncounted"] for row in made.report.calls} == {1}
    assert made.report.calls[0]["seconds"] == 0.5


def test_a_stopped_build_goes_on(corpus, tmp_path, monkeypatch):
    """Through a real client: what was answered is not asked again."""
    from unbidden.llm.asker import Asker
    from unbidden.llm.parse import Reply
    from unbidden.llm.transport import Sent

    asked = []

    async def send(self, request):
        if limit is not None and len(asked) >= limit:
            raise BudgetExceeded("enough")
        asked.append(request.key)
        schema = request.body["response_format"]["json_schema"]["name"]
        return Sent(Reply("ok", "", replies[schema], Usage(5, 2), {}), 1, 0.01, 200)

    replies = {
        "DialogRewrite": rewrite("dialog"),
        "ImplicitRewrite": rewrite("implicit"),
        "CounterfactualRewrite": rewrite("counterfactual"),
        "ComposedQuery": rewrite("composed"),
        "RewriteVerdict": json.dumps(VERDICTS["validate_dialog.v1"]),
        "CounterfactualVerdict": json.dumps(VERDICTS["validate_counterfactual.v1"]),
        "ComposedVerdict": json.dumps(VERDICTS["validate_composed.v1"]),
    }
    monkeypatch.setattr(Asker, "_send", send)
    settings_ = LLMSettings.of("m", base_url="http://127.0.0.1:9/v1", concurrency=1)

    def build():
        with connect(settings_, "record", ledger=tmp_path / "l.sqlite") as llm:
            return construct(llm, corpus)

    limit = 9
    with pytest.raises(BudgetExceeded):
        build()
    assert len(asked) == 9
    limit = None
    made = build()
    assert len(asked) == len(set(asked)) == 29
    assert rates(made, "all")["kept"] == 15
    again = build()
    assert len(asked) == 29
    assert again.report == made.report
    assert CLEAN["dialog"] in str(made.corpus)
    assert Path(tmp_path / "l.sqlite").is_file()
