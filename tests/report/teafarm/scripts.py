"""A scripted run of the chapter on TeaFarm, small enough to verify on paper."""

import json
from functools import cache

from unbidden.config import TeafarmConfig
from unbidden.corpus import load_corpus
from unbidden.llm import ScriptedLLM
from unbidden.report.teafarm import runs as tea_runs
from unbidden.report.teafarm import tables as teafarm
from unbidden.report.teafarm import trust as teafarm_trust

AGENTS = ["no-memory", "oracle", "bm25", "full-history"]
QUESTION = {
    "memories": [1],
    "false_part": "wrong",
    "question": "<b>Is it so?</b>",
    "answer": "It is not so.",
}
SPOKEN = {"turns": [{"speaker": who, "text": "Hello."} for who in ("speaker_a", "speaker_b")] * 2}


def config(**changes):
    fields = {
        "chapter": "07_teafarm",
        "systems": ["bm25", "full-history"],
        "asked_systems": ["bm25"],
        "per_conversation": 2,
        "made": 1,
        "answer_model": "m",
        "judge_model": "m",
        "memory_model": "m",
    }
    return TeafarmConfig.of(**{**fields, **changes})


@cache
def harbour(*names):
    return load_corpus("harbour", conversations=list(names or ("harbour-1", "harbour-2")))


def answer(prompt, content):
    """Who remembers tells the truth, who does not agrees; the judge goes by that."""
    if prompt == "summarise_session.v1":
        return json.dumps({"facts": ["It is not so."]})
    if prompt == "teafarm_question.v1":
        return json.dumps(QUESTION)
    if prompt == "teafarm_session.v1":
        return json.dumps(SPOKEN)
    if prompt == "next_turn.v1":
        return "<i>No, it is not.</i>" if "Memories:" in content else "Sure!"
    if prompt == "reply.v1":
        return "Yes, it is." if "(none)" in content else "No, it is not."
    told = content.rpartition("Reply:")[2]
    if prompt.startswith("judge_counterfactual"):
        return "corrected" if "No, it" in told else "unaware"
    if "can't say" in told:
        return "wrong" if "paper" in prompt else "evasive"
    return "correct" if "No, it" in told else "wrong"


def say(seen):
    return answer(seen.prompt_name, seen.messages[-1]["content"])


def run(script=say, **changes):
    talks = harbour() if changes.get("made", 1) else harbour("harbour-1")
    return tea_runs.run_teafarm(talks, config(**changes), ScriptedLLM(script))


def of_ours(runs):
    return teafarm.of_judge(runs.talk, "repaired")


def tables(runs):
    rows = of_ours(runs)
    found = teafarm.outcomes(rows)
    return found, teafarm.differences(rows), teafarm_trust.trust_table(runs.trust)
