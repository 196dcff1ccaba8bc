import datetime as dt
import importlib.util
import json
import socket
import sys

import pytest

from tests.memory.hand import Words, conversation, texts
from unbidden.errors import ConfigError, LLMError
from unbidden.llm import LLMSettings, Outcome, ScriptedLLM, connect
from unbidden.memory import create_system
from unbidden.memory.mem0 import bridge
from unbidden.memory.mem0.package import _texts

TALK = conversation(
    [("Ana", "I bought a red boat yesterday."), ("Ben", "I like cats.")],
    [("Ana", "I sold it."), ("Ben", "Oh.")],
)


def reply(*memories):
    return json.dumps(
        {"memory": [{"id": "0", "text": t, "attributed_to": "user"} for t in memories]}
    )


@pytest.fixture
def _package_first():
    """Load the package our way first: what it reads from the environment it reads once."""
    if importlib.util.find_spec("mem0") is None:
        pytest.skip("the extra `mem0` is not installed")
    bridge.load_package()


@pytest.fixture
def package(_package_first):
    def make(answers, **options):
        llm = ScriptedLLM(answers)
        options = {"ingestion": "one-pass", "batch_size": 2} | options
        return create_system("mem0-package", llm=llm, embedder=Words(), **options), llm

    return make


def test_telemetry_is_off_and_its_files_are_temporary(_package_first):
    import mem0.memory.setup
    import mem0.memory.telemetry

    assert mem0.memory.telemetry.MEM0_TELEMETRY is False
    assert "unbidden-mem0-" in mem0.memory.setup.mem0_dir


def test_memories_have_the_turns_of_their_batch(package):
    system, llm = package([reply("Ana bought a red boat", "Ben likes cats"), reply("Ana sold it")])
    report = system.ingest(TALK)
    hits = system.search("Ana bought a red boat", k=5)
    assert hits[0].text == "Ana bought a red boat"
    assert (hits[0].sources, hits[0].time) == (("D1:1", "D1:2"), dt.datetime(2023, 5, 1, 13))
    assert (report.units, report.memories, report.failed) == (2, 3, 0)
    assert report.events == {"added": 3, "no_facts": 0, "repeated": 0}
    assert report.calls["mem0_package.v1"].calls == 2
    request = llm.seen[1].variables["request"]
    assert "user: Ana: I sold it." in request and "Ana bought a red boat" in request


def test_the_sessions_date_replaces_todays(package):
    system, llm = package(lambda seen: reply())
    report = system.ingest(TALK)
    assert report.events["no_facts"] == 2
    for seen, day in zip(llm.seen, ("2023-05-01", "2023-05-02"), strict=True):
        assert seen.variables["request"].count(f"Date\n{day}") == 2
        assert str(dt.date.today()) not in seen.variables["request"]


def test_the_same_conversation_asks_the_same_again(package):
    system, llm = package(lambda seen: reply("one thing", "another thing"))
    system.ingest(TALK)
    system.ingest(TALK)
    keys = [seen.key for seen in llm.seen]
    assert keys[:2] == keys[2:]
    assert len(system.records()) == 2  # the second reply only repeats; nothing of the first run


def test_stores_are_mirrored_and_searched_by_speaker(package):
    def answer(seen):
        new = seen.variables["request"].split("## New Messages")[1]
        return reply("Ana has a boat" if "user: Ana" in new else "Ben likes cats")

    system, llm = package(answer, ingestion="mirrored")
    assert system.ingest(TALK).units == 4
    assert len(llm.seen) == 4
    assert texts(system.search("cats boat", k=5, speaker="Ben")) == ["Ben likes cats"]
    assert len(system.search("Ana has a boat likes cats", k=5)) == 2


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{reply('x')}\n```",
        f"Sure: {reply('x')} Done.",
        f"<think>a {{guess}}</think>{reply('x')}",
        f"<think>one {{a}}\n</think> and <think>{{b}}</think>\n```json\n{reply('x')}\n```",
    ],
)
def test_decorated_replies_are_read(package, text):
    system, _ = package([text, reply()])
    report = system.ingest(TALK)
    assert (report.failed, report.memories) == (0, 1)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('<think>a {guess}</think>{"memory": []}', []),
        (f"<think>{reply('no')}</think>{reply('x')}", ["x"]),
        (f"<think>{reply('no')}</think> Nothing.", None),
    ],
)
def test_what_a_model_thinks_aloud_is_not_its_reply(text, found):
    assert _texts(text) == found


def test_thinking_before_an_empty_list_is_no_loss(package):
    system, _ = package(lambda seen: '<think>a {guess}</think>{"memory": []}')
    report = system.ingest(TALK)
    assert (report.failed, report.memories, report.events["no_facts"]) == (0, 0, 2)


def test_two_live_instances_keep_apart(package):
    (one, _), (two, _) = (
        package(lambda seen, text=text: reply(text)) for text in ("Ana has a boat", "Ben has a cat")
    )
    one.ingest(TALK)
    two.ingest(TALK)
    for _ in range(2):
        assert texts(one.search("Ana has a boat", k=5)) == ["Ana has a boat"]
        assert texts(two.search("Ben has a cat", k=5)) == ["Ben has a cat"]
        one.ingest(TALK)


def test_an_empty_store_finds_nothing(package):
    system, _ = package(lambda seen: reply())
    assert system.search("boat", k=5) == [], "before any ingestion"
    assert system.ingest(TALK).memories == 0
    assert system.search("boat", k=5) == system.search("boat", k=5, speaker="Ana") == []


@pytest.mark.parametrize(
    "answer",
    [
        Outcome("empty", "no text"),
        "no json here",
        '{"memory": [{"text": "cut',
        '["a list"]',
        '{"facts": ["another key"]}',
        '{"memory": ["a bare string"]}',
        '{"memory": [3]}',
        '{"memory": [{"text": 5}]}',
        '{"memory": [{"text": ["x"]}]}',
        Outcome("rate_limited", "429 after the last retry"),
        Outcome("http_error", "500"),
        Outcome("truncated", "cut at 9 tokens"),
    ],
)
def test_every_failure_is_a_counted_unit(package, answer):
    system, _ = package([answer, reply("Ana sold it")])
    report = system.ingest(TALK)
    assert (report.units, report.failed, report.memories) == (2, 1, 1)
    assert report.failures[0].turns == ("D1:1", "D1:2")
    assert report.failures[0].reason


def test_repeats_are_dropped_and_counted(package):
    system, _ = package([reply("same"), reply("same")])
    report = system.ingest(TALK)
    assert (report.memories, report.events["repeated"], report.failed) == (1, 1, 0)


def test_odd_text_and_odd_searches(package):
    talk = conversation([("Ana", "half \ud83d emoji, 林悦 \U0001f389"), ("Ana", "x" * 100_000)])
    system, llm = package(lambda seen: reply("Ana 林悦 met"))
    assert system.ingest(talk).failed == 0
    assert "林悦 \U0001f389" in llm.seen[0].variables["request"]
    assert system.search("", k=5) == system.search(" ", k=5) == system.search("met", k=0) == []
    assert texts(system.search("met \ud83d", k=500)) == ["Ana 林悦 met"]


def test_errors_of_the_run_are_not_taken_for_failed_calls(package):
    system, _ = package([])
    with pytest.raises(LLMError, match="no answer left"):
        system.ingest(TALK)


def test_updates_and_removals_of_other_releases_are_mirrored(package):
    system, _ = package(lambda seen: reply())
    system.ingest(TALK)
    store = system.stores()[0]
    from unbidden.memory.batches import batches

    one, two = batches(TALK, None, size=2, captions=False)
    system._note({"id": "u", "event": "ADD", "memory": "boat"}, one, store)
    system._note({"id": "u", "event": "UPDATE", "memory": "no boat"}, two, store)
    assert system.records()[0].sources == ("D1:1", "D1:2", "D2:1", "D2:2")
    system._note({"id": "u", "event": "DELETE", "memory": ""}, two, store)
    assert system.records() == []


def test_through_an_endpoint_and_again_from_the_ledger(
    _package_first, httpserver, tmp_path, monkeypatch
):
    asked, reached = [], []

    def chat(request):
        from werkzeug import Response

        asked.append(request.get_json())
        if len(asked) == 1:
            return Response("no", status=500)
        message = {"role": "assistant", "content": reply(f"memory {len(asked)}")}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        usage = {"prompt_tokens": 9, "completion_tokens": 3}
        return Response(
            json.dumps({"choices": [choice], "usage": usage}), mimetype="application/json"
        )

    connect_socket = socket.socket.connect

    def watched(self, address):
        reached.append(address)
        return connect_socket(self, address)

    monkeypatch.setattr(socket.socket, "connect", watched)
    httpserver.expect_request("/v1/chat/completions", method="POST").respond_with_handler(chat)
    settings = LLMSettings.of("m", base_url=httpserver.url_for("/v1"), max_retries=0)
    found = []
    for mode in ("record", "record", "replay"):
        with connect(settings, mode, ledger=tmp_path / "ledger.sqlite") as llm:
            system = create_system("mem0-package", llm=llm, embedder=Words(), ingestion="one-pass")
            report = system.ingest(TALK)
            found.append((report.failed, [r.text for r in system.records()], len(asked)))
    # The first batch met a server error: counted, and asked again by the next recording.
    assert found[0][0] == 1 and found[0][2] == 2
    assert found[1][0] == 0 and found[1] == found[2]
    assert report.calls["mem0_package.v1"].input_tokens == 18
    hosts = {address[0] for address in reached if isinstance(address, tuple)}
    assert hosts <= {"127.0.0.1", "localhost", "::1"} and hosts


def test_a_package_with_telemetry_on_is_refused(_package_first, monkeypatch):
    import mem0.memory.telemetry

    monkeypatch.setattr(mem0.memory.telemetry, "MEM0_TELEMETRY", True)
    with pytest.raises(ConfigError, match="telemetry"):
        bridge.load_package()


def test_a_release_of_another_form_is_refused(package):
    system, _ = package(lambda seen: reply())
    system.ingest(TALK)
    for messages in (
        [{"role": "user", "content": "x"}],
        [{"role": "system", "content": "s"}, {"role": "user", "content": "no dates"}],
    ):
        with pytest.raises(ConfigError, match="asks in another form"):
            system._model.generate_response(messages)
    assert system._model.stop is not None


def test_without_the_package_there_is_an_explanation(monkeypatch):
    monkeypatch.setitem(sys.modules, "mem0", None)
    with pytest.raises(ConfigError, match="extra `mem0`"):
        create_system("mem0-package", llm=ScriptedLLM([]), embedder=Words())
