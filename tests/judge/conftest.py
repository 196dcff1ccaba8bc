import pytest

from unbidden.corpus.load import load_corpus
from unbidden.judge import Case, GoldFact


def make_case(**changes):
    """A case of a small invented talk, with some fields changed."""
    fields = {
        "id": "c1",
        "conversation": "tiny-1",
        "speaker": "Ana",
        "message": "I still have the boat, haven't I?",
        "reply": "You sold the red boat to Rui.",
        "facts": (GoldFact("What did Ana sell?", "the red boat"),),
        "memories": ("Ana: I sold the red boat.",),
    }
    return Case(**{**fields, **changes})


@pytest.fixture(scope="session")
def harbour():
    return load_corpus("harbour")
