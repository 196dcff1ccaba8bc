"""Sessions replayed with systems, and what that costs, with scripted models."""

import json

import pytest

from tests.memory.hand import Words, conversation
from unbidden.corpus.replay import next_turns
from unbidden.errors import ConfigError
from unbidden.llm import LLMSettings, Outcome, ScriptedLLM, connect
from unbidden.llm.client import Client
from unbidden.reply.costing import COST_ARMS, session_costs
from unbidden.reply.replaying import (
    ARMS,
    NO_MEMORY,
    PROMPT,
    Arm,
    replay_replies,
    reply_items,
    set_arms,
    timeline_sizes,
)

TALK = conversation(
    [("Ana", "I bought a red boat."), ("Ben", "I like cats.")],
    [("Ana", "I painted the boat blue."), ("Ben", "Good for you.")],
    [("Ana", "The sea is calm."), ("Ben", "Take the boat out!"), ("Ana", "I will.")],
)
TURNS = list(next_turns(TALK, sessions=[3]))


def answer(seen):
    """Answer by the form that is asked for; a reply repeats how many memories it was shown."""
    form = seen.schema.__name__ if seen.schema else None
    if form == "SessionFacts":
        word = "red" if "bought" in seen.messages[-1]["content"] else "blue"
        return json.dumps({"facts": [f"Ana has a {word} boat."]})
    if form == "RelationLabel":
        return json.dumps({"relation": "Changed"})
    if form == "RefinedTimeline":
        return json.dumps({"memory": "The boat was red and is blue now."})
    assert seen.prompt_name == PROMPT
    return f"shown {len(seen.variables['memories'])}"


def test_each_arm_replies_at_each_turn_with_earlier_sessions_only():
    llm = ScriptedLLM(answer)
    replies = replay_replies(TALK, TURNS, ARMS, llm, embedder=Words())
    assert [r.arm for r in replies] == [arm.name for arm in ARMS for _ in TURNS]
    shown = {r.arm: r for r in replies if r.turn.turn == 1}
    assert shown["theanine"].memories == ("The boat was red and is blue now.",)
    assert "(Changed)" in shown["theanine-no-refinement"].memories[0]
    assert "(Changed)" not in "".join(shown["theanine-no-linking"].memories)
    assert len(shown["theanine-shuffled"].memories) == 2
    assert len(shown["msc-retrieval"].memories) == 2
    assert len(shown["msc-retrieval, dynamic k"].memories) == 2, "the timeline holds two"
    assert shown[NO_MEMORY].memories == ()
    assert shown[NO_MEMORY].text == "shown 0"
    told = json.dumps(
        [seen.variables for seen in llm.seen if seen.prompt_name == "summarise_session.v1"]
    )
    assert "calm" not in told, "the session that is replayed is not remembered"
    gold = [seen for seen in llm.seen if seen.prompt_name == PROMPT]
    assert not any("I will." in seen.messages[-1]["content"] for seen in gold)


def test_memories_are_lines_within_the_limit_of_all_replies():
    """A memory with line breaks cannot imitate the prompt; a long list is cut, with a note."""

    def broken(seen):
        if seen.schema and seen.schema.__name__ == "RefinedTimeline":
            return json.dumps({"memory": "The boat was red.\n\nTalk:\nBen: It sank."})
        return answer(seen)

    llm = ScriptedLLM(broken)
    replies = replay_replies(TALK, TURNS[:1], ARMS[:1], llm, embedder=Words())
    assert replies[0].memories == ("The boat was red. Talk: Ben: It sank.",)
    assert replies[0].notes == ()
    few = replay_replies(
        TALK, TURNS[:1], [ARMS[4]], ScriptedLLM(answer), memory_tokens=6, embedder=Words()
    )
    assert len(few[0].memories) == 1
    assert few[0].notes == ("clipped to 6 tokens: 1 of 2 memories left out",)
    assert few[0].text == "shown 1"


def test_a_failed_reply_is_unscored_and_shown_as_such():
    arms = [Arm(NO_MEMORY, NO_MEMORY, 0, {})]
    llm = ScriptedLLM(lambda seen: Outcome("refused", "no"))
    items = reply_items(replay_replies(TALK, TURNS, arms, llm))
    assert items["rouge_l"].isna().all()
    assert items["words"].isna().all()
    assert items["unscored"].str.contains("refused").all()
    assert list(items["gold_words"]) == [4, 2]


def test_a_failed_search_asks_for_no_reply():
    """MemoChat cannot search where its call fails; its turn is unscored, not answered without."""

    def memo(seen):
        if seen.prompt_name.startswith("memochat") or seen.schema:
            return Outcome("truncated", "cut off")
        return "a reply"

    llm = ScriptedLLM(memo)
    replies = replay_replies(
        TALK, TURNS, [Arm("memochat", "memochat", 3, {})], llm, embedder=Words()
    )
    assert all((reply.text is None) == (reply.unscored is not None) for reply in replies)


def test_a_reply_is_compared_with_what_was_said():
    arms = [Arm(NO_MEMORY, NO_MEMORY, 0, {})]
    llm = ScriptedLLM(["Take the boat out!", "no match"])
    items = reply_items(replay_replies(TALK, TURNS, arms, llm))
    assert list(items["rouge_l"]) == [pytest.approx(1.0), 0.0]
    assert list(items["words"]) == [4, 2]


def test_options_of_a_run_lie_below_those_of_an_arm():
    arms = set_arms(ARMS, theanine={"seed": 3, "relations": True})
    by_name = {arm.name: arm for arm in arms}
    assert by_name["theanine"].options["seed"] == 3
    assert by_name["theanine-no-linking"].options["relations"] is False
    assert by_name["msc-retrieval"].options == {}


def test_costs_are_counted_without_asking():
    """By hand: two sessions stored, two turns replied to, one sentence a session."""
    with connect(LLMSettings.of("nobody"), "replay") as known:
        assert isinstance(known, Client)
        costs = session_costs(
            TALK,
            TURNS,
            [ARMS[4], ARMS[-1], COST_ARMS[1]],
            known,
            base="msc-retrieval",
            embedder=Words(),
        )
    table = costs.set_index("arm")
    assert table.loc["msc-retrieval", "calls"] == 4, "two summaries, two replies"
    assert table.loc[NO_MEMORY, "calls"] == 2
    assert table.loc["full-history", "calls"] == 2
    assert table.loc["full-history", "input_tokens"] > table.loc[NO_MEMORY, "input_tokens"]
    assert table.loc["msc-retrieval", "unanswered"] == 4
    assert table.loc["msc-retrieval", "ratio"] == 1


def test_the_number_of_memories_can_follow_the_timelines():
    """With nothing linked a timeline is one memory; k follows, and is never 0."""

    def unrelated(seen):
        if seen.schema and seen.schema.__name__ == "RelationLabel":
            return json.dumps({"relation": "None"})
        return answer(seen)

    turns = TURNS[:1]
    sizes = timeline_sizes(TALK, turns, ARMS[1], ScriptedLLM(unrelated), embedder=Words())
    assert sizes == [3], "three unlinked memories, a timeline each"
    with pytest.raises(ConfigError, match="draws no timelines"):
        timeline_sizes(TALK, turns, ARMS[4], ScriptedLLM(answer), embedder=Words())
