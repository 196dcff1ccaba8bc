import copy
import json

import pytest

from unbidden.corpus import Rewrite, load_corpus
from unbidden.errors import DataError
from unbidden.queries.clusterfile import ClusterFile
from unbidden.queries.clusters import mine_pairs
from unbidden.queries.release import DialogFile, Written, normal_json


def _normal(path):
    return json.dumps(json.loads(path.read_text("utf-8")), indent=1, ensure_ascii=False) + "\n"


@pytest.fixture
def dialogs(sample):
    sample["qa"][0] |= {"rewrite_reason": "why", "tag": {"of": ["mine", 1.50]}}
    return DialogFile.parse([copy.deepcopy(sample)], "mine.json")


def test_a_document_keeps_what_it_does_not_know(dialogs, tmp_path, sample):
    dialogs.write(tmp_path / "out.json")
    again = DialogFile.read(tmp_path / "out.json")
    assert again.raw == [sample]
    assert again.conversations == dialogs.conversations
    assert (tmp_path / "out.json").read_text("utf-8") == _normal(tmp_path / "out.json")


def test_new_rewrites_are_read_back(dialogs, sample):
    written = {
        ("tiny-1", 0, "implicit"): Written(Rewrite("A new one.", "Ben", "why not"), "because"),
        ("tiny-1", 1, "dialog"): Written(Rewrite("Do you know?", "Ana", naturalness="high")),
        ("tiny-1", 1, "counterfactual"): Written(Rewrite("", "Ana"), error="Timeout: 30 s"),
    }
    new = DialogFile.parse(json.loads(dialogs.with_rewrites(written).text()), "mine.json")
    first, second, *others = new.conversations[0].questions
    assert first.rewrites["implicit"] == Rewrite("A new one.", "Ben", "why not")
    assert first.rewrites["dialog"] == dialogs.conversations[0].questions[0].rewrites["dialog"]
    assert second.rewrites == {"dialog": Rewrite("Do you know?", "Ana", naturalness="high")}
    assert others == list(dialogs.conversations[0].questions[2:])
    record = new.raw[0]["qa"][0]
    assert (record["implicit_reason"], record["implicit_error"]) == ("because", None)
    assert (record["rewrite_reason"], record["tag"]) == ("why", {"of": ["mine", 1.5]})
    assert new.raw[0]["qa"][1]["counterfactual_error"] == "Timeout: 30 s"
    assert dialogs.raw == [sample]  # the old document is as it was
    stale = dialogs.with_rewrites({("tiny-1", 0, "dialog"): Written(Rewrite("Other?", "Ana"))})
    assert "rewrite_reason" not in stale.raw[0]["qa"][0]


@pytest.mark.parametrize(
    ("key", "speaker", "message"),
    [
        (("tiny-2", 0, "dialog"), None, "tiny-2#0"),
        (("tiny-1", 9, "dialog"), None, "tiny-1#9"),
        (("tiny-1", -1, "dialog"), None, "tiny-1#-1"),
        (("tiny-1", 0, "composed"), None, "a style among"),
        (("tiny-1", 0, "dialog"), "Zoe", "a speaker among"),
    ],
)
def test_a_rewrite_that_does_not_fit(dialogs, key, speaker, message):
    with pytest.raises(DataError, match=message):
        dialogs.with_rewrites({key: Written(Rewrite("x", speaker))})


def test_clusters(dialogs, cluster, tmp_path):
    cluster["extra"] = {"kept": True}
    file = ClusterFile.parse([cluster], "c.json", dialogs.conversations)
    file.write(tmp_path / "c.json")
    again = ClusterFile.read(tmp_path / "c.json", dialogs.conversations)
    assert again == file
    new = again.with_queries({"S7_C0": Written(Rewrite("Once more.", "Ben", "all"), "short")})
    (composed,) = new.clusters
    assert composed.query == Rewrite("Once more.", "Ben", "all")
    assert new.raw[0]["extra"] == {"kept": True}
    assert new.raw[0]["rewrite_reason"] == "short"
    assert again.raw == [cluster]
    with pytest.raises(DataError, match="S0_C9"):
        file.with_queries({"S0_C9": Written(Rewrite("x"))})


def test_mined_groups_become_records_that_wait_for_a_query(dialogs):
    empty = ClusterFile.from_groups(dialogs, mine_pairs(dialogs.conversations[0]))
    assert not empty.clusters
    assert [note.kind for note in empty.irregularities] == ["empty query"]
    assert empty.raw[0]["gold_dia_ids"] == ["D1:1", "D1:3", "D2:2"]
    assert empty.raw[0]["member_facts"][0]["answer"] == "the red boat"
    full = empty.with_queries({"S0_C0": Written(Rewrite("Tell it.", "Ana"))})
    assert full.clusters[0].members == (0, 1)
    failed = full.with_queries({"S0_C0": Written(Rewrite(""), error="no answer")})
    assert not failed.clusters
    assert failed.raw[0]["rewrite_error"] == "no answer"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cluster_id": None}, "record 0"),
        ({"cluster_id": "S7_C1"}, "record 1"),  # stands twice
        ({"gold_dia_ids": "D1:1"}, "S7_C0"),
        ({"gold_dia_ids": [1]}, "S7_C0"),
        ({"member_facts": []}, "record 0"),
    ],
)
def test_malformed_clusters_are_named(dialogs, cluster, change, message):
    other = {**cluster, "cluster_id": "S7_C1"}
    with pytest.raises(DataError, match=message):
        ClusterFile.parse([{**cluster, **change}, other], "c.json", dialogs.conversations)


def test_malformed_samples_are_named(sample):
    del sample["qa"][2]["evidence"]
    with pytest.raises(DataError, match="tiny-1#2"):
        DialogFile.parse([sample], "mine.json")
    assert normal_json([]) == "[]\n"


@pytest.mark.realdata
def test_the_release_survives(real_data, tmp_path):
    folder = real_data / "locomo-conv"
    for path in folder.glob("locomo10_dialog*.json"):
        dialogs = DialogFile.read(path)
        dialogs.write(tmp_path / path.name)
        assert (tmp_path / path.name).read_text("utf-8") == _normal(path)
        # Giving every rewrite again changes no query.
        same = {
            (item.id, question.index, style): Written(rewrite)
            for item in dialogs.conversations
            for question in item.questions
            for style, rewrite in question.rewrites.items()
        }
        assert len(same) == 199 * 2 + 152
        assert dialogs.with_rewrites(same).conversations == dialogs.conversations
    (path,) = folder.glob("locomo10_multimem_full*.json")
    clusters = ClusterFile.read(path, dialogs.conversations)
    clusters.write(tmp_path / path.name)
    assert (tmp_path / path.name).read_text("utf-8") == _normal(path)
    corpus = load_corpus(str(tmp_path))
    assert corpus.clusters == clusters.clusters
    assert corpus.conversations == dialogs.conversations


@pytest.mark.realdata
def test_mining_makes_the_released_records(real_data):
    folder = real_data / "locomo-conv"
    dialogs = DialogFile.read(next(folder.glob("locomo10_dialog*.json")))
    (path,) = folder.glob("locomo10_multimem_full*.json")
    released = ClusterFile.read(path, dialogs.conversations)
    mined = ClusterFile.from_groups(dialogs, mine_pairs(dialogs.conversations[0]))
    keys = ("sample_idx", "cluster_id", "member_q_idxs", "gold_dia_ids", "member_facts")
    assert [{key: record[key] for key in keys} for record in mined.raw] == [
        {key: record[key] for key in keys} for record in released.raw
    ]
