"""The same conversation asks the same, in the same order, each once, and knows no other date."""

import datetime as dt
import json

import pytest

from tests.memory.baselines.test_cost import AS_PUBLISHED, NOW, PAST, TABLE_8, answer
from tests.memory.hand import Words
from unbidden.llm import ScriptedLLM
from unbidden.memory import create_system

MODELLED = sorted(set(TABLE_8) - {"full-history"})


def run(name, options):
    system = create_system(name, llm=(llm := ScriptedLLM(answer)), embedder=Words(), **options)
    report = system.ingest(PAST)
    hits = [system.search(text, k=4, speaker="Ben") for text in NOW]
    return llm, report, hits, system


@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("name", MODELLED)
def test_the_same_requests_come_in_the_same_order_each_once(name, published):
    options = AS_PUBLISHED.get(name, {}) if published else {}
    first, report, hits, system = run(name, options)
    again, report_again, hits_again, _ = run(name, options)
    keys = [seen.key for seen in first.seen]
    assert keys == [seen.key for seen in again.seen] and len(set(keys)) == len(keys)
    assert (report, hits) == (report_again, hits_again)
    asked = len(first.seen)
    writing = [seen.key for seen in first.seen if "choose" not in seen.prompt_name]
    assert system.ingest(PAST) == report, "another ingestion starts from nothing"
    assert [seen.key for seen in first.seen[asked:]] == writing
    year = str(dt.datetime.now(dt.UTC).year)
    assert all(year not in json.dumps(seen.messages) for seen in first.seen)


@pytest.mark.parametrize("name", MODELLED)
def test_what_is_returned_names_turns_of_the_conversation_or_none(name):
    _, _, found, system = run(name, {})
    for hits in found:
        assert len(hits) <= 4 and [h.score for h in hits] == sorted(
            (h.score for h in hits), reverse=True
        )
        for hit in hits:
            assert set(hit.sources) <= PAST.turn_ids
            assert bool(hit.sources) == (system.info.provenance != "none")
