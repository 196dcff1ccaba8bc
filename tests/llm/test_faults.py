"""Many calls against an endpoint with faults: none lost, none paid twice, all counted."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter

import pytest

from tests.llm.endpoint import ANSWERED, KINDS, fault_of
from tests.llm.timing import slowdown
from unbidden.llm import Call

STATUS = {
    "html_502": "http_error",
    "html_200": "bad_response",
    "not_chat": "bad_response",
    "refusal": "refused",
    "wrong_types": "schema_mismatch",
    "empty": "empty",
    "invalid_json": "invalid_json",
    "length": "truncated",
    "filter": "filtered",
}


@pytest.mark.fault(
    "30 % of 500 calls fail", "each is answered or an outcome with a reason, in order"
)
def test_500_calls_with_30_percent_faults(endpoint, client):
    server = endpoint("--faults", "30", "--slow", "2.5")
    llm = client(server.base_url, concurrency=32, timeout=1.5, max_retries=3)
    outcomes = llm.ask_many(Call("grade.v1", {"item": item}) for item in range(500))

    assert {fault_of(item, 30) for item in range(500)} == {None, *KINDS}
    for item, outcome in enumerate(outcomes):
        fault = fault_of(item, 30)
        if fault is None or fault in ANSWERED:
            assert outcome.ok, (item, fault, outcome)
            assert outcome.value.use == ["correct", "partial", "wrong"][item % 3]
            assert outcome.unscored is None
        else:
            assert outcome.status == STATUS[fault], (item, fault, outcome)
            assert outcome.value is None
            assert outcome.reason
            assert outcome.unscored.startswith(outcome.status)

    stats = server.stats()
    assert max(stats["delivered"].values()) == 1  # nothing was paid twice
    rows = list(llm.ledger.rows())
    assert stats["requests"] > 500
    # On a busy machine a request can time out before the server has seen it.
    assert 0 <= sum(row.requests for row in rows) - stats["requests"] <= 5
    assert len(rows) == 500
    assert stats["most_busy"] <= 32
    html = next(o for i, o in enumerate(outcomes) if fault_of(i, 30) == "html_502")
    assert "HTML page titled 'Bad Gateway'" in html.reason
    assert html.requests == 4  # one, and the SDK's three retries: no second layer

    def asked_again(who):
        before = server.stats()
        again = who.ask_many(Call("grade.v1", {"item": item}) for item in range(500))
        assert [o.value for o in again] == [o.value for o in outcomes]
        asked = Counter(server.stats()["by_item"]) - Counter(before["by_item"])
        return {int(item) for item in asked}  # failures, answers never

    failed = {item for item, o in enumerate(outcomes) if not o.ok}
    never_came = {i for i in failed if outcomes[i].status in ("http_error", "bad_response")}
    assert never_came and asked_again(llm) == never_came
    assert asked_again(client(server.base_url)) == failed  # in the next run
    rows = len(list(llm.ledger.rows()))
    assert rows == 500 + len(never_came) + len(failed)  # failures stay on record


@pytest.mark.fault("time runs out or the connection is lost", "an outcome, never an answer")
def test_timeout_and_lost_connection_are_outcomes(endpoint, client):
    server = endpoint("--latency", "5")
    slow = client(server.base_url, timeout=0.3, max_retries=1).ask("echo.v1", {"item": 1})
    assert (slow.status, slow.requests) == ("timeout", 2)
    assert "0.3 s" in slow.reason
    nobody = client(max_retries=0).ask("echo.v1", {"item": 2})
    assert nobody.status == "connection"


def test_what_cannot_be_encoded_is_an_outcome(endpoint, client):
    outcome = client(endpoint().base_url).ask("echo.v1", {"item": "1 \ud83d"})
    assert outcome.status == "invalid_request"


@pytest.mark.slow
def test_1000_calls_at_200_ms_with_32_at_once(endpoint, client):
    server = endpoint("--latency", "0.2")
    llm = client(server.base_url, concurrency=32)
    llm.ask("echo.v1", {"item": 0})  # imports the SDK and opens the ledger
    before = slowdown()
    start, cpu = time.perf_counter(), time.process_time()
    outcomes = llm.ask_many(Call("echo.v1", {"item": item}) for item in range(1, 1001))
    seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
    load = max(before, slowdown())
    print(f"1,000 calls in {seconds:.2f} s, {cpu:.2f} s of it computing, load {load:.2f}")
    assert all(outcome.ok for outcome in outcomes)
    assert seconds < 10 * load
    assert server.stats()["most_busy"] == 32


def test_order_and_duplicates(endpoint, client):
    server = endpoint()
    llm = client(server.base_url, concurrency=16)
    items = [5, 3, 5, 4, 3, 5, 0, 1]
    outcomes = llm.ask_many(Call("grade.v1", {"item": item}) for item in items)
    labels = ["correct", "partial", "wrong"]
    assert [o.value.use for o in outcomes] == [labels[item % 3] for item in items]
    assert server.stats()["requests"] == 5
    repeats = llm.ask_many(Call("grade.v1", {"item": 5}, repeat=k) for k in range(3))
    assert len({o.key for o in repeats}) == 3
    assert server.stats()["requests"] == 7


def test_falls_back_to_the_schema_in_the_prompt(endpoint, client):
    server = endpoint("--no-schemas")
    llm = client(server.base_url, concurrency=1)
    outcomes = llm.ask_many(Call("grade.v1", {"item": item}) for item in range(4))
    assert [o.value.use for o in outcomes] == ["correct", "partial", "wrong", "correct"]
    assert server.stats()["requests"] == 5  # one refusal is enough to learn
    rows = list(llm.ledger.rows())
    assert [row.status for row in rows] == ["http_error", *["ok"] * 4]
    assert "JSON schema" in rows[1].request
    resumed = client(server.base_url).ask_many(
        Call("grade.v1", {"item": item}) for item in range(4)
    )
    assert [o.value for o in resumed] == [o.value for o in outcomes]
    assert all(o.replayed for o in resumed)
    strict = client(server.base_url, roles={"structured": "native"}, mode="live")
    assert strict.ask("grade.v1", {"item": 9}).status == "http_error"
    prompted = client(server.base_url, roles={"structured": "prompt"})
    assert prompted.ask("grade.v1", {"item": 10}).ok


def test_live_asks_again(endpoint, client):
    server = endpoint("--nonce")
    first = client(server.base_url).ask("echo.v1", {"item": 1})
    live = client(server.base_url, mode="live")
    assert live.ask("echo.v1", {"item": 1}).text != first.text
    assert server.stats()["requests"] == 2
    assert client(server.base_url).ask("echo.v1", {"item": 1}).text == first.text


def test_works_inside_a_running_event_loop(endpoint, client):
    import asyncio

    llm = client(endpoint().base_url)

    async def cell():
        return llm.ask("echo.v1", {"item": 3})

    assert asyncio.run(cell()).ok


def test_threads_share_calls_in_flight(endpoint, client):
    from concurrent.futures import ThreadPoolExecutor

    server = endpoint("--latency", "0.2")
    llm = client(server.base_url)
    with ThreadPoolExecutor(6) as pool:
        outcomes = list(pool.map(lambda _: llm.ask("echo.v1", {"item": 1}), range(6)))
    assert all(outcome.ok for outcome in outcomes)
    assert server.stats()["requests"] == 1


def test_a_client_nobody_closed_does_not_keep_the_process(endpoint, tmp_path, prompt_folder):
    code = (
        "import sys; from pathlib import Path; from unbidden.llm import LLMSettings, connect\n"
        "llm = connect(LLMSettings.of('m', base_url=sys.argv[1]), 'record', "
        "ledger=Path(sys.argv[2]), prompt_folders=[Path(sys.argv[3])])\n"
        "assert llm.ask('echo.v1', {'item': 1}).ok"
    )
    arguments = [endpoint().base_url, tmp_path / "l.sqlite", prompt_folder]
    subprocess.run([sys.executable, "-c", code, *map(str, arguments)], check=True, timeout=30)


def test_a_proxy_is_not_used_for_this_machine(endpoint, client, monkeypatch):
    server = endpoint()
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert client(server.base_url, max_retries=0).ask("echo.v1", {"item": 1}).ok


@pytest.fixture
def interruptible():
    """Take SIGINT as Python does by default: a job started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.fault("the reader interrupts a batch of calls", "what was answered is kept")
@pytest.mark.usefixtures("interruptible")
def test_interrupt_stops_the_batch_and_keeps_what_was_answered(endpoint, client):
    server = endpoint("--latency", "0.2")
    llm = client(server.base_url, concurrency=4)
    llm.ask("echo.v1", {"item": 0})
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        llm.ask_many(Call("echo.v1", {"item": item}) for item in range(1, 100))
    assert 4 <= len(list(llm.ledger.rows())) < 50
    assert llm.ask("echo.v1", {"item": 200}).ok
