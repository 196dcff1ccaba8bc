import dataclasses
import json

import pytest

from unbidden.corpus import load_corpus, sources
from unbidden.corpus.audit import audit
from unbidden.corpus.load import dialog_files
from unbidden.corpus.release import read_clusters
from unbidden.errors import ConfigError, DataError
from unbidden.queries.overlap import overlap_items


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
    sample["conversation"]["session_1"][2]["blip_caption"] = 7
    sample["qa"][0] |= {"question": "", "category": 4.0, "dialog_query": " "}
    sample["qa"][0] |= {"implicit_query": 5, "counterfactual_query": ["a"]}
    corpus = load_corpus(str(write([sample])))
    kinds = {item.kind for item in corpus.irregularities}
    assert {"empty session", "no readable date", "empty turn", "empty question"} <= kinds
    styles = {f"{style}_query is not a text" for style in ("dialog", "implicit", "counterfactual")}
    assert styles | {"blip_caption is not a text", "category is a decimal number"} <= kinds
    question = corpus.conversations[0].questions[0]
    assert (question.category, type(question.category), question.rewrites) == (4, int, {})
    found = audit(corpus)
    assert "evidence names no turn" in {item.kind for item in found.irregularities}
    assert (found.sessions, found.turns) == (1, 2)


def test_missing_and_null_texts_are_not_listed(write, sample):
    sample["qa"][4]["counterfactual_query"] = None  # as in the release
    sample["conversation"]["session_1"][0]["blip_caption"] = None
    corpus = load_corpus(str(write([sample])))
    assert not [item for item in corpus.irregularities if "is not a text" in item.kind]


def test_a_conversation_without_questions_is_listed(write, sample):
    corpus = load_corpus(str(write([sample | {"qa": []}])))
    assert "no questions" in {item.kind for item in corpus.irregularities}
    items = overlap_items(corpus, [])
    assert list(items.columns) == [
        *("conversation", "query_id", "style", "category", "words", "value")
    ]
    assert items.empty
    assert items["value"].dtype == float


def _break(sample, how):
    how(sample)
    return [sample]


@pytest.mark.fault("records of the wrong form", "refused, naming the record")
@pytest.mark.parametrize(
    ("how", "expected"),
    [
        (lambda s: s.pop("sample_id"), "sample_id"),
        (lambda s: s["conversation"].pop("speaker_a"), "speaker_a"),
        (lambda s: s["conversation"].update(session_1="text"), "session 1"),
        (lambda s: s["conversation"]["session_2"][0].update(dia_id="D1:1"), "D1:1 twice"),
        (lambda s: s["conversation"]["session_1"][0].pop("text"), "'text'"),
        (lambda s: s["qa"][0].update(category=9), "tiny-1#0"),
        (lambda s: s["qa"][0].update(category=[4]), "tiny-1#0"),
        (lambda s: s["qa"][0].update(category={}), "tiny-1#0"),
        (lambda s: s["qa"][0].update(category=True), "tiny-1#0"),
        (lambda s: s["qa"][0].update(category=4.5), "tiny-1#0"),
        (lambda s: s["conversation"].update({"session_" + "1" * 5000: []}), "tiny-1"),
        (lambda s: s["conversation"].update({f"session_{'1' * 5000}_date_time": ""}), "tiny-1"),
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


@pytest.mark.fault(
    "half, deep, doubled or endless JSON, NaN, infinity, lone surrogates",
    "refused, with what to do",
)
@pytest.mark.parametrize(
    ("text", "step"),
    [
        ('[{"sample_id": "x"', "download the file again"),
        ("", "download the file again"),
        ('{"a": 1, "a": 2}', "correct the file"),
        ("[NaN]", "correct the file"),
        ("[-Infinity]", "correct the file"),
        ("[1e400]", "correct the file"),
        ("[" + "1" * 5000 + "]", "correct the file"),
        ("[" * 100_000, "correct the file"),
        ('["\\ud800"]', "correct the file"),
        ("[]", "correct the record"),
    ],
)
def test_no_half_or_hostile_json(tmp_path, text, step):
    path = tmp_path / "bad.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=step):
        load_corpus(str(path))


@pytest.mark.fault("a data file that is not UTF-8", "refused, with what to do")
def test_not_utf8(tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes('["caf\u00e9"]'.encode("latin-1"))
    with pytest.raises(DataError, match=r"UTF-8[\s\S]*download the file again"):
        load_corpus(str(path))


def test_a_byte_order_mark_is_skipped(write, sample):
    path = write([sample])
    plain = load_corpus(str(path)).conversations
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_corpus(str(path)).conversations == plain


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("my talk.v2", "my-talk.v2"),
        ("a" * 99, "a" * 60),
        ("\u6d77", "custom"),
        ("...", "custom"),
        ("locomo", "custom"),
    ],
)
def test_a_file_gives_its_name(write, sample, stem, name):
    assert load_corpus(str(write([sample], f"{stem}.json"))).name == name


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
    strange = [{"q_idx": number, "question": "?"} for number in (0, 1)]
    lost = {**cluster, "member_facts": strange}
    write([lost], "set/locomo10_multimem_full.json")
    corpus = load_corpus(str(tmp_path / "set"))
    assert not corpus.clusters
    assert corpus.irregularities[-1].kind == "cluster of no loaded conversation"


def _facts(first, second="1"):
    return json.loads(
        f'[{{"q_idx": {first}, "question": "a"}}, {{"q_idx": {second}, "question": "b"}}]'
    )


@pytest.mark.parametrize(
    "change",
    [
        "text",
        {"member_facts": []},
        {"member_facts": ["a", "b"]},
        {"member_facts": _facts("0.7")},
        {"member_facts": _facts("0.0")},
        {"member_facts": _facts('"0"')},
        {"member_facts": _facts("true")},
        {"member_facts": _facts("1e400")},
        {"member_facts": [{"q_idx": 0, "question": 5}, {"q_idx": 1, "question": "b"}]},
        {"member_facts": _facts("0", "0"), "member_q_idxs": [0]},
        *({"member_q_idxs": value} for value in ([0, 3], None, 5, ["a", 0], "01")),
        *({"gold_dia_ids": value} for value in (None, 5, "x", [1])),
    ],
)
def test_malformed_clusters_are_named(write, sample, cluster, change):
    conversations = load_corpus(str(write([sample]))).conversations
    bad = change if isinstance(change, str) else {**cluster, **change}
    with pytest.raises(DataError, match="record 1"):
        read_clusters([cluster, bad], conversations, "c.json")


def test_repeated_clusters_are_dropped_and_listed(write, sample, cluster, tmp_path):
    write([sample], "set/locomo10_dialog.json")
    write([cluster, {**cluster, "cluster_id": "S7_C5"}], "set/locomo10_multimem_full.a.json")
    write([cluster], "set/locomo10_multimem_full.b.json")
    corpus = load_corpus(str(tmp_path / "set"))
    assert [item.name for item in corpus.clusters] == ["S7_C0"]
    repeats = [item for item in corpus.irregularities if item.kind == "composed query given twice"]
    assert [item.where for item in repeats] == ["tiny-1 S7_C5", "tiny-1 S7_C0"]


def test_a_cluster_of_two_conversations_is_listed(write, sample, cluster, tmp_path):
    write([sample, {**sample, "sample_id": "twin"}], "set/locomo10_dialog.json")
    write([cluster], "set/locomo10_multimem_full.json")
    corpus = load_corpus(str(tmp_path / "set"))
    assert [item.conversation for item in corpus.clusters] == ["tiny-1"]
    (note,) = [i for i in corpus.irregularities if i.kind == "cluster of several conversations"]
    assert (note.where, "twin" in note.detail) == ("tiny-1 S7_C0", True)


def test_irregularities_follow_the_conversations_kept(write, sample, cluster, tmp_path):
    longer = json.loads(json.dumps(sample)) | {"sample_id": "tiny-10"}
    longer["qa"][0]["question"] = "Something else?"
    write([sample, longer], "set/locomo10_dialog.json")
    strange = [{"q_idx": number, "question": "?"} for number in (0, 1)]
    write([{**cluster, "member_facts": strange}], "set/locomo10_multimem_full.json")
    corpus = load_corpus(str(tmp_path / "set"), conversations=["tiny-1"])
    assert {item.where for item in corpus.irregularities} == {
        *("tiny-1", "tiny-1#2", "tiny-1#3", "locomo10_multimem_full.json S7_C0")
    }


@pytest.fixture
def official(monkeypatch, write, sample, tmp_path):
    """The sample in the place of LoCoMo's file, and a release folder without files."""
    monkeypatch.setenv("UNBIDDEN_DATA", str(tmp_path))
    monkeypatch.setenv("UNBIDDEN_CACHE", str(tmp_path / "cache"))
    here = dataclasses.replace(sources.SOURCES["locomo"][0], sha256=None)
    monkeypatch.setitem(sources.SOURCES, "locomo", (here,))
    plain = json.loads(json.dumps(sample))
    for key in ("dialog_query", "implicit_query", "counterfactual_query"):
        del plain["qa"][0][key]
    write([plain], "locomo/locomo10.json")


def test_a_damaged_release_is_not_swallowed(official, write, tmp_path):
    assert not load_corpus("locomo").conversations[0].questions[0].rewrites
    write({}, "locomo-conv/locomo10_dialog.json")
    with pytest.raises(DataError, match=r"locomo10_dialog\.json"):
        load_corpus("locomo")


def test_clusters_follow_the_joined_conversation(official, write, sample, cluster):
    # The official id belongs to other content in the release, and the content to another id.
    other = json.loads(json.dumps(sample))
    for question in other["qa"]:
        question["question"] += " Or not?"
    sample["sample_id"] = "released"
    sample["qa"][1]["implicit_query"] = ""
    write([other, sample], "locomo-conv/locomo10_dialog.json")
    facts = [
        {**fact, "question": fact["question"] + " Or not?"} for fact in cluster["member_facts"]
    ]
    foreign = {**cluster, "cluster_id": "S7_C1", "member_facts": facts}
    write([foreign, cluster], "locomo-conv/locomo10_multimem_full.json")
    corpus = load_corpus("locomo")
    assert [(item.conversation, item.name) for item in corpus.clusters] == [("tiny-1", "S7_C0")]
    assert corpus.conversations[0].questions[0].rewrites
    notes = {(item.kind, item.where) for item in corpus.irregularities}
    assert ("released conversation not joined", "tiny-1") in notes
    assert ("implicit_query is not a text", "released#1") in notes


def test_same_conversation_in_two_files(write, sample, tmp_path):
    write([sample], "set/locomo10_dialog.a.json")
    write([sample], "set/locomo10_dialog.b.json")
    with pytest.raises(DataError, match="two files"):
        load_corpus(str(tmp_path / "set"))


def test_unknown_names_suggest_the_closest(write, sample, tmp_path):
    with pytest.raises(ConfigError, match="did you mean harbour"):
        load_corpus("harbor")
    for name in ("x" * 5000, "~nobody-of-that-name/x", "a\0b"):
        with pytest.raises(ConfigError, match="unknown dataset"):
            load_corpus(name)
        assert dialog_files(name) == []
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


@pytest.mark.fault("a data file that is not the pinned one", "refused, naming known variants")
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


@pytest.mark.fault("a download that is damaged on its way", "refused, nothing is kept")
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
