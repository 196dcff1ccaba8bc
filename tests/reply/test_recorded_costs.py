"""The costs of one recorded episode, in the order of the paper's Table 8."""

import pytest

from tests.conftest import ROOT
from unbidden.corpus import load_corpus
from unbidden.corpus.replay import next_turns
from unbidden.llm import LLMSettings, connect
from unbidden.reply.costing import COST_ARMS, PRINTED, session_costs
from unbidden.reply.replaying import ARMS, set_arms
from unbidden.report.published import theanine_table
from unbidden.report.timelines.replays import episode

EVERY = ", every pair asked"


@pytest.fixture(scope="module")
def costs():
    pytest.importorskip("sentence_transformers", reason="the extra `dense` is not installed")
    talk = load_corpus("harbour", conversations=["harbour-1"]).conversations[0]
    short = episode(talk, sessions=5)
    arms = [*set_arms(ARMS, theanine={"dialogues": "none"}), *COST_ARMS]
    settings = LLMSettings.of("qwen2.5-coder-1.5b")
    with connect(settings, "replay", recorded=ROOT / "results" / "ledger") as llm:
        found = session_costs(short, list(next_turns(short, sessions=[5])), arms, llm)
    return found.set_index("arm")


def test_update_costs_far_more_than_all(costs):
    published = costs.drop(index="theanine, dialogues shown")
    others = published.drop(index="memory-update")
    assert published.loc["memory-update", "calls"] > 2.5 * others["calls"].max()
    assert published.loc["memory-update", "input_tokens"] > 2 * others["input_tokens"].max()


def test_the_order_of_what_is_counted_in_full(costs):
    """The paper's ratios, without the systems whose later calls are not known."""
    counted = [
        *(PRINTED, f"theanine-no-refinement{EVERY}", "theanine-no-linking", "full-history"),
        *("all-memories", "msc-retrieval"),
    ]
    table = theanine_table(8)
    printed = table[table["metric"] == "api_cost_ratio"].set_index("system")["value"]
    ours = costs.loc[counted, "ratio"].rename(lambda name: name.removesuffix(EVERY))
    assert list(ours.sort_values(ascending=False).index) == [
        name.removesuffix(EVERY) for name in counted
    ]
    assert (ours - printed.loc[list(ours.index)]).abs().max() < 0.1
    assert costs.loc["theanine-no-linking", "ratio"] == pytest.approx(0.5, abs=0.1)


def test_summaries_are_on_record(costs):
    """Otherwise the counts above would be of a system that stored nothing."""
    assert costs.loc["msc-retrieval", "unanswered"] == costs.loc["msc-retrieval", "reply_calls"]
