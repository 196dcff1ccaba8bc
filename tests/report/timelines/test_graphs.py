"""Graphs and replies as the chapter on timelines shows them, from scripted models."""

import json

import pytest

from tests.memory.hand import Words
from tests.reply.test_replaying import TALK, TURNS, answer
from unbidden.config import TimelinesConfig
from unbidden.corpus.models import Corpus
from unbidden.errors import ConfigError, NotRecorded
from unbidden.llm import LLMSettings, Outcome, ScriptedLLM, connect
from unbidden.reply.costing import PRINTED
from unbidden.reply.replaying import ARMS, NO_MEMORY, Arm, Reply, replay_replies
from unbidden.report.timelines import graphs, replays

CORPUS = Corpus("hand", (TALK,))


def built(reply=answer):
    return graphs.graphs(CORPUS, ScriptedLLM(reply), {}, embedder=Words())


def test_counts_and_relations_by_hand():
    """Session 3 is summarised too: its sentence is the blue boat's again, so three memories."""
    systems, table = built()
    assert list(systems) == ["hand"]
    row = table.iloc[0]
    assert (row["memories"], row["edges"], row["Changed"]) == (3, 2, 2)
    shown = graphs.shown_relations(table).set_index("relation")
    assert shown.loc["Changed", "share, %"] == "100.0"
    assert shown.loc["Want", "links"] == 0
    numbers = graphs.graph_numbers(TimelinesConfig.of(chapter="06_timelines"), CORPUS, table)
    assert numbers["unknown_rate"] == "0.0"
    assert numbers["absent_note"] == ""


def test_labels_that_are_none_of_the_seven_are_counted():
    def odd(seen):
        if seen.schema and seen.schema.__name__ == "RelationLabel":
            return json.dumps({"relation": "Cousin"})
        return answer(seen)

    _, table = built(odd)
    shown = graphs.shown_graphs(table).iloc[0]
    assert shown["unknown labels, %"] == "100.0"
    assert shown["links"] == 0
    assert "ousin" in table["unknown_labels"][0]


def test_a_conversation_that_is_not_on_record_is_left_out_but_not_all_of_them():
    with connect(LLMSettings.of("nobody"), "replay") as llm, pytest.raises(NotRecorded):
        graphs.graphs(CORPUS, llm, {}, embedder=Words())


def test_timelines_drawn_and_shown_as_text():
    systems, _ = built()
    drawn = graphs.drawn_for_needs(CORPUS, systems)
    assert drawn["needs"][0] == 3, "without rewrites, the last session's turns"
    assert graphs.drawn_numbers(drawn)["fallback_rate"] == "0.0"
    shown = graphs.TimelineExamples(systems["hand"], [("Ana", "<i>boat</i>")])._repr_html_()
    assert "&lt;i&gt;boat" in shown
    assert "was red and is blue now" in shown


def test_a_failed_rewriting_is_said():
    def failing(seen):
        if seen.schema and seen.schema.__name__ == "RefinedTimeline":
            return Outcome("truncated", "cut off")
        return answer(seen)

    systems, _ = built(failing)
    shown = graphs.TimelineExamples(systems["hand"], [("Ana", "boat")])._repr_html_()
    assert "<i>not rewritten:</i> truncated" in shown


def test_timelines_whose_rewriting_is_not_on_record_are_shown_as_they_are():
    def unrecorded(seen):
        if seen.schema and seen.schema.__name__ == "RefinedTimeline":
            raise NotRecorded("1 model call is not recorded")
        return answer(seen)

    systems, _ = built(unrecorded)
    shown = graphs.TimelineExamples(systems["hand"], [("Ana", "boat")])._repr_html_()
    assert "[Ana has a red boat.] - (Changed) - [Ana has a blue boat.]" in shown
    assert "not run, its model calls are not on record" in shown
    assert "<i>rewritten:" not in shown


def test_reply_tables_by_hand():
    """Ben says "Take the boat out!", Ana "I will."; one arm repeats that, the other fails once."""
    replies = [
        Reply("same", TURNS[0], "Take the boat out!", ()),
        Reply("same", TURNS[1], "I will.", ()),
        Reply("msc-retrieval", TURNS[0], "no match", ()),
        Reply("msc-retrieval", TURNS[1], None, (), "refused: no"),
    ]
    table = replays.reply_table(replies).set_index("arm")
    assert table.loc["same", "rouge_l"] == pytest.approx(100)
    assert (table.loc["msc-retrieval", "n"], table.loc["msc-retrieval", "unscored"]) == (1, 1)
    shown = replays.shown_replies(table.reset_index())
    assert next(iter(shown["ROUGE-L"])).startswith("100.0")
    differences = replays.reply_differences(replies)
    assert set(differences["n"]) == {1}, "only turns both replied to"
    assert len(replays.shown_reply_differences(differences)) == 2


def test_the_papers_cost_ratio_is_found_by_name():
    assert replays.paper_ratio("memory-update") == "5.63"
    assert replays.paper_ratio("nobody") == "–"
    assert replays.paper_ratio(PRINTED) == "1.00"
    assert replays.paper_ratio("theanine") == "–", "it stops early, which the paper's does not"
    assert replays.paper_ratio("theanine-no-refinement, every pair asked") == "0.71"
    named = [arm.name for arm in ARMS[2:] if arm.system != NO_MEMORY and not arm.as_many_as]
    assert all(replays.paper_ratio(name) != "–" for name in named)


def test_costs_need_a_client_that_has_a_record():
    with pytest.raises(ConfigError, match="record"):
        replays.client_of(ScriptedLLM([]))


def test_an_episode_is_the_first_sessions():
    assert len(replays.episode(TALK, sessions=2).sessions) == 2
    assert len(replays.last_session_turns(TALK, 1)) == 1
    said = replay_replies(TALK, TURNS, [Arm(NO_MEMORY, NO_MEMORY, 0, {})], ScriptedLLM(answer))
    assert [reply.text for reply in said] == ["shown 0", "shown 0"]
