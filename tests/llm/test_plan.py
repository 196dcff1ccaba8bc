"""Plans without calls, budgets that stop cleanly, prices, progress, the scripted model."""

import io
import json
import sys

import pytest

from unbidden.errors import BudgetExceeded, ConfigError, LLMError
from unbidden.llm import Budget, Call, Outcome, ScriptedLLM, ScriptExhausted, plan, schemas
from unbidden.llm.prices import load_prices
from unbidden.llm.progress import on_terminal
from unbidden.llm.session import PlanningLLM


def calls(count, start=0):
    return [Call("grade.v1", {"item": item}) for item in range(start, start + count)]


@pytest.fixture
def price_table(tmp_path):
    path = tmp_path / "prices.json"
    row = {"model": "m", "input": 10.0, "output": 20.0, "as_of": "2026-11"}
    path.write_text(json.dumps({"currency": "EUR", "models": [row]}))
    return path


def test_plan_makes_no_call(endpoint, client, price_table):
    server = endpoint()
    llm = client(server.base_url, price_table=price_table)
    llm.ask_many(calls(3))
    before = server.stats()["requests"]
    found = plan([*calls(10), *calls(4), Call("echo.v1", {"item": 1})], llm)
    assert server.stats()["requests"] == before == 3
    echo, grade = found.rows
    assert (grade.calls, grade.hits, grade.same, grade.to_ask) == (14, 3, 4, 7)
    assert (echo.to_ask, echo.output_low, echo.output_high) == (1, 1, 512)
    assert grade.output_high == 7 * 20
    assert grade.input_tokens == 7 * (2 + 2 + 2 * 4)  # "Grade." and "item 3", a quarter each
    assert grade.price_high == pytest.approx((84 * 10 + 140 * 20) / 1e6)
    assert found.to_ask == 8
    assert "8 calls to make, 3 already answered" in str(found)
    assert "estimate: characters / 4" in str(found)
    assert list(found.frame()["prompt"]) == ["echo.v1", "grade.v1"]


def test_planning_looks_up_each_call_once(client, tmp_path, monkeypatch):
    llm = client()
    asked = []
    known = llm.known
    monkeypatch.setattr(llm, "known", lambda item: asked.append(item.keys[0]) or known(item))
    planning = PlanningLLM(llm, tmp_path / "plan.txt")
    for call in calls(40):
        planning.ask_many([call])
        assert str(planning.plan()) + "\n" == (tmp_path / "plan.txt").read_text()
    assert len(asked) == 40
    assert planning.plan().to_ask == 40


def test_plan_does_not_invent_a_price(client):
    found = plan(calls(2), client())
    assert found.price is None
    assert found.rows[0].price_low is None
    assert "price not known" in str(found)
    assert plan([], client()).price == (0, 0)


@pytest.mark.parametrize(
    ("budget", "done"),
    [
        (Budget(calls=7), 7),
        (Budget(tokens=7 * 25 + 10), 6),  # 20 in, 5 out each; the next could take 20 out
        (Budget(money=7 * 0.0003 + 1e-4), 6),
        (Budget(calls=0), 0),
    ],
)
def test_budget_stops_cleanly_and_the_run_resumes(endpoint, client, price_table, budget, done):
    server = endpoint("--latency", "0.01")
    llm = client(server.base_url, budget=budget, price_table=price_table, concurrency=4)
    with pytest.raises(BudgetExceeded, match="raise the budget and run again"):
        llm.ask_many(calls(20))
    rows = list(llm.ledger.rows())
    assert len(rows) == server.stats()["requests"]
    assert done <= len(rows) <= done + 1
    assert all(row.status == "ok" for row in rows)
    with pytest.raises(BudgetExceeded):
        llm.ask_many(calls(20))
    more = client(server.base_url, price_table=price_table)
    assert all(outcome.ok for outcome in more.ask_many(calls(20)))
    assert server.stats()["requests"] == 20


def test_a_sufficient_budget_does_not_stop(endpoint, client):
    server = endpoint("--latency", "0.01")
    llm = client(server.base_url, budget=Budget(tokens=20 * 25 + 40), concurrency=16)
    assert all(outcome.ok for outcome in llm.ask_many(calls(20)))


def test_budget_of_money_needs_a_price(endpoint, client):
    llm = client(endpoint().base_url, budget=Budget(money=1.0))
    with pytest.raises(ConfigError, match="price of 'm'"):
        llm.ask("grade.v1", {"item": 1})


def test_price_table(tmp_path):
    prices = load_prices()
    assert prices.find("gpt-5.4-mini-2026-03-17") is prices.models["gpt-5.4-mini"]
    assert prices.find("provider/gpt-5.4-mini-20260317") is prices.models["gpt-5.4-mini"]
    assert prices.find("gpt-5.4-mini-large") is None
    assert prices.cost("gpt-5.4-mini", 1_000_000, 1_000_000) == pytest.approx(5.25)
    assert prices.cost("qwen2.5-coder-1.5b", 5, 5) == 0
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(ConfigError, match="copy llm/tables/prices"):
        load_prices(tmp_path / "bad.json")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_only_on_a_terminal(endpoint, client, monkeypatch, price_table):
    llm = client(endpoint().base_url, price_table=price_table)
    quiet, screen = io.StringIO(), Terminal()
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)  # of a test before this one
    monkeypatch.setattr(sys, "stderr", quiet)
    llm.ask_many(calls(5))
    assert quiet.getvalue() == ""
    monkeypatch.setattr(sys, "stderr", screen)
    llm.ask_many(calls(5, start=10), label="judging")
    shown = screen.getvalue()
    for part in ("judging", "5/5", "call/s", "125 tokens", "0.0015 EUR", "0 unanswered"):
        assert part in shown
    monkeypatch.setitem(sys.modules, "ipykernel", object())
    assert not on_terminal()


def test_scripted_model():
    grade = {"speaker": "Ann", "message": "m", "fact": "f", "reply": "r"}
    llm = ScriptedLLM(
        [schemas.FactUse(use="partial"), '{"use": 3}', Outcome("refused", "no"), "hello"]
    )
    first = llm.ask("judge_fact_use.v1", grade, schemas.FactUse)
    assert first.value.score == 0.5
    assert llm.ask("judge_fact_use.v1", grade).status == "schema_mismatch"
    assert llm.ask("judge_fact_use.v1", grade).unscored == "refused: no"
    said = llm.ask("reply.v1", {"speaker": "Ann", "memories": [], "message": "where?"})
    assert said.value == said.text == "hello"
    assert llm.seen[0].prompt_name == "judge_fact_use.v1"
    assert "(none)" in llm.seen[3].messages[1]["content"]
    with pytest.raises(ScriptExhausted, match="where to"):
        llm.ask("reply.v1", {"speaker": "Ann", "memories": [], "message": "where to?"})
    assert issubclass(ScriptExhausted, LLMError)
    with pytest.raises(ConfigError):
        llm.ask("reply.v1", {"speaker": "Ann"})


def test_scripted_by_a_function():
    llm = ScriptedLLM(lambda seen: f"{seen.variables['message']} {seen.repeat}")
    variables = {"speaker": "Ann", "memories": [], "message": "hi"}
    outcomes = llm.ask_many(Call("reply.v1", variables, repeat=k) for k in range(3))
    assert [outcome.value for outcome in outcomes] == ["hi 0", "hi 1", "hi 2"]
    assert len({seen.key for seen in llm.seen}) == 3


def test_modes_need_what_they_need(client):
    with pytest.raises(ConfigError, match="needs a ledger"):
        client(ledger=None)
