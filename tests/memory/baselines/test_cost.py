"""What an episode costs: THEANINE's Table 8 in calls, on an episode of five sessions."""

from tests.memory.hand import Words, conversation
from unbidden.llm import ScriptedLLM
from unbidden.llm.schemas_baselines import (
    ChosenNumbers,
    Compressed,
    Memo,
    MemoTopic,
    NumberedDecisions,
    PairDecision,
)
from unbidden.llm.schemas_summaries import SessionFacts
from unbidden.memory import create_system

TURNS, FACTS = 12, 6
SESSIONS = [
    [("Ana" if i % 2 else "Ben", f"session {n} line {i}") for i in range(TURNS)] for n in range(5)
]
PAST, NOW = conversation(*SESSIONS[:4]), [text for _, text in SESSIONS[4][:-1]]
AS_PUBLISHED = {
    "memory-update": {"candidates": None, "per_call": "pair"},
    "memochat": {"write_lines": None, "max_words": None, "cross_session": True},
}
# Dollars for an episode's last session, replies included (Table 8).
TABLE_8 = {
    "msc-retrieval": 0.0023,
    "all-memories": 0.0036,
    "rsum": 0.0057,
    "full-history": 0.0067,
    "memochat": 0.0076,
    "comedy": 0.0082,
    "memory-update": 0.0760,
}


def answer(seen):
    match seen.prompt_name.split(".")[0]:
        case "summarise_session":
            first = seen.variables["turns"][0]["text"]
            return SessionFacts(facts=[f"{first} fact {i}" for i in range(FACTS)])
        case "memory_update_pair":
            return PairDecision(reason="", label="APPEND")
        case "memory_update_listed":
            return NumberedDecisions(decisions=[])
        case "memochat_write":
            end = len(seen.variables["lines"])
            return Memo(topics=[MemoTopic(topic="t", summary="s", start=1, end=end)])
        case "memochat_choose":
            return ChosenNumbers(numbers=[1])
        case "comedy_compress":
            return Compressed(person="p", relationship="r", events="e")
    return "A memory."


def calls(name, **options):
    """Return the calls to write the memory of four sessions and to read it in the fifth."""
    system = create_system(name, llm=(llm := ScriptedLLM(answer)), embedder=Words(), **options)
    report = system.ingest(PAST)
    written = len(llm.seen)
    assert report.failed == 0 and sum(c.calls for c in report.calls.values()) == written
    for text in NOW:
        assert system.search(text, k=6, speaker="Ana")
    return written, len(llm.seen) - written


def test_calls_of_each_system_as_published():
    pairs = FACTS * FACTS * (1 + 2 + 3)
    assert {name: calls(name, **AS_PUBLISHED.get(name, {})) for name in TABLE_8} == {
        "full-history": (0, 0),
        "msc-retrieval": (4, 0),
        "all-memories": (4, 0),
        "rsum": (4, 0),
        "comedy": (4 + 2, 0),
        "memochat": (1, len(NOW)),
        "memory-update": (4 + pairs, 0),
    }


def test_the_extremes_are_those_of_the_paper():
    """Calls cannot order the middle, which Table 8 orders by the length of the reply's prompt."""
    total = {name: sum(calls(name, **AS_PUBLISHED.get(name, {}))) for name in TABLE_8}
    total.pop("full-history")
    ordered = sorted(total, key=lambda name: (total[name], TABLE_8[name]))
    assert ordered[0] == min(TABLE_8, key=TABLE_8.get) == "msc-retrieval"
    assert ordered[-1] == max(TABLE_8, key=TABLE_8.get) == "memory-update"
    assert ordered[:3] == ["msc-retrieval", "all-memories", "rsum"]
    assert set(ordered[3:5]) == {"memochat", "comedy"}
    assert total["memory-update"] > 10 * total[ordered[-2]]


def test_the_default_update_is_far_below_the_published_one():
    assert calls("memory-update") == (4 + FACTS * 3, 0)
    assert calls("memory-update", candidates=2, per_call="pair") == (4 + FACTS * 3 * 2, 0)
