"""The relation call: what it shows, how its answer is read, and every way it can fail."""

import json

import pytest

from tests.memory.hand import conversation
from tests.memory.theanine.hand import memory
from unbidden.errors import ConfigError
from unbidden.llm import Outcome, ScriptedLLM
from unbidden.llm.schemas_theanine import ReasonedRelation, RelationLabel
from unbidden.memory.calls import CountedCalls
from unbidden.memory.modelled import IngestLog
from unbidden.memory.theanine.asking import RelationAsker
from unbidden.memory.theanine.linking import Pair

TALK = conversation(
    [("Ana", "I have a boat.", "a red boat"), ("Ben", "Nice.")], [("Ben", "Where is it?")]
)
OLD = memory("s1-m1", 1, "Ana has a boat.", ("D1:1",))
NEW = memory("s2-m1", 2, "Ben asks for the boat.", ("D2:1",))


def asked(*answers, pairs=1, **options):
    log, llm = IngestLog(), ScriptedLLM(answers)
    ask = RelationAsker(TALK.sessions, CountedCalls(llm), log, **options)
    return ask([Pair(OLD, NEW)] * pairs), log, llm, ask


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        ("label", RelationLabel(relation="Causes")),
        ("reason", ReasonedRelation(reason="It sank.", relation="Cause (A to B)")),
    ],
)
def test_both_memories_and_both_dialogues_are_shown(prompt, answer):
    found, log, llm, _ = asked(answer, prompt=prompt)
    assert found == ["Cause"] and log.events["relations_found"] == log.events["pairs_asked"] == 1
    system, user = (message["content"] for message in llm.seen[0].messages)
    assert user == (
        "Talk of A:\nAna: I have a boat. [image: a red boat]\nBen: Nice.\n\n"
        "Talk of B:\nBen: Where is it?\n\n"
        "A: Ana has a boat.\nB: Ben asks for the boat."
    )
    for label in ("Changed", "Cause", "Reason", "HinderedBy", "React", "Want", "SameTopic", "None"):
        assert f"{label}:" in system and f'"relation": "{label}"' in system
    assert ("reason" in system) == (prompt == "reason")


def test_less_of_the_dialogues_may_be_shown():
    none = RelationLabel(relation="None")
    _, _, llm, _ = asked(none, captions=False)
    assert "image" not in llm.seen[0].messages[1]["content"]
    _, _, llm, _ = asked(none, dialogues="none")
    bare = "A: Ana has a boat.\nB: Ben asks for the boat."
    assert llm.seen[0].messages[1]["content"] == bare
    _, _, llm, _ = asked(none, dialogues="sources")
    assert llm.seen[0].messages[1]["content"] == (
        "Talk of A:\nAna: I have a boat. [image: a red boat]\n\n"
        f"Talk of B:\nBen: Where is it?\n\n{bare}"
    )


def test_none_and_unknown_labels_are_told_apart():
    labels = ("None", "no relation", "Effect", "Effect", "SameTopic")
    found, log, _, ask = asked(*(RelationLabel(relation=text) for text in labels), pairs=5)
    assert found == [None, None, None, None, "SameTopic"]
    assert (log.events["relations_none"], log.events["relations_unknown"]) == (2, 2)
    assert ask.unknown == {"Effect": 2} and log.failures == []


@pytest.mark.parametrize("prompt", ["label", "reason"])
@pytest.mark.parametrize(
    "bad",
    ["", "Cause", "{}", "[]", '{"relation": 1}', '{"relation": " "}', '{"relation": "Ca',
     '{"relation": null, "reason": ""}', '{"reason": "x"}', '{"relation": "Cause", "why": "x"}',
     Outcome("refused", "no"), Outcome("filtered", "cut"), Outcome("timeout", "slow")],
)  # fmt: skip
def test_a_failed_call_makes_no_link_and_is_counted(prompt, bad):
    found, log, _, ask = asked(bad, prompt=prompt)
    assert found == [None] and log.events["relations_failed"] == 1
    assert log.events["relations_none"] == log.events["relations_unknown"] == 0
    (failure,) = log.failures
    assert (failure.unit, failure.turns) == ("links of s2-m1", ("D2:1",))
    assert failure.reason.startswith("relation to s1-m1: ") and not ask.unknown


def test_the_label_prompt_does_not_take_a_reason_for_an_answer():
    found, log, _, _ = asked('{"reason": "x", "relation": "Cause"}')
    assert found == [None] and log.events["relations_failed"] == 1


def test_nothing_to_ask_is_no_call():
    found, log, llm, _ = asked(pairs=0)
    assert found == [] and llm.seen == [] and log.events["pairs_asked"] == 0


def test_options_and_foreign_prompts_are_checked(tmp_path):
    for option in ({"prompt": "long"}, {"dialogues": "all"}):
        with pytest.raises(ConfigError, match="known: "):
            asked(**option)
    from unbidden.llm import PromptLibrary

    (tmp_path / "theanine_relation.v1.j2").write_text(
        "{# {role: memory, purpose: mine} #}{% block system %}S{% endblock %}"
        "{% block user %}{{ a.text }}{{ b.text }}{% endblock %}"
    )
    llm = ScriptedLLM([json.dumps("Cause")], library=PromptLibrary([tmp_path]))
    ask = RelationAsker(TALK.sessions, CountedCalls(llm), IngestLog())
    with pytest.raises(ConfigError, match="another form"):
        ask([Pair(OLD, NEW)])
