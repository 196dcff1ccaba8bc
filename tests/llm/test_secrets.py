"""A canary key is nowhere but in the header that carries it."""

import gzip
import logging

import pytest

from unbidden.errors import LLMError
from unbidden.llm import Call, record
from unbidden.llm.redact import redact, without_key

CANARY = "sk-canary-7f3a91c05e2d48b6"


@pytest.mark.fault(
    "a key in the environment during a failing run", "it appears in no file, log or message"
)
def test_canary_key_appears_nowhere(endpoint, client, tmp_path, monkeypatch, caplog, capfd):
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    caplog.set_level(logging.DEBUG)
    server = endpoint("--echo-key")  # every answer and error of it repeats the key
    llm = client(server.base_url, max_retries=0)
    outcomes = llm.ask_many(Call("echo.v1", {"item": item}) for item in range(10))
    assert [o.status for o in outcomes[:5]] == [
        *("http_error", "http_error", "bad_response", "ok", "http_error")
    ]
    assert outcomes[3].text == "[key]"
    assert server.stats()["requests"] == 10
    assert llm.ask("echo.v1", {"item": CANARY}).status == "invalid_request"
    assert server.stats()["requests"] == 10

    recorded = gzip.decompress(record(llm.ledger, tmp_path / "r").read_bytes()).decode()
    files = b"".join(path.read_bytes() for path in tmp_path.glob("ledger.sqlite*"))
    shown = [repr(outcomes), repr(llm.settings), repr(vars(llm)), caplog.text, *capfd.readouterr()]
    shown += [str(vars(llm._transport)), recorded, files.decode("latin-1")]
    for place, text in enumerate(shown):
        assert CANARY not in text, place
        assert "canary" not in text, place
    for text in ("10.1.2.3", "/home/somebody", "127.0.0.1"):
        assert text not in recorded


def test_no_key_is_a_clear_error_before_anything_is_sent(client):
    llm = client("https://api.example.org/v1")
    with pytest.raises(LLMError, match="OPENAI_API_KEY"):
        llm.ask("echo.v1", {"item": 1})


@pytest.mark.parametrize("key", ["x", "EMPTY", "local"])
def test_placeholder_keys_do_not_eat_text(monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    text = "EMPTY box of local extras"
    assert without_key(text) == redact(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abcdef123456",
        "{'authorization': 'Bearer abcdef123456'}",
        "headers: authorization=abcdef123456",
        "key sk-abcdef123456 is wrong",
    ],
)
def test_credentials_are_redacted(text):
    assert "abcdef123456" not in redact(text)
