"""The whole history as one memory, its last turns, and a budget that keeps the end."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.memory.hand import conversation, texts
from unbidden.errors import ConfigError
from unbidden.memory import create_system
from unbidden.memory.tokens import count_tokens

TALK = conversation(
    [("Ana", "I bought a boat.", "a red boat"), ("Ben", "Nice.")],
    [("Ben", "I have a cat."), ("Ana", "Lovely.")],
)


def built(**options):
    system = create_system("full-history", **options)
    return system, system.ingest(TALK)


def test_everything_is_one_memory_in_time_order_whatever_k():
    system, report = built()
    (hit,) = system.search("anything", k=1)
    assert hit.text == (
        'DATE: 1:00 pm on 1 May, 2023\nAna said, "I bought a boat." and shared a red boat.\n'
        'Ben said, "Nice."\n\nDATE: 1:00 pm on 2 May, 2023\nBen said, "I have a cat."\n'
        'Ana said, "Lovely."'
    )
    assert hit.sources == ("D1:1", "D1:2", "D2:1", "D2:2")
    assert system.search("else", k=50) == [hit] and system.search("x", k=0) == []
    assert (report.units, report.memories, report.failed) == (4, 1, 0)
    repaired, _ = built(protocol="repaired")
    assert "Ana, 2 May 2023: Lovely." in repaired.search("x", k=1)[0].text


def test_the_last_turns_come_last_first():
    system, report = built(form="latest")
    hits = system.search("boat", k=3)
    assert [hit.sources for hit in hits] == [("D2:2",), ("D2:1",), ("D1:2",)]
    assert [hit.score for hit in hits] == [4.0, 3.0, 2.0]
    assert hits[0].text == 'DATE: 1:00 pm on 2 May, 2023\nAna said, "Lovely."'
    assert hits[0].time == TALK.sessions[1].when
    assert report.memories == 4 and len(system.search("x", k=9)) == 4


def test_a_budget_keeps_the_last_turns_that_fit():
    whole = built()[0].search("x", k=1)[0].text
    system, report = built(budget=count_tokens(whole) - 1)
    (hit,) = system.search("x", k=1)
    assert hit.sources == ("D1:2", "D2:1", "D2:2") and report.events == {"cut": 1}
    assert hit.text.startswith('DATE: 1:00 pm on 1 May, 2023\nBen said, "Nice."')
    none, report = built(budget=1)
    assert none.search("x", k=1) == [] and (report.memories, report.events["cut"]) == (0, 4)


@given(st.integers(1, 80), st.sampled_from(["paper", "repaired"]))
def test_what_a_budget_keeps_fits_and_one_turn_more_would_not(budget, protocol):
    system, _ = built(budget=budget, protocol=protocol)
    ids = [turn.id for turn in TALK.turns]
    (*_, kept) = [(), *(hit.sources for hit in system.search("x", k=1))]
    assert list(kept) == ids[len(ids) - len(kept) :]
    assert count_tokens(system.text) <= budget
    if len(kept) < len(ids):
        pairs = [(s, t) for s in TALK.sessions for t in s.turns]
        assert count_tokens(system._text(pairs[len(ids) - len(kept) - 1 :])) > budget


def test_a_new_conversation_replaces_the_old_one():
    system, _ = built()
    system.ingest(conversation([("Ana", "new")]))
    assert system.search("x", k=1)[0].sources == ("D1:1",)
    assert system.ingest(conversation([])).units == 0
    assert system.search("x", k=1) == [] and texts(system.search("x", k=3)) == []


def test_parameters_out_of_range():
    for option in ({"form": "x"}, {"protocol": "x"}, {"budget": 0}):
        with pytest.raises(ConfigError):
            built(**option)
