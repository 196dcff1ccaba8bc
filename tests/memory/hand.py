"""Hand-made parts for the tests of model-built systems."""

import datetime as dt

import numpy as np

from unbidden.corpus.models import Conversation, Session, Turn
from unbidden.memory.tokens import unicode_tokens


class Words:
    """Embeds a text as the set of its words, so that cosines can be worked out by hand."""

    def __init__(self):
        self.seen = []
        self._place = {}

    def encode(self, texts):
        self.seen.extend(texts)
        rows = np.zeros((len(texts), 512), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in set(unicode_tokens(text)):
                row[self._place.setdefault(word, len(self._place))] = 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


def conversation(*sessions, speakers=("Ana", "Ben")):
    """Build a conversation from lists of (speaker, text[, caption]); session n is on day n of May
    2023."""
    return Conversation(
        "hand",
        speakers,
        tuple(
            Session(
                n,
                dt.datetime(2023, 5, n, 13, 0),
                f"1:00 pm on {n} May, 2023",
                tuple(Turn(f"D{n}:{i}", *said) for i, said in enumerate(turns, start=1)),
            )
            for n, turns in enumerate(sessions, start=1)
        ),
    )


def texts(hits):
    return [hit.text for hit in hits]
