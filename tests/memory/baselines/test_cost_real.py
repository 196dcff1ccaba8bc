"""THEANINE's Table 8 in dollars, on a real episode and its real summaries; the rest is scripted."""

import json

import pytest

from tests.memory.baselines.test_cost import AS_PUBLISHED, TABLE_8
from tests.memory.hand import Words
from unbidden.corpus.models import Conversation
from unbidden.llm import PromptLibrary, ScriptedLLM
from unbidden.llm.schemas_baselines import ChosenNumbers, Compressed, Memo, MemoTopic, PairDecision
from unbidden.llm.schemas_summaries import SessionFacts
from unbidden.llm.tokens import estimate, estimate_messages
from unbidden.memory import create_system
from unbidden.memory.summaries import dialogue_sessions

PRICE_IN, PRICE_OUT = 0.5e-6, 1.5e-6
"""Dollars a token, of gpt-3.5-turbo-0125."""
NAMES = ("first", "second", "third", "fourth", "fifth")


@pytest.fixture
def episode(real_data):
    """Return the sessions of the released episode and its summaries, by session."""
    folder = real_data / "theanine"
    if not (folder / "msc_sample_episode.json").is_file():
        pytest.skip("the released THEANINE files are not in the real data")
    (found,) = json.loads((folder / "msc_sample_episode.json").read_text(encoding="utf-8"))
    dialogues = [
        list(zip(found[f"{n}_session_speakers"], found[f"{n}_session_dialogue"], strict=True))
        for n in NAMES
    ]
    summaries = json.loads((folder / "msc_summary.json").read_text(encoding="utf-8"))
    (told,) = [item["summary"] for item in summaries if item["dataID"] == found["dataID"]]
    facts = [[text for key, text in told.items() if key.startswith(f"s{n}-")] for n in range(1, 6)]
    return dialogue_sessions(dialogues), facts


def scripted(facts):
    """Return a model whose replies are as long as the released ones."""
    every = [fact for session in facts for fact in session]
    summaries, folds = iter(facts), iter(range(1, 9))

    def answer(seen):
        match seen.prompt_name.split(".")[0]:
            case "summarise_session":
                return SessionFacts(facts=next(summaries))
            case "memory_update_pair":
                return PairDecision(reason="They are about two other things.", label="APPEND")
            case "memochat_write":
                count = len(seen.variables["lines"])
                return Memo(
                    topics=[
                        MemoTopic(topic="A topic", summary=every[i // 8], start=i + 1, end=i + 8)
                        for i in range(0, count, 8)
                    ]
                )
            case "memochat_choose":
                return ChosenNumbers(numbers=[1])
            case "comedy_compress":
                return Compressed(
                    person=" ".join(every[:6]), relationship=every[6], events=" ".join(every[7:11])
                )
        return " ".join(every[: 5 * next(folds)][:20])

    return ScriptedLLM(answer)


def dollars(name, sessions, facts):
    """Return what the memory of four sessions and the replies of the fifth cost."""
    past = Conversation("msc", ("Speaker A", "Speaker B"), sessions[:4])
    now = [f"{turn.speaker}: {turn.text}" for turn in sessions[4].turns]
    reply, given = PromptLibrary().get("reply.v1"), []
    llm = scripted(facts[:4])
    system = create_system(name, llm=llm, embedder=Words(), **AS_PUBLISHED.get(name, {}))
    outputs = []
    ask_many = llm.ask_many

    def counting(calls, **more):
        found = ask_many(calls, **more)
        outputs.extend(outcome.text for outcome in found)
        return found

    llm.ask_many = counting
    assert system.ingest(past).failed == 0
    for length in range(1, len(now)):
        said = "\n".join(now[:length])
        hits = system.search(said, k=6, speaker="Speaker A")
        assert hits
        variables = {
            "speaker": "Speaker A", "memories": [hit.text for hit in hits], "message": said,
        }  # fmt: skip
        given.append(estimate_messages(reply.render(variables)) * PRICE_IN)
        outputs.append(now[length])
    read = sum(estimate_messages(seen.messages) for seen in llm.seen) * PRICE_IN
    return read + sum(given) + sum(map(estimate, outputs)) * PRICE_OUT


@pytest.mark.realdata
def test_dollars_follow_the_paper_where_lengths_are_known(episode):
    """The four systems without a rewritten memory; the others' texts are invented here."""
    known = ["msc-retrieval", "all-memories", "full-history", "memory-update"]
    assert sorted(known, key=TABLE_8.get) == known
    cost = {name: dollars(name, *episode) for name in TABLE_8}
    assert sorted(known, key=cost.get) == known
    assert min(cost, key=cost.get) == "msc-retrieval"
    others = [value for name, value in cost.items() if name != "memory-update"]
    assert cost["memory-update"] > 3 * max(others)
