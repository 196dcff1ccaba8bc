import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.errors import ConfigError
from unbidden.queries.leaks import forbidden_words, leak, paper_leak, repaired_leak
from unbidden.queries.terms import stem, terms

WORDS = st.sampled_from(
    ["boat", "Boats", "7", "seven", "May", "painted", "the", "2023", "林悦", "of"]
)
PHRASES = st.lists(WORDS, max_size=6).map(" ".join)
ANY = st.text(max_size=60)


def test_paper_measure_is_the_papers():
    # Four words are longer than three characters; "running," never matches, "port" does in "sport".
    found = paper_leak("SPORT: I was running home", ["running, port", "a Home port abc zzzz"])
    assert found.words == ("home", "port")
    assert found.answer_share == 2 / 4
    assert found.query_share is None
    assert (
        paper_leak("anything", ["abc"]).answer_share == 0
    )  # no word counts: 0, as the paper has it


@pytest.mark.parametrize(
    ("query", "answers", "share"),
    [
        ("I ran a sport shop", ["port"], 0),  # no piece of a longer word
        ("running, again", ["She runs."], 1),
        ("my hobbies", ["A hobby"], 1),
        ("two kids", ["2"], 1),
        ("he has 12 of them", ["twelve"], 1),
        ("in Sept, I think", ["September 2022"], 1 / 2),
        ("back in '22", ["September 2022"], 1 / 2),
        ("on 2023-05-07", ["7 May 2023"], 1),
        ("I may go, may I?", ["7 May 2023"], 0),
        ("May I go", ["May"], 0),
        ("since may", ["May"], 1),
        ("the 7th of may", ["7 May"], 1),
        ("paid 1,000 for it", ["1000 euros"], 1 / 2),
        ("the 1990s", ["1990"], 1),
        ("we didn't", ["didn't"], None),
        ("red things", ["the red boat", "it was painted blue"], 1 / 4),
        ("昨天我见到林悦了", ["林悦"], 1),
        ("昨天我见到悦林了", ["林悦"], 0),
        ("林家", ["林"], 1),
        ("Это моя лодка", ["лодка"], 1),
    ],
)
def test_repaired_answer_share(query, answers, share):
    assert leak(query, answers, "repaired").answer_share == share


def test_directions_and_topic():
    found = repaired_leak("The boat, the red boat, is at Rui's", ["red boat Ana sold"])
    assert found.answer_share == 2 / 4
    assert found.query_share == 2 / 3
    assert found.above()
    # What the plain question names gives nothing away.
    found = repaired_leak("The red boat is gone", ["red boat"], topic="What boat did Ana sell?")
    assert (found.answer_share, found.words) == (1, ("red",))
    assert repaired_leak("", ["boat"]).query_share is None
    assert not repaired_leak("boat", [""]).above(0)


def test_forbidden_words():
    answers = ["two painted boats", "7 May"]
    assert forbidden_words("2 boats", answers, "repaired") == ("2", "boats", "two")
    assert forbidden_words("nothing", answers, "paper") == ("boats", "painted")
    assert forbidden_words("boat", ["boat"], "repaired", topic="boat") == ()
    assert len(forbidden_words("x", [" ".join(f"word{i}" for i in range(99))], "paper")) == 60


def test_unknown_measure():
    with pytest.raises(ConfigError, match="did you mean paper"):
        leak("a", ["b"], "papers")


@settings(deadline=None)
@given(ANY, st.lists(ANY, max_size=3), ANY)
def test_shares_are_shares(query, answers, topic):
    for measure in ("paper", "repaired"):
        found = leak(query, answers, measure, topic)
        for share in (found.answer_share, found.query_share):
            assert share is None or 0 <= share <= 1
        assert bool(found.words) == bool(found.answer_share)
        forbidden_words(query, answers, measure, topic)


@settings(deadline=None)
@given(ANY)
def test_an_answer_gives_all_of_itself_away(text):
    found = repaired_leak(text, [text])
    assert found.answer_share == found.query_share == (1 if terms(text) else None)
    assert paper_leak(text, [text]).answer_share in (0, 1)


@settings(deadline=None)
@given(st.text("三林悦 a7", max_size=8), st.text("三林悦 a7", max_size=8))
def test_the_topic_itself_gives_nothing_away(topic, answer):
    assert repaired_leak(topic, [answer], topic).words == ()


@settings(deadline=None)
@given(PHRASES, PHRASES, PHRASES)
def test_saying_more_gives_no_less_away(query, more, answer):
    for measure in ("paper", "repaired"):
        short = leak(query, [answer], measure)
        longer = leak(f"{query} and {more}", [answer], measure)
        assert set(short.words) <= set(longer.words)


@settings(deadline=None)
@given(PHRASES, st.lists(PHRASES, min_size=1, max_size=3))
def test_members_do_not_depend_on_their_order(query, answers):
    for measure in ("paper", "repaired"):
        one, other = leak(query, answers, measure), leak(query, answers[::-1], measure)
        assert (one.answer_share, one.query_share) == (other.answer_share, other.query_share)


@settings(deadline=None)
@given(st.from_regex(r"[a-z]{1,15}", fullmatch=True))
def test_stem_keeps_a_beginning(word):
    assert stem(word)
    assert stem(word)[:-1] == word[: len(stem(word)) - 1]
