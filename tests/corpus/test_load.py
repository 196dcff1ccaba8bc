import json

import pytest

from unbidden.corpus import load_corpus, sources
from unbidden.corpus.audit import audit
from unbidden.errors import ConfigError, DataError


def test_reads_a_file_as_documented(write, sample):
    corpus = load_corpus(str(write([sample])))
    (conversation,) = corpus.conversations
    assert conversation.speakers == ("Ana", "Ben")
    assert [turn.id for turn in conversation.turns] == [
        "D1:1",
        "D1:2",
        "D1:3",
        "D2:1",
        "D2:2",
        "D2:3",
    ]
    assert conversation.turns[2].caption == "a man on a pier"
    assert conversation.sessions[0].when.hour == 0  # 12:09 am
    assert len(conversation.sessions) == 2  # the third date has no session
    assert conversation.questions[2].answer == "2023"
    adversarial = conversation.questions[4]
    assert (adversarial.answer, adversarial.trap) == (None, "the red boat")
    assert conversation.questions[0].rewrites["implicit"].speaker == "Ana"
    kinds = {item.kind for item in corpus.irregularities}
    assert kinds == {"date without session", "answer is not text", "no evidence"}


def test_session_numbers_are_numbers_and_out_of_order_dates_are_sorted(write, sample):
    talk = sample["conversation"]
    talk["session_10"], talk["session_10_date_time"] = (
        [{"speaker": "Ana", "dia_id": "D10:1", "text": "later"}],
        "1:00 pm on 1 June, 2023",
    )
    (conversation,) = load_corpus(str(write([sample]))).conversations
    assert [session.number for session in conversation.sessions] == [1, 2, 10]
    talk["session_10_date_time"] = "1:00 pm on 1 June, 2020"
    corpus = load_corpus(str(write([sample])))
    assert [session.number for session in corpus.conversations[0].sessions] == [10, 1, 2]
    assert "sessions out of time order" in {item.kind for item in corpus.irregularities}


def test_odd_but_readable_things_are_listed(write, sample):
    sample["conversation"]["session_2"] = []
    sample["conversation"]["session_1_date_time"] = "one evening"
    sample["conversation"]["session_1"][1]["text"] = "  "
    sample["qa"][0]["question"] = ""
    corpus = load_corpus(str(write([sample])))
    kinds = {item.kind for item in corpus.irregularities}
    assert {"empty session", "no readable date", "empty turn", "empty question"} <= kinds
    found = audit(corpus)
    assert "evidence names no turn" in {item.kind for item in found.irregularities}
    assert (found.sessions, found.turns) == (1, 2)


def _break(sample, how):
    how(sample)
    return [sample]


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        (lambda s: s.pop("sample_id"), "sample_id"),
        (lambda s: s["conversation"].pop("speaker_a"), "speaker_a"),
        (lambda s: s["conversation"].update(session_1="text"), "session 1"),
        (lambda s: s["conversation"]["session_2"][0].update(dia_id="D1:1"), "D1:1 twice"),
        (lambda s: s["conversation"]["session_1"][0].pop("text"), "'text'"),
        (lambda s: s["qa"][0].update(category=9), "tiny-1#0"),
        (lambda s: s["qa"][1].update(evidence="D1:1"), "tiny-1#1"),
        (lambda s: s["qa"][1].update(evidence=[3]), "tiny-1#1"),
        (lambda s: s.update(qa={}), "'qa'"),
    ],
)
def test_malformed_records_are_named(write, sample, how, expected):
    with pytest.raises(DataError, match="LoCoMo's form") as error:
        load_corpus(str(write(_break(sample, how))))
    assert expected in str(error.value)
    assert "next:" in str(error.value)


@pytest.mark.parametrize(
    "text",
    ['[{"sample_id": "x"', '{"a": 1, "a": 2}', "[NaN]", "[" * 100_000, '["\\ud800"]', "[]", ""],
)
def test_no_half_or_hostile_json(tmp_path, text):
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError):
        load_corpus(str(path))


def test_not_utf8(tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes('["caf\u00e9"]'.encode("latin-1"))
    with pytest.raises(DataError, match="UTF-8"):
        load_corpus(str(path))


def test_folder_with_clusters_joined_by_content(write, sample, cluster, tmp_path):
    other = json.loads(json.dumps(sample))
    other["sample_id"] = "tiny-0"
    other["qa"][0]["question"] = "Something else?"
    write([other, sample], "set/locomo10_dialog.part.json")
    write([cluster], "set/locomo10_multimem_full.json")
    corpus = load_corpus(str(tmp_path / "set"))
    (found,) = corpus.clusters
    assert found.conversation == "tiny-1"  # its sample_idx, 7, is of another file
    assert corpus.name == "set"


def test_cluster_faults(write, sample, cluster, tmp_path):
    write([sample], "set/locomo10_dialog.json")
    lost = {**cluster, "member_facts": [{"q_idx": 0, "question": "?"}] * 2, "member_q_idxs": [0]}
    write([lost], "set/locomo10_multimem_full.json")
    corpus = load_corpus(str(tmp_path / "set"))
    assert not corpus.clusters
    assert corpus.irregularities[-1].kind == "cluster of no loaded conversation"
    for bad in ("text", {**cluster, "member_facts": []}, {**cluster, "member_q_idxs": [0, 3]}):
        write([cluster, bad], "set/locomo10_multimem_full.json")
        with pytest.raises(DataError, match="record 1"):
            load_corpus(str(tmp_path / "set"))


def test_same_conversation_in_two_files(write, sample, tmp_path):
    write([sample], "set/locomo10_dialog.a.json")
    write([sample], "set/locomo10_dialog.b.json")
    with pytest.raises(DataError, match="two files"):
        load_corpus(str(tmp_path / "set"))


def test_unknown_names_suggest_the_closest(write, sample, tmp_path):
    with pytest.raises(ConfigError, match="did you mean harbour"):
        load_corpus("harbor")
    with pytest.raises(ConfigError, match="did you mean tiny-1"):
        load_corpus(str(write([sample])), conversations=["tiny-2"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no conversations in the folder"):
        load_corpus(str(tmp_path / "empty"))


def test_missing_data_says_where_it_looked(monkeypatch, tmp_path):
    monkeypatch.setenv("UNBIDDEN_DATA", str(tmp_path))
    monkeypatch.setenv("UNBIDDEN_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DataError, match="unbidden data get locomo"):
        load_corpus("locomo")


def test_wrong_hash_is_refused(monkeypatch, write, sample, tmp_path):
    write([sample], "locomo/locomo10.json")
    monkeypatch.setenv("UNBIDDEN_DATA", str(tmp_path))
    with pytest.raises(DataError, match="79fa87e9") as error:
        load_corpus("locomo")
    assert "give its path as the dataset" in str(error.value)


def test_known_variant_is_named(monkeypatch, write, sample):
    path = write([sample])
    _, file = __import__("unbidden.corpus.jsonfile", fromlist=["read_json"]).read_json(path)
    monkeypatch.setitem(sources.KNOWN_VARIANTS, file.sha256, "the copy inside MemInsight")
    corpus = load_corpus(str(path))
    assert corpus.irregularities[-1].detail == "the copy inside MemInsight"


def test_download_is_checked(monkeypatch, tmp_path, httpserver):
    monkeypatch.setenv("UNBIDDEN_CACHE", str(tmp_path))
    httpserver.expect_request("/x.json").respond_with_data(b"[1]")
    digest = "080a9ed428559ef602668b4c00f114f1a11c3f6b02a435f0bdc154578e4d7f22"
    good = sources.Source("x", "x.json", httpserver.url_for("/x.json"), "none", digest, 3)
    monkeypatch.setitem(sources.SOURCES, "x", (good,))
    assert sources.get("x")[0].read_bytes() == b"[1]"
    assert sources.locate("x")[0].name == "x.json"
    bad = sources.Source("y", "x.json", httpserver.url_for("/x.json"), "none", "0" * 64, 3)
    monkeypatch.setitem(sources.SOURCES, "y", (bad,))
    with pytest.raises(DataError, match="could not be downloaded"):
        sources.get("y")
    assert not (tmp_path / "data" / "y" / "x.json").exists()  # no half or wrong file stays
    unpinned = sources.Source("z", "x.json", httpserver.url_for("/x.json"), "none")
    monkeypatch.setitem(sources.SOURCES, "z", (unpinned,))
    with pytest.raises(DataError, match="no pinned hash"):
        sources.get("z")
    assert sources.get("z", sha256={"x.json": digest})
