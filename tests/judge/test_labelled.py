"""The labelled set: its ids exist, its labels are on the scales, balanced and without repeats."""

import json
from collections import Counter

import pytest

from unbidden.errors import DataError
from unbidden.judge import RUBRICS, rubric, rubrics_for
from unbidden.judge.labelled import balance, case_of, cases, load_items
from unbidden.judge.rubrics.quality import DIMENSIONS

ITEMS = load_items()


def test_size_split_and_coverage():
    assert len(ITEMS) == 303
    assert {item.rubric for item in ITEMS} == set(RUBRICS.names())
    splits = Counter(item.split for item in ITEMS)
    assert splits == {"dev": 119, "test": 184}
    for name in RUBRICS.names():
        own = Counter(item.split for item in ITEMS if item.rubric == name)
        assert sum(own.values()) >= 20
        assert 0.3 <= own["dev"] / sum(own.values()) <= 0.45, name
    assert {item.conversation for item in ITEMS} == {f"harbour-{n}" for n in range(1, 7)}


def test_ids_are_unique_and_replies_differ():
    assert len({item.id for item in ITEMS}) == len(ITEMS)
    assert all(item.id.startswith(item.rubric + "-") for item in ITEMS)
    seen = Counter(
        (item.rubric, item.query_id, item.style, item.reply, item.other, item.memories)
        for item in ITEMS
    )
    assert max(seen.values()) == 1


def test_queries_turns_and_facts_exist(harbour):
    for item, case in zip(ITEMS, cases(ITEMS, harbour), strict=True):
        assert rubric(item.rubric).obstacle(case) is None, item.id
        conversation = harbour.conversation(item.conversation)
        assert {*item.memories, *item.other_memories} <= conversation.turn_ids
        assert case.speaker in conversation.speakers
        category = (
            None if item.style == "composed" else conversation.questions[item.members[0]].category
        )
        if item.rubric not in ("helpfulness", "quality"):
            assert item.rubric in rubrics_for(item.style, category), item.id


def test_labels_are_on_the_scales():
    for item in ITEMS:
        scale = rubric(item.rubric).scale
        assert not scale or item.label in scale, item.id
        assert all(0 <= value <= 1 for value in item.parts.values())
        if item.rubric == "composed":
            assert set(item.parts) == {"1", "2"}
            assert scale[item.label] == sum(item.parts.values()) / 2
        elif item.rubric == "implicit":
            assert scale[item.label] == min(item.parts.values())
        elif item.rubric == "quality":
            assert tuple(item.parts) == DIMENSIONS
            assert item.label == "/".join(f"{value:g}" for value in item.parts.values())
        else:
            assert not item.parts


def test_labels_are_balanced():
    for name, counts in balance(ITEMS).items():
        if name != "quality":
            assert set(counts) == set(rubric(name).scale)
            assert max(counts.values()) - min(counts.values()) <= 1, (name, counts)
    graded = [item for item in ITEMS if item.rubric == "quality"]
    for dimension in DIMENSIONS:
        counts = Counter(item.parts[dimension] for item in graded)
        assert set(counts) == {0.0, 0.5, 1.0}
        assert min(counts.values()) >= 5
        assert max(counts.values()) / len(graded) <= 0.6
    for split in ("dev", "test"):
        for name, counts in balance(i for i in ITEMS if i.split == split).items():
            if name != "quality":
                assert max(counts.values()) - min(counts.values()) <= 2, (split, name, counts)


def test_hard_cases_are_there():
    tags = Counter(tag for item in ITEMS for tag in item.tags)
    for tag in ("hedge", "wrong-detail", "partial-list", "negation", "paraphrase", "number"):
        assert tags[tag] >= 10, tag
    injected = {item.rubric for item in ITEMS if "injection" in item.tags}
    assert injected == set(RUBRICS.names()) - {"helpfulness"}
    assert tags["words-mislead"] >= 35
    assert tags["wrong-date"] >= 2
    assert tags["chinese"] >= 20


def test_an_injected_reply_never_has_the_label_it_asks_for():
    good = {"correct", "corrected", "all", "both", "1/1/1"}
    for item in ITEMS:
        if "injection" in item.tags and item.rubric not in ("trap", "unsupported", "pairwise"):
            assert item.label not in good, item.id


def test_splits_and_rubrics_are_selected():
    dev = load_items(split="dev", rubrics=["trap"])
    assert dev
    assert {(item.split, item.rubric) for item in dev} == {("dev", "trap")}


@pytest.mark.parametrize(
    "change",
    [
        {"split": "train"},
        {"query_id": "harbour-1"},
        {"query_id": "harbour-1#x"},
        {"label": ""},
        {"extra": 1},
        {"tags": None},
    ],
)
def test_a_malformed_line_is_named(tmp_path, change):
    good = {
        **{"id": "x", "split": "dev", "rubric": "trap", "query_id": "harbour-1#0"},
        **{"style": "dialog", "label": "yes", "tags": [], "reply": "r"},
    }
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in (good, good | change)) + "\n")
    with pytest.raises(DataError, match=r"line 2 of mine\.jsonl"):
        load_items(path=path)
    path.write_text("{\n")
    with pytest.raises(DataError, match="line 1"):
        load_items(path=path)


def test_an_item_of_another_corpus_is_named(harbour, tmp_path):
    for change in (
        {"query_id": "harbour-9#0"},
        {"query_id": "harbour-1#999"},
        {"query_id": "harbour-1#0+1", "style": "composed"},
        {"memories": ["D99:1"]},
    ):
        record = {
            **{"id": "odd", "split": "dev", "rubric": "fact_use", "query_id": "harbour-1#0"},
            **{"style": "dialog", "label": "wrong", "tags": [], "reply": "r"},
            **change,
        }
        path = tmp_path / "mine.jsonl"
        path.write_text(json.dumps(record))
        (item,) = load_items(path=path)
        with pytest.raises(DataError, match="odd does not fit"):
            case_of(item, harbour)
