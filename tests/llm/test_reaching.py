"""An endpoint that has gone away: a run stops with an error instead of ending without scores."""

import json

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from tests.judge.conftest import make_case
from unbidden.config import RepliesConfig
from unbidden.corpus import load_corpus
from unbidden.errors import LLMError
from unbidden.judge import rubric
from unbidden.judge.asking import judge
from unbidden.judge.teafarm_agents import judge_talk
from unbidden.llm import LLMSettings, Outcome, connect
from unbidden.llm.reaching import reached
from unbidden.llm.session import open_llm
from unbidden.memory import create_system
from unbidden.reply.replaying import NO_MEMORY
from unbidden.reply.teafarm import TeaReply, items_of
from unbidden.reply.teafarm.agents import Limits, agents, talk_replies
from unbidden.report.replies import run as replyrun

GONE = Outcome("connection", "ConnectError: refused")
NO = Outcome("timeout", "slow")


@pytest.fixture
def server(monkeypatch, tmp_path):
    """A loopback endpoint that a test may close; it answers in the form that is asked for."""

    def chat(request):
        body = request.get_json()
        form = body.get("response_format", {}).get("json_schema", {})
        names = form["schema"]["properties"] if form else {}
        value = {name: item["enum"][0] for name, item in names.items() if "enum" in item}
        text = json.dumps(value) if form else "It was the red boat."
        choice = {"index": 0, "finish_reason": "stop"}
        choice["message"] = {"role": "assistant", "content": text}
        return Response(json.dumps({"choices": [choice]}), mimetype="application/json")

    monkeypatch.chdir(tmp_path)
    with HTTPServer(host="127.0.0.1", port=0) as server:
        server.expect_request("/v1/chat/completions").respond_with_handler(chat)
        monkeypatch.setenv("OPENAI_BASE_URL", server.url_for("/v1"))
        yield server


def settings(**changes):
    given = {
        "chapter": "03_replies",
        "llm_mode": "record",
        "answer_model": "small",
        "styles": ["question"],
        "queries_per_style": 1,
        "systems": ["bm25"],
        "conditions": ["oracle"],
        "condition_system": "bm25",
        "judges": ["model"],
        "rubrics": ["fact_use"],
        "top_k": 2,
    }
    return RepliesConfig.of(**(given | changes))


def replies(config, corpus):
    with open_llm(config) as llm:
        return replyrun.make_replies(config, corpus, llm, llm).table


def verdicts(config, corpus, table):
    with open_llm(config) as llm:
        return replyrun.score_replies(config, corpus, table, llm)


def test_only_calls_that_were_made_count():
    with pytest.raises(LLMError, match="2 failed calls in a row"):
        reached([GONE, GONE])
    recorded = [Outcome("ok", "", "x", "x", replayed=True), Outcome("connection", replayed=True)]
    planned = Outcome("planned", "this run only plans")
    with pytest.raises(LLMError, match="1 failed calls"):
        reached([*recorded, planned, GONE])
    for fine in ([], recorded, [planned], [GONE, NO], [NO]):
        assert reached(fine) == fine


@pytest.mark.fault("the judge's endpoint is gone", "the run stops with an error")
def test_a_judge_that_is_gone_stops_the_run(server):
    corpus = load_corpus("harbour", conversations=["harbour-1"])
    config = settings()
    table = replies(config, corpus)
    assert table["text"].notna().all() and len(table) == 2
    server.stop()
    with pytest.raises(LLMError, match="cannot be reached"):
        verdicts(config, corpus, table)
    server.start()
    assert verdicts(config, corpus, table)["value"].notna().all(), "failed calls are asked again"
    server.stop()
    assert verdicts(config, corpus, table)["value"].notna().all(), "nothing is asked any more"


@pytest.mark.fault(
    "the answer model's endpoint goes away in the middle", "the run stops, what it has is kept"
)
@pytest.mark.parametrize("conditions", [["oracle"], ["oracle", "compressed"]])
def test_replies_stop_too_whatever_is_on_record(server, conditions):
    """Also where some of it is on record, and where memories are compressed by the same model."""
    corpus = load_corpus("harbour", conversations=["harbour-1"])
    replies(settings(), corpus)
    server.stop()
    assert replies(settings(), corpus)["text"].notna().all()
    for more in ({"conditions": conditions, "queries_per_style": 2}, {"conditions": ["random"]}):
        with pytest.raises(LLMError, match="cannot be reached"):
            replies(settings(**more), corpus)


def test_teafarms_agents_and_judges_stop_at_a_closed_port(tmp_path):
    talk = load_corpus("harbour", conversations=["harbour-1"])
    items = items_of(talk)[:2]
    nobody = LLMSettings.of("m", base_url="http://127.0.0.1:9/v1", max_retries=0)
    with connect(nobody, "record", ledger=tmp_path / "calls.sqlite") as llm:
        arms = agents([], top_k=1, memory_tokens=40, own={})
        with pytest.raises(LLMError, match="cannot be reached"):
            talk_replies(talk, items, arms, llm, Limits(40, 20))
        said = [TeaReply(item, NO_MEMORY, None, "No, it is not.") for item in items]
        for form in ("likelihood", "json"):
            with pytest.raises(LLMError, match="2 failed calls"):
                judge_talk("mine", said, llm, form=form)
        with pytest.raises(LLMError, match="1 failed calls"):
            judge(llm, rubric("fact_use"), [make_case()])


def test_a_system_that_writes_memories_stops_at_a_closed_port(tmp_path):
    talk = load_corpus("harbour", conversations=["harbour-1"]).conversations[0]
    nobody = LLMSettings.of("m", base_url="http://127.0.0.1:9/v1", max_retries=0)
    with connect(nobody, "record", ledger=tmp_path / "calls.sqlite") as llm:
        for name in ("nemori", "anchormem", "msc-retrieval"):
            with pytest.raises(LLMError, match="cannot be reached"):
                create_system(name, llm=llm).ingest(talk)
