"""A model-built system asks an endpoint once for each unit, and never again with the ledger."""

import json

import pytest
from werkzeug import Response

from tests.memory.hand import Words, conversation
from unbidden.errors import BudgetExceeded, ConfigError
from unbidden.llm import Budget, LLMSettings, connect
from unbidden.llm.session import PlanningLLM
from unbidden.memory import create_system

TALK = conversation(
    [("Ana", "I bought a red boat."), ("Ben", "I like cats."), ("Ana", "Rui came along.")],
    [("Ana", "I painted the boat blue."), ("Ben", "Good for you.")],
)
ANSWERS = {
    "SessionFacts": {"facts": ["Ana has a red boat", "Ben likes cats"]},
    "NumberedDecisions": {"decisions": [{"memory": 0, "label": "REPLACE"}]},
    "PairDecision": {"reason": "other things", "label": "APPEND"},
    "Memo": {"topics": [{"topic": "boat", "summary": "A boat.", "start": 1, "end": 2}]},
    "ChosenNumbers": {"numbers": [2, 1]},
    "Compressed": {"person": "Ana has a boat.", "relationship": "Friends.", "events": "A trip."},
    "FactTexts": {"facts": ["Ana has a red boat", "Ben likes cats"]},
    "MemoryActions": {
        "memory": [
            {"id": "0", "text": "Ana has a boat", "event": "UPDATE", "old_memory": "x"},
            {"id": "9", "text": "Ben likes cats", "event": "ADD", "old_memory": None},
        ]
    },
    "FactOperation": {"operation": "UPDATE", "id": "0", "text": "Ana has a blue boat"},
    "AddedMemories": {
        "memory": [{"text": "Ana has a boat", "attributed_to": "user", "linked_memory_ids": ["0"]}]
    },
    "Episodes": {
        "episodes": [{"topic": "boat", "indices": [1]}, {"topic": "b", "indices": [2, 3]}]
    },
    "Entries": {
        "entries": [
            {"index": "Ana red boat", "value": "Ana has a red boat."},
            {"index": "Ana red boat paint", "value": "It is blue."},
        ]
    },
    "Cues": {"results": [{"memory_index": "Ana red boat", "cue_indices": ["sea trips"]}]},
    "UpdateDecision": {
        "should_update": True,
        "best_candidate_index": 0,
        "updated_index": "Ana boat",
        "updated_value": "Ana has a blue boat.",
    },
    "RelationLabel": {"relation": "Changed"},
    "WindowCues": {
        "lines": [
            {
                "line": 1,
                "who": "Ana",
                "occasion": "a day by the sea",
                "consequence": "she can sail",
                "need": "a berth",
                "because_of": None,
            }
        ]
    },
    "RefinedTimeline": {"memory": "Ana's boat is blue now."},
    "NoteAnalysis": {"keywords": ["boat"], "context": "They talk of a boat.", "tags": ["sea"]},
    "NoteEvolution": {
        "should_evolve": True,
        "actions": ["strengthen", "update_neighbor"],
        "suggested_connections": [0],
        "tags_to_update": ["boats"],
        "new_context_neighborhood": ["A boat comes up again."],
        "new_tags_neighborhood": [["boats", "again"]],
    },
    "QueryKeywords": {"keywords": "red, boat"},
    "AnchorFacts": {"facts": ["Ana has a red boat", "Ben likes cats"]},
    "AnchorEvents": {"events": ["Ana bought a red boat and painted it blue."]},
    "Segmentation": {
        "episodes": [{"indices": [1, 2], "topic": "boat"}, {"indices": [3], "topic": "Rui"}]
    },
    "EpisodeText": {"title": "A boat", "content": "Ana has a red boat.", "timestamp": ""},
    "MergeDecision": {"decision": "merge", "merge_target_id": "episode1", "reason": "one boat"},
    "Statements": {"statements": ["Ana has a red boat"]},
    "PolicyStep": {"reason": "", "action": "STOP", "frontier_ids": [], "new_query": None},
}


@pytest.fixture
def endpoint(httpserver):
    """Return the base URL of a model that answers by schema, and the requests it got."""
    asked = []

    def chat(request):
        body = request.get_json()
        asked.append(body)
        form = body.get("response_format", {}).get("json_schema", {}).get("name")
        text = json.dumps(ANSWERS[form]) if form else "They talk."
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 5, "completion_tokens": 2}
        body = json.dumps({"choices": [choice], "usage": usage})
        return Response(body, mimetype="application/json")

    httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(chat)
    return httpserver.url_for("/v1"), asked


SYSTEMS = pytest.mark.parametrize(
    ("name", "options"),
    [
        ("msc-retrieval", {}),
        ("all-memories", {}),
        ("memory-update", {}),
        ("memory-update", {"candidates": None, "per_call": "pair"}),
        ("rsum", {}),
        ("rsum", {"form": "sentences"}),
        ("memochat", {"pad": "embedding"}),
        ("comedy", {}),
        ("comedy", {"form": "parts", "sessions_per_call": 1}),
        ("mem0", {"variant": "paper"}),
        ("mem0", {"variant": "oss1"}),
        ("mem0-v2", {}),
        ("amem", {}),
        ("anchormem", {}),
        ("nemori", {"segment_min": 2, "episode_min": 1}),
        ("memora", {"policy": "prompted", "query_floor": 0.0}),
        ("theanine", {"refine_mode": "per_timeline"}),
        ("unbidden-llm", {"window": 2, "context": 1}),
    ],
)
REACHED = {
    "amem": {"amem_analyse.v1": 5, "amem_evolve.v1": 5},
    "anchormem": {"anchormem_facts.v1": 3, "anchormem_events.v1": 2},
    "nemori": {
        "nemori_segment.v1": 2,
        "nemori_episode.v1": 3,
        "nemori_merge_check.v1": 2,
        "nemori_merge.v1": 1,
        "nemori_extract.v1": 1,
        "nemori_predict.v1": 2,
        "nemori_compare.v1": 2,
    },
}
"""Calls that must be among those tried below, by prompt: no stage is left out."""


@SYSTEMS
def test_each_call_is_made_once_and_replay_needs_no_endpoint(
    name, options, endpoint, tmp_path, monkeypatch
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    url, asked = endpoint
    found, made = [], []
    for mode, address in (("record", url), ("record", url), ("replay", "http://127.0.0.1:9/v1")):
        settings = LLMSettings.of("m", base_url=address)
        with connect(settings, mode, ledger=tmp_path / "calls.sqlite") as llm:
            system = create_system(name, llm=llm, embedder=Words(), **options)
            report = system.ingest(TALK)
            hits = system.search("the red boat of Ana", k=10, speaker="Ana")
            found.append((report.units, report.failed, report.events, hits))
            made.append(len(asked))
    assert found[0] == found[1] == found[2]
    assert made[0] == made[1] == made[2] > 0
    assert found[0][1] == 0 and found[0][3]
    assert len({json.dumps(body, sort_keys=True) for body in asked}) == len(asked)
    assert sum(count.uncounted for count in report.calls.values()) == 0
    counts = {prompt: count.calls for prompt, count in report.calls.items()}
    assert counts == REACHED.get(name, counts)


@SYSTEMS
def test_what_was_interrupted_goes_on_with_the_calls_that_are_left(
    name, options, endpoint, tmp_path, monkeypatch
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    url, asked = endpoint

    def ingest(ledger, budget=None):
        settings = LLMSettings.of("m", base_url=url)
        with connect(settings, "record", ledger=tmp_path / ledger, budget=budget) as llm:
            system = create_system(name, llm=llm, embedder=Words(), **options)
            report = system.ingest(TALK)
            return report.units, report.failed, report.events, system.records()

    whole = ingest("whole.sqlite")
    wanted = [json.dumps(body, sort_keys=True) for body in asked]
    for made in sorted({1, len(wanted) // 2, len(wanted) - 1} - {0}):
        asked.clear()
        with pytest.raises(BudgetExceeded):
            ingest(f"{made}.sqlite", Budget(calls=made))
        assert len(asked) == made
        assert ingest(f"{made}.sqlite") == whole
        assert sorted(json.dumps(body, sort_keys=True) for body in asked) == sorted(wanted)
    assert len(set(wanted)) == len(wanted) > 1


def test_one_system_may_have_a_model_of_its_own(endpoint, tmp_path, monkeypatch):
    """In the key too: its calls replay under that name alone, and plans count them so."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    url, asked = endpoint
    ledger = tmp_path / "calls.sqlite"
    own = LLMSettings.of("m", base_url=url, systems={"mem0-v2": "small"})
    with connect(own, "record", ledger=ledger) as llm:
        create_system("mem0-v2", llm=llm, embedder=Words()).ingest(TALK)
        made = len(asked)
        create_system("msc-retrieval", llm=llm, embedder=Words()).ingest(TALK)
    assert {body["model"] for body in asked[:made]} == {"small"}
    assert {body["model"] for body in asked[made:]} == {"m"}
    with connect(own, "replay", ledger=ledger) as llm:
        assert create_system("mem0-v2", llm=llm, embedder=Words()).ingest(TALK).failed == 0
        planning = PlanningLLM(llm)
        create_system("mem0-v2", llm=planning, embedder=Words()).ingest(TALK)
        assert (planning.plan().to_ask, len(planning.answered())) == (0, made)
    with connect(LLMSettings.of("m", base_url=url), "replay", ledger=ledger) as llm:
        planning = PlanningLLM(llm)
        create_system("mem0-v2", llm=planning, embedder=Words()).ingest(TALK)
        assert planning.plan().to_ask > 0


def test_a_served_model_never_answers_under_another_name(endpoint, tmp_path, monkeypatch):
    """What is on record under another name still counts; nothing is asked under it."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    url, asked = endpoint
    ledger = tmp_path / "calls.sqlite"
    with connect(LLMSettings.of("m", base_url=url), "record", ledger=ledger) as llm:
        create_system("msc-retrieval", llm=llm, embedder=Words()).ingest(TALK)
    made = len(asked)
    settings = LLMSettings.of("m", base_url=url, serves="small", systems={"mem0-v2": "small"})
    with connect(settings, "record", ledger=ledger) as llm:
        create_system("msc-retrieval", llm=llm, embedder=Words()).ingest(TALK)
        assert len(asked) == made
        with pytest.raises(ConfigError, match="under the name of another"):
            create_system("theanine", llm=llm, embedder=Words()).ingest(TALK)
        assert len(asked) == made
        create_system("mem0-v2", llm=llm, embedder=Words()).ingest(TALK)
    assert {body["model"] for body in asked[made:]} == {"small"}
