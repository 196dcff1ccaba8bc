"""A talk of two sessions about a boat, a question and an implied need, and a scripted writer."""

import json

from tests.memory.hand import conversation
from unbidden.corpus.models import Corpus
from unbidden.queries.build import Query

TALK = conversation(
    [("Ana", "I bought a red boat."), ("Ben", "I like <b>cats</b>.")],
    [("Ana", "I painted the boat blue."), ("Ben", "Good for you.")],
)
CORPUS = Corpus("hand", (TALK,))
QUERIES = [
    Query("hand#0", "hand", "question", "Who has a boat?", 1, (0,), frozenset({"D1:1"})),
    Query("hand#0", "hand", "implicit", "The sea is calm.", 1, (0,), frozenset({"D1:1"}), "Ana"),
]


def facts(seen):
    """Answer an extraction with one fact, another for each chunk, so that none form a group."""
    bought = "bought" in seen.messages[-1]["content"]
    return json.dumps({"facts": ["Ana has a red boat" if bought else "it was fine weather today"]})
