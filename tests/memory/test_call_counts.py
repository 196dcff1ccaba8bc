"""A real conversation through every model-built system: as many calls as its units ask for."""

import zlib
from functools import cache

import numpy as np
import pytest

from tests.memory.mem0.script import actions, added, facts, operation
from tests.memory.memora.script import cues, decision, entries, episodes, step
from unbidden.corpus import load_corpus
from unbidden.llm import ScriptedLLM
from unbidden.llm.schemas_notes import (
    AnchorEvents,
    AnchorFacts,
    EpisodeText,
    MergeDecision,
    MessageGroup,
    NoteAnalysis,
    NoteEvolution,
    QueryKeywords,
    Segmentation,
    Statements,
)
from unbidden.memory import create_system
from unbidden.memory.tokens import unicode_tokens

QUERY = "Has the dance studio opened yet?"
LONG = 20
"""Messages from which on Nemori has a session parted."""


class Hashed:
    """Embeds a text as the set of its words; a real conversation has more than `Words` holds."""

    def encode(self, texts):
        rows = np.zeros((len(texts), 1024), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[[zlib.crc32(word.encode()) % 1024 for word in unicode_tokens(text)]] = 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@pytest.fixture
def talk(real_data):
    """Return the shortest of the ten conversations."""
    return _conversation(real_data)


@cache
def _conversation(folder):
    return load_corpus("locomo", conversations=["conv-30"]).conversations[0]


def pairs(talk):
    """Return the messages of each batch of two."""
    return [
        len(session.turns[start : start + 2])
        for session in talk.sessions
        for start in range(0, len(session.turns), 2)
    ]


def amem(seen, talk):
    match seen.prompt_name:
        case "amem_analyse.v1":
            return NoteAnalysis(keywords=["talk"], context="They talk.", tags=["friends"])
        case "amem_query.v1":
            return QueryKeywords(keywords="dance, studio")
    near = seen.variables["neighbours"]
    return NoteEvolution(
        should_evolve=bool(near),
        actions=["strengthen", "update_neighbor"],
        suggested_connections=[line["number"] for line in near[:1]],
        tags_to_update=["again"],
        new_context_neighborhood=["They talk of it again."] * len(near),
        new_tags_neighborhood=[["again"]] * len(near),
    )


def mem0(seen, talk):
    """Extract the first message of each whole pair, word for word, and add it."""
    match seen.prompt_name:
        case "mem0_extract.v1" | "mem0_extract_context.v1":
            first, *rest = seen.variables["messages"]
            return facts(first["text"]) if rest else facts()
        case "mem0_update.v1":
            return actions(*(("ADD", "0", fact) for fact in seen.variables["facts"]))
        case "mem0_operation.v1":
            return operation("ADD", None, seen.variables["fact"])
        case "mem0_summary.v1":
            return "They talk."
    return added((seen.variables["messages"][0]["text"], "user", ["0"]))


def anchormem(seen, talk):
    """Say the same of all chunks of a session and nothing near it elsewhere: one group each."""
    if seen.prompt_name == "anchormem_events.v1":
        return AnchorEvents(events=[seen.variables["facts"][0]])
    date = seen.variables["chunk"].partition("\n")[0].removeprefix("DATE: ")
    number = [session.date_text for session in talk.sessions].index(date)
    return AnchorFacts(facts=[" ".join(f"{word}{number}" for word in ("one", "two", "three"))])


def memora(seen, talk):
    """Cut each session in two, with one fact each; the second is near the first and joins it."""
    match seen.prompt_name:
        case "memora_segment.v1":
            count = len(seen.variables["messages"])
            half = count // 2
            return episodes(range(1, half + 1), range(half + 1, count + 1))
        case "memora_extract.v1":
            session, _, turn = seen.variables["messages"][0]["id"].partition(":")
            index = " ".join(f"{word}{session}" for word in ("one", "two", "three", "four"))
            return entries((index if turn == "1" else f"{index} later", f"From {turn} on."))
        case "memora_cues.v1":
            return cues(**{entry["index"]: ["a talk"] for entry in seen.variables["entries"]})
        case "memora_update.v1":
            return decision(True, 0, None, "Both.")
    return step("STOP")


def nemori(seen, talk):
    """Part long sessions in two, the second of which is merged with an earlier episode."""
    match seen.prompt_name:
        case "nemori_segment.v1":
            numbers = range(1, len(seen.variables["messages"]) + 1)
            halves = ((numbers[: len(numbers) // 2], ""), (numbers[len(numbers) // 2 :], "later"))
            return Segmentation(
                episodes=[MessageGroup(indices=list(n), topic=topic) for n, topic in halves]
            )
        case "nemori_episode.v1":
            said = seen.variables["messages"][0]["text"]
            return EpisodeText(
                title=f"{said} {seen.variables['topic']}", content=said, timestamp=""
            )
        case "nemori_merge_check.v1":
            later = seen.variables["title"].endswith("later")
            target = seen.variables["candidates"][0]["id"] if later else None
            decided = "merge" if later else "new"
            return MergeDecision(decision=decided, merge_target_id=target, reason="")
        case "nemori_merge.v1":
            return EpisodeText(title="Both", content="Both of them.", timestamp="")
        case "nemori_predict.v1":
            return "They will talk."
    return Statements(statements=[f"They talk, {len(seen.messages[-1]['content'])} characters."])


def expected(case, talk):
    """Return the calls by prompt, of storing and of one search, and the number of units."""
    turns, sessions, batches = len(talk.turns), len(talk.sessions), pairs(talk)
    whole, long = batches.count(2), sum(len(s.turns) >= LONG for s in talk.sessions)
    told = sessions + long
    return {
        "amem": ({"analyse": turns, "evolve": turns}, {"query": 1}, turns),
        # Two stores, each fed with everything.
        "mem0 oss1": ({"extract": 2 * len(batches), "update": 2 * whole}, {}, 2 * len(batches)),
        # The first fact of a store is compared with nothing.
        "mem0 paper": (
            {
                "extract_context": 2 * len(batches),
                "operation": 2 * (whole - 1),
                "summary": 2 * sessions,
            },
            {},
            2 * len(batches),
        ),
        "mem0-v2": ({"add": 2 * len(batches)}, {}, 2 * len(batches)),
        # Chunks of three turns that share one: as many as there are pairs.
        "anchormem": (
            {"facts": len(batches), "events": sessions}, {}, len(batches) + sessions,
        ),
        # Cues for each segment, and once more for each merge.
        "memora": (
            {"segment": sessions, "extract": 2 * sessions, "cues": 3 * sessions,
             "update": sessions},
            {"policy": 1},
            2 * sessions,
        ),
        # The first episode is neither compared with an earlier one nor foretold.
        "nemori": (
            {"segment": long, "episode": told, "merge_check": told - 1, "merge": long,
             "extract": 1, "predict": told - 1, "compare": told - 1},
            {},
            sessions + told,
        ),
    }[case]  # fmt: skip


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("case", "answer", "options"),
    [
        ("amem", amem, {}),
        ("mem0 oss1", mem0, {"variant": "oss1"}),
        ("mem0 paper", mem0, {"variant": "paper"}),
        ("mem0-v2", mem0, {}),
        ("anchormem", anchormem, {}),
        ("memora", memora, {"policy": "prompted", "query_floor": 0.0}),
        ("nemori", nemori, {}),
    ],
)
def test_a_real_conversation_takes_as_many_calls_as_its_units(talk, case, answer, options):
    name = case.partition(" ")[0]
    llm = ScriptedLLM(lambda seen: answer(seen, talk))
    system = create_system(name, llm=llm, embedder=Hashed(), **options)
    report = system.ingest(talk)
    storing, searching, units = expected(case, talk)
    prefix = name.split("-")[0]
    assert {prompt: count.calls for prompt, count in report.calls.items()} == {
        f"{prefix}_{part}.v1": calls for part, calls in storing.items()
    }
    assert (report.units, report.failed) == (units, 0)
    assert 0 < len(system.search(QUERY, k=10, speaker=talk.speakers[0])) <= 10
    assert {prompt: count.calls for prompt, count in system.search_calls.items()} == {
        f"{prefix}_{part}.v1": calls for part, calls in searching.items()
    }
