"""Recordings: the same bytes for the same rows, fast to replay, clear when something is missing."""

import gzip
import json
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.llm.timing import slowdown
from unbidden.errors import DataError, LLMError
from unbidden.llm import Call, Ledger, Recording, Usage, record, replay
from unbidden.llm.ledger.row import Row
from unbidden.llm.request import Request


def rows_for(llm, calls, text='{"use": "correct"}', status="ok"):
    for item in map(llm.prepare, calls):
        yield Row(
            key=item.keys[0],
            request=item.forms[0].text,
            role=item.prompt.role,
            prompt=item.prompt.name,
            prompt_sha256=item.prompt.sha256,
            status=status,
            reason="" if status == "ok" else "HTTP 500",
            text=text if status == "ok" else "",
            body='{"choices":[],"model":"/home/me/models/m.gguf","secret_field":1}',
            usage=Usage(10, None),
            requests=1,
            seconds=0.123456,
            created="2026-11-30T00:00:00+00:00",
        )


@pytest.fixture
def llm(client):
    return client()


def grades(count, start=0):
    return [Call("grade.v1", {"item": item}) for item in range(start, start + count)]


def test_round_trip_is_byte_stable(llm, tmp_path):
    rows = list(rows_for(llm, grades(20), text="line\u2028separator, \U0001f600 and\nbreak"))
    first = record(Recording(rows), tmp_path / "a", "x")
    second = record(Recording(reversed(rows)), tmp_path / "b", "x")
    third = record(replay(first), tmp_path / "c", "x")
    fourth = record(replay(first), tmp_path / "a", "x")
    assert first.name == "x.jsonl.gz"
    contents = {path.read_bytes() for path in (first, second, third, fourth)}
    assert len(contents) == 1
    data = contents.pop()
    assert data[4:8] == b"\0\0\0\0"  # no time in the header
    lines = gzip.decompress(data).decode().removesuffix("\n").split("\n")
    assert lines == sorted(lines, key=lambda line: json.loads(line)["key"])
    assert replay(first).answered(rows[0].key).text == rows[0].text


def test_recording_has_no_path_and_no_unknown_field(llm, tmp_path):
    text = gzip.decompress(record(Recording(rows_for(llm, grades(1))), tmp_path).read_bytes())
    assert b"/home/me" not in text
    assert b"secret_field" not in text
    assert json.loads(text)["body"]["model"] == "m.gguf"


def test_recording_again_adds_and_keeps(llm, tmp_path):
    failed = list(rows_for(llm, grades(2), status="http_error"))
    record(Recording(failed), tmp_path)
    record(Recording(rows_for(llm, grades(1))), tmp_path)  # answers the first of them
    record(Recording(rows_for(llm, grades(1, start=5), text='{"use": "wrong"}')), tmp_path)
    record(Recording(rows_for(llm, grades(1), text="later")), tmp_path)
    found = replay(tmp_path)
    assert len(found) == 3
    assert found.answered(failed[0].key).text == '{"use": "correct"}'
    assert found.answered(failed[1].key) is None
    assert found.latest(failed[1].key).status == "http_error"


def test_replays_10000_calls_in_5_seconds(llm, client, tmp_path):
    calls = grades(10_000)
    path = record(Recording(rows_for(llm, calls)), tmp_path / "recorded")
    start = time.perf_counter()
    replaying = client(mode="replay", ledger=None, recorded=path)
    outcomes = replaying.ask_many(calls)
    seconds = time.perf_counter() - start
    load = slowdown()
    print(
        f"10,000 calls replayed in {seconds:.2f} s, {path.stat().st_size:,} bytes, load {load:.2f}"
    )
    assert all(outcome.value.score == 1.0 and outcome.replayed for outcome in outcomes)
    assert seconds < 5 * load


def test_a_recorded_failure_replays_as_a_failure(llm, client, tmp_path):
    record(Recording(rows_for(llm, grades(1), status="http_error")), tmp_path / "r")
    outcome = client(mode="replay", ledger=None, recorded=tmp_path / "r").ask_many(grades(1))[0]
    assert (outcome.status, outcome.unscored) == ("http_error", "http_error: HTTP 500")


@pytest.mark.fault(
    "a call is not on record", "one error that names notebook, prompt and how to record"
)
def test_a_missing_call_is_one_clear_error(llm, client, tmp_path):
    record(Recording(rows_for(llm, grades(3))), tmp_path / "r")
    replaying = client(
        mode="replay", ledger=None, recorded=tmp_path / "r", run="03_replies, run default"
    )
    assert len(replaying.ask_many(grades(3))) == 3
    with pytest.raises(LLMError) as caught:
        replaying.ask_many(grades(5))
    said = str(caught.value)
    assert "2 model calls of 03_replies, run default are not recorded" in said
    assert "'grade.v1' with model 'm'" in said
    assert "mode 'record'" in said
    assert "unbidden ledger record" in said
    assert "3 calls of this prompt, models m" in said


def test_a_changed_prompt_is_named_as_the_cause(llm, client, tmp_path, prompt_folder):
    record(Recording(rows_for(llm, grades(1))), tmp_path / "r")
    file = prompt_folder / "grade.v1.j2"
    file.write_text(file.read_text().replace("Grade.", "Grade well."))
    with pytest.raises(LLMError, match="all of an earlier text of its file"):
        client(mode="replay", ledger=None, recorded=tmp_path / "r").ask_many(grades(1))


@pytest.mark.fault("a recording is damaged or altered", "refused with the line")
def test_damaged_and_altered_recordings_are_refused(llm, tmp_path):
    path = record(Recording(rows_for(llm, grades(30))), tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-40])
    with pytest.raises(DataError, match="damaged"):
        replay(tmp_path)
    altered = gzip.decompress(whole).replace(b"item 7", b"item 8")
    path.write_bytes(gzip.compress(altered))
    with pytest.raises(DataError, match="does not hash to its key"):
        replay(tmp_path)
    assert len(replay(tmp_path / "nowhere")) == 0


def test_recorded_answers_are_not_asked_again(endpoint, llm, client, tmp_path):
    record(Recording(rows_for(llm, grades(3))), tmp_path / "r")
    server = endpoint()
    asking = client(server.base_url, recorded=tmp_path / "r", ledger=tmp_path / "new.sqlite")
    outcomes = asking.ask_many(grades(5))
    assert [outcome.replayed for outcome in outcomes] == [True] * 3 + [False] * 2
    assert server.stats()["requests"] == 2
    record(asking.ledger, tmp_path / "r")
    assert len(replay(tmp_path / "r")) == 5


@given(st.text(st.characters(exclude_categories=["Cs"])), st.floats(0, 2))
@settings(deadline=None, max_examples=60)
def test_any_text_survives_ledger_and_recording(text, temperature):
    messages = [{"role": "user", "content": text}]
    request = Request({"model": "m", "messages": messages, "temperature": temperature})
    row = Row(request.key, request.text, "answer", "p.v1", "0" * 64, "ok", "", text, created="t")
    with tempfile.TemporaryDirectory() as folder, Ledger(Path(folder) / "l.sqlite") as ledger:
        ledger.append(row)
        assert ledger.answered(row.key) == row
        assert replay(record(ledger, Path(folder))).answered(row.key) == row
