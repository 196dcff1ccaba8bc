"""The ledger: killed processes, two processes, older files, what must never change."""

import json
import multiprocessing
import random
import sqlite3
import time
from dataclasses import replace

import openai  # noqa: F401 - see FORK
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.llm import worker
from unbidden.errors import LLMError
from unbidden.llm import Ledger, LLMSettings, RoleSettings, schemas
from unbidden.llm.ledger.migrations import STEPS
from unbidden.llm.ledger.row import Row
from unbidden.llm.request import Request, build

FORK = multiprocessing.get_context("fork")  # what is imported here need not be again


def work(server, ledger, table, prompts, count=300, direction=1):
    arguments = (server.base_url, ledger, table, prompts, count, direction)
    process = FORK.Process(target=worker.main, args=arguments)
    process.start()
    return process


def exit_code(process):
    process.join()
    return process.exitcode


@pytest.mark.fault(
    "a recording run is killed ten times",
    "resumed without paying twice, the same bytes as uninterrupted",
)
@pytest.mark.slow
def test_killed_ten_times_then_resumed(endpoint, tmp_path, prompt_folder):
    """The table is that of an uninterrupted run, and no answered call is asked again."""
    whole, other = endpoint(), endpoint("--latency", "0.03")
    assert exit_code(work(whole, tmp_path / "a.sqlite", tmp_path / "a.csv", prompt_folder)) == 0
    ledger, table = tmp_path / "b.sqlite", tmp_path / "b.csv"
    chance, kept = random.Random(), []
    for _ in range(10):
        before = other.stats()["requests"]
        process = work(other, ledger, table, prompt_folder)
        while other.stats()["requests"] == before and process.is_alive():
            time.sleep(0.02)
        time.sleep(chance.uniform(0.0, 0.12))
        process.kill()
        process.join()
        time.sleep(0.1)  # the endpoint finishes what was in flight
        kept.append((items_in(ledger), other.stats()["by_item"]))
    assert not table.exists()
    assert exit_code(work(other, ledger, table, prompt_folder)) == 0
    assert table.read_bytes() == (tmp_path / "a.csv").read_bytes()

    assert len(items_in(ledger)) == len(set(items_in(ledger))) == 300
    final = other.stats()["by_item"]
    for answered, asked in kept:
        assert all(final[item] == asked[item] for item in answered)
    # At most the eight calls in flight at each kill were asked for again.
    assert sum(final.values()) <= 300 + 10 * 8
    sizes = [len(answered) for answered, _ in kept]
    assert sizes == sorted(sizes)
    assert 0 < sizes[-1] < 300, "the kills were to fall into the run"


def items_in(ledger):
    with Ledger(ledger) as opened:
        bodies = [json.loads(row.request)["body"] for row in opened.rows()]
    return [body["messages"][-1]["content"].removeprefix("item ") for body in bodies]


@pytest.mark.fault("two processes record into one ledger", "every call once, none lost")
@pytest.mark.slow
def test_two_processes_on_one_ledger(endpoint, tmp_path, prompt_folder):
    """All rows of both are kept, and both report the same answers though each got its own."""
    server = endpoint("--nonce", "--latency", "0.01")
    ledger = tmp_path / "l.sqlite"
    tables = [tmp_path / "up.csv", tmp_path / "down.csv"]
    both = [
        work(server, ledger, table, prompt_folder, 200, direction)
        for table, direction in zip(tables, (1, -1), strict=True)
    ]
    assert [exit_code(process) for process in both] == [0, 0]
    assert tables[0].read_bytes() == tables[1].read_bytes()
    with Ledger(ledger) as opened:
        rows = list(opened.rows())
    requests = server.stats()["requests"]
    assert sum(row.requests for row in rows) == requests == len(rows)
    assert 200 <= requests < 400, "what the other had answered was not asked again"


def open_at_once(path, barrier, failures):
    barrier.wait()
    try:
        Ledger(path).close()
    except LLMError as error:
        failures.put(str(error))


@pytest.mark.fault("many processes make one ledger file at once", "all of them can use it")
def test_many_processes_may_make_one_ledger_at_once(tmp_path):
    failures = FORK.Queue()
    for attempt in range(15):
        barrier = FORK.Barrier(6)
        path = tmp_path / f"{attempt}.sqlite"
        openers = [
            FORK.Process(target=open_at_once, args=(path, barrier, failures)) for _ in range(6)
        ]
        for process in openers:
            process.start()
        for process in openers:
            process.join()
    assert failures.empty(), failures.get()


def row(key="k", status="ok", text="t"):
    request = Request({"model": "m", "messages": [{"role": "user", "content": key}]})
    return Row(request.key, request.text, "judge", "p.v1", "0" * 64, status, "", text)


def test_append_only_and_first_answer_counts(tmp_path):
    with Ledger(tmp_path / "l.sqlite") as ledger:
        ledger.append(row(status="timeout", text=""))
        key = row().key
        assert ledger.answered(key) is None
        assert ledger.latest(key).status == "timeout"
        for text in ("first", "second"):
            ledger.append(row(text=text))
        assert ledger.answered(key).text == ledger.latest(key).text == "first"
        assert len(list(ledger.rows())) == 3
        for action in ("UPDATE call SET text = ''", "DELETE FROM call"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                ledger._db.execute(action)
        assert [(s["status"], s["calls"], s["keys"]) for s in ledger.stats()] == [
            ("ok", 2, 1),
            ("timeout", 1, 1),
        ]


def test_migrates_an_older_file(tmp_path):
    path = tmp_path / "old.sqlite"
    db = sqlite3.connect(path)
    STEPS[0](db)
    db.execute("PRAGMA user_version = 1")
    db.execute(
        "INSERT INTO call VALUES (1, 'k', '{}', 'judge', 'p', 's', 'ok', '', 'kept', NULL, "
        "1, 2, 1, 0.5, '2026-01-01')"
    )
    db.commit()
    db.close()
    with Ledger(path) as ledger:
        assert ledger.answered("k").text == "kept"
        with pytest.raises(sqlite3.IntegrityError):
            ledger._db.execute("DELETE FROM call")


@pytest.mark.fault("a ledger of a newer version, or a foreign file", "refused with a clear error")
def test_newer_and_foreign_files_are_refused(tmp_path):
    db = sqlite3.connect(tmp_path / "new.sqlite")
    db.execute("PRAGMA user_version = 99")
    db.close()
    with pytest.raises(LLMError, match="update unbidden"):
        Ledger(tmp_path / "new.sqlite")
    (tmp_path / "no.sqlite").write_text("not a database at all, but long enough to be read" * 9)
    with pytest.raises(LLMError, match="cannot be used"):
        Ledger(tmp_path / "no.sqlite")


ROLE = RoleSettings(model="m", top_p=0.5, max_tokens=7, extra={"cache_prompt": False})
MESSAGES = ({"role": "system", "content": "s"}, {"role": "user", "content": "u"})


def key(role=ROLE, messages=MESSAGES, schema=schemas.FactUse, repeat=0):
    return build(messages, role, schema=schema, repeat=repeat)[0].key


CHANGES = st.one_of(
    st.text(min_size=1).filter(lambda t: t != "m").map(lambda t: {"role": {"model": t}}),
    st.floats(0, 2).filter(lambda x: x != 0).map(lambda x: {"role": {"temperature": x}}),
    st.just({"role": {"temperature": None}}),
    st.floats(0.01, 1).filter(lambda x: x != 0.5).map(lambda x: {"role": {"top_p": x}}),
    st.integers(1).filter(lambda n: n != 7).map(lambda n: {"role": {"max_tokens": n}}),
    st.integers(1).map(lambda n: {"role": {"seed": n}}),
    st.just({"role": {"seed": None}}),
    st.just({"role": {"token_parameter": "max_completion_tokens"}}),
    st.just({"role": {"structured": "prompt"}}),
    st.just({"role": {"extra": {}}}),
    st.text()
    .filter(lambda t: t != "u")
    .map(lambda t: {"messages": (MESSAGES[0], {"role": "user", "content": t})}),
    st.just({"messages": MESSAGES[:1]}),
    st.just({"messages": MESSAGES[::-1]}),
    st.sampled_from([None, schemas.Facts, schemas.DialogRewrite]).map(lambda s: {"schema": s}),
    st.integers(1).map(lambda n: {"repeat": n}),
)


@given(CHANGES)
@settings(deadline=None)
def test_every_request_field_changes_the_key(change):
    role = ROLE.model_copy(update=change.pop("role", {}))
    assert key(role=role, **change) != key()


@given(st.floats(1, 900), st.integers(1, 99), st.integers(0, 9), st.text(max_size=9))
@settings(deadline=None)
def test_how_calls_are_made_does_not_change_the_key(timeout, concurrency, retries, url):
    made = LLMSettings.of(
        "m", timeout=timeout, concurrency=concurrency, max_retries=retries, base_url=url
    )
    assert key(role=made.judge) == key(role=LLMSettings.of("m").judge)


def test_repeats_and_their_seeds():
    first, second = (build(MESSAGES, ROLE, repeat=repeat)[0] for repeat in (0, 1))
    assert (first.body["seed"], second.body["seed"]) == (0, 1)
    unseeded = ROLE.model_copy(update={"seed": None})
    assert key(role=unseeded, repeat=1) != key(role=unseeded)


def test_keys_are_what_they_were():
    """A change of a library, a schema's docstring or a default must not lose recorded answers."""
    assert key() == "8ae23bac2aa88d47d2ce4287fd171a5bce325ccc8ac0dbbd763291defb995e34"
    assert (
        key(schema=schemas.Facts)
        == "8cdfd5cb9b8c19aed8207a5b72b46d3e8a6ddeea511ff2c8c103b7d83b881dfd"
    )
    assert key(schema=None) == "e0bb235fceba18ec2cb55fe119b26009741470f7068976540df68e57021f5922"


@pytest.mark.fault(
    "the disk is full while a paid answer is kept", "the run stops and says what is kept"
)
def test_a_full_disk_stops_the_run(tmp_path, monkeypatch):
    ledger = Ledger(tmp_path / "l.sqlite")
    ledger.close()
    with pytest.raises(LLMError, match="what it holds is kept"):
        ledger.append(replace(row(), text="x"))
