"""When a store is refused, what is not on record, and options of single systems."""

import pytest

from tests.memory.hand import Words
from tests.retrieval.boat import CORPUS, QUERIES
from unbidden.errors import ConfigError, NotRecorded
from unbidden.llm import LLMSettings, Outcome, ScriptedLLM, connect
from unbidden.memory import create_system
from unbidden.memory.presets import SETTINGS, all_options, system_options
from unbidden.memory.protocol import CallCount, IngestReport
from unbidden.memory.registry import SYSTEMS
from unbidden.retrieval import Rules, cost_items, retrieve, score_rankings, text_recall_items
from unbidden.retrieval.contract import refusal
from unbidden.retrieval.planned import plan_unrecorded
from unbidden.retrieval.run import NOT_RECORDED


def run(llm, rules, **options):
    return retrieve(
        CORPUS, QUERIES, ["anchormem"], depth=5, rules=rules, llm=llm, embedder=Words(), **options
    )


def test_a_store_is_refused_when_empty_or_when_too_much_failed():
    assert "nothing" in refusal(IngestReport(4, 0), 1.0)
    assert refusal(IngestReport(20, 9, 1), 0.05) is None, "5 % is allowed"
    assert "2 of 20" in refusal(IngestReport(20, 9, 2), 0.05)
    assert refusal(IngestReport(0, 3), 0.0) is None, "a system without units cannot fail any"


def test_a_store_is_refused_when_too_many_answers_are_missing():
    def report(**count):
        return IngestReport(20, 9, calls={"cues": CallCount(20, **count), "extract": CallCount(20)})

    assert refusal(report(failed=2, lost=2), 0.05) is None, "5 % of 40"
    assert "3 of 40 answers" in refusal(report(failed=3, lost=3), 0.05)
    assert refusal(report(failed=20), 0.05) is None, "made again, with an answer"
    assert refusal(report(failed=1, lost=1), 0.0) is not None


def test_failed_units_make_queries_unscored_not_zero():
    broken = ScriptedLLM(lambda seen: Outcome("truncated", "cut off"))
    [strict] = run(broken, Rules())
    assert "failed while storing" in strict.refused["hand"]
    items = score_rankings("hand", [strict], ks=[1])
    assert items["value"].isna().all()
    assert items["unscored"].str.contains("units failed").all()
    words = text_recall_items(CORPUS, [strict], ks=[1])
    assert words["value"].isna().all()
    assert words["unscored"].notna().all()
    costs = cost_items("hand", [strict], ks=[1])
    assert costs["count"].isna().all(), "what was not stored costs nothing that is known"
    [lenient] = run(broken, Rules(max_failed=1.0))
    assert not lenient.refused
    assert score_rankings("hand", [lenient], ks=[1])["value"].notna().all()


def test_calls_that_are_not_on_record_stop_a_run_or_leave_a_conversation_out():
    with connect(LLMSettings.of("nobody"), "replay") as llm:
        with pytest.raises(NotRecorded, match="not recorded"):
            run(llm, Rules())
        [ranking] = run(llm, Rules(unrecorded="unscored"))
        assert ranking.refused == {"hand": NOT_RECORDED}
        assert ranking.hits == [[], []]
        assert not ranking.ingests
        items = score_rankings("hand", [ranking], ks=[1])
        assert set(items["unscored"]) == {NOT_RECORDED}
        plan = plan_unrecorded(CORPUS, [ranking], llm=llm, per_system={}, embedder=Words())
        assert plan.to_dict("records") == [
            {
                "system": "anchormem",
                "conversations": 1,
                "calls": 2,  # two chunks
                "input_tokens": plan["input_tokens"][0],
            }
        ]
        assert plan["input_tokens"][0] > 100


def test_keywords_that_are_not_on_record_leave_every_conversation_out():
    """A-MEM asks for the keywords of all queries before it stores anything."""
    options = {"amem": {"analysis": False, "evolution": False}}
    with connect(LLMSettings.of("nobody"), "replay") as llm:
        [ranking] = retrieve(
            CORPUS,
            QUERIES,
            ["amem"],
            depth=5,
            rules=Rules(unrecorded="unscored"),
            per_system=options,
            llm=llm,
            embedder=Words(),
        )
    assert ranking.refused == {"hand": NOT_RECORDED}


def test_options_of_one_system_go_before_the_settings_and_must_exist():
    assert system_options("memora", "locomo-conv", {})["update_threshold"] == 2.0
    assert system_options("memora", "published", {}) == {}
    own = {"memora": {"update_threshold": 0.5}}
    assert system_options("memora", "locomo-conv", own)["update_threshold"] == 0.5
    assert all_options(["bm25"], "locomo-conv", own) == {"bm25": {}}
    with pytest.raises(ConfigError, match="no option 'k3'"):
        create_system("bm25", own={"k3": 1.0})


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("name", [name for name in SYSTEMS if name != "mem0-package"])
def test_every_system_takes_its_settings(name, settings):
    llm = ScriptedLLM([])
    assert create_system(name, own=system_options(name, settings, {}), llm=llm, embedder=Words())
