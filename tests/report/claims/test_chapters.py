"""Evidence from the items and tables of other chapters."""

import pandas as pd
import pytest

from unbidden.report.claims.grounding import Source, margin_evidence, reply_evidence
from unbidden.report.claims.misled import misled_evidence

SOURCE = Source("mine", "m")


def test_agents_are_compared_question_by_question():
    frame = pd.DataFrame(
        [
            {
                **{"conversation": home, "source": "own", "query_id": f"{home}#0"},
                **{"system": system, "metric": "teafarm", "judge": "repaired", "value": value},
            }
            for home, system, value in (
                ("a", "theanine", 1.0),
                ("a", "msc-retrieval", 0.0),
                ("b", "theanine", 1.0),
                ("b", "msc-retrieval", 1.0),
                ("c", "theanine", 1.0),  # the other has no verdict
            )
        ]
    )
    (part,) = misled_evidence(frame, dataset="d", model="m")
    assert (part.estimate, part.n, part.clusters) == (0.5, 2, 2)
    alone = frame[frame["system"] == "theanine"]
    assert misled_evidence(alone, dataset="d", model="m") == []


def test_replies_speak_of_what_is_lost_after_retrieval():
    scored = pd.DataFrame(
        {
            "way": ["bm25"] * 4,
            "conversation": list("aabb"),
            "recall": [1, 1, 0.5, 0],
            "score": [1, 0.5, 0, 0],
            "oracle": [1, 1, 1, 0.5],
        }
    )
    base = pd.DataFrame(
        {
            "way": ["oracle", "oracle", "bm25"],
            "metric": ["composed", "composed", "composed"],
            "value": [0.5, 1.0, 0.0],
            "conversation": ["a", "b", "b"],
        }
    )
    found = {part.claim: part.estimate for part in reply_evidence(SOURCE, scored, base)}
    assert found == {
        "retrieval_not_grounding": 0.25,
        "loss_after_retrieval": pytest.approx(1 / 8 + 1 / 8 - 3 / 8),
        "composed_ceiling": 0.25,
    }
    nothing = scored.assign(score=float("nan"))
    assert reply_evidence(SOURCE, nothing, base[:0]) == []


def test_only_wins_in_both_orders_speak_of_silent_grounding():
    row = {
        **{"compared": "oracle − random", "counted": "both orders", "limits": "equal"},
        **{"part": "total", "margin": 0.5, "low": 0.25, "high": 0.75, "n": 12},
        "conversations": 3,
    }
    margins = pd.DataFrame(
        [
            row,
            row | {"counted": "one order", "margin": 0.9},
            row | {"compared": "random − no memory"},
            row | {"limits": "paper"},
        ]
    )
    chosen = pd.DataFrame(
        [row | {"pool": "all", "compared": "cot − oracle", "counted": "graded alone, repaired"}]
    )
    found = margin_evidence(SOURCE, margins, chosen)
    assert [(part.claim, part.part, part.estimate) for part in found] == [
        ("silent_grounding", "oracle − random", 0.5),
        ("reasoned_as_good", "cot − oracle", 0.5),
    ]
    on_all = margin_evidence(SOURCE, margins, chosen, silent_only=False)
    assert [part.claim for part in on_all] == ["reasoned_as_good"]
