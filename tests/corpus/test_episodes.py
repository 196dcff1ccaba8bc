import io
import json
import tarfile

import pytest

from unbidden.corpus import load_corpus, sources
from unbidden.corpus.audit import audit
from unbidden.corpus.episodes import MSC_MEMBER, ORDINALS
from unbidden.errors import ConfigError, DataError


def chronicle(name="episode-7", **changes):
    row = {"dataID": name, "relationship": "Neighbors", "summary": ["s"] * 5}
    row["time_interval"] = ["Start", "A few days after", "A week after", "A month after", "A year"]
    for number, ordinal in enumerate(ORDINALS, start=1):
        row[f"{ordinal}_session_dialogue"] = [f"hello {number}", "hi", "well"]
        row[f"{ordinal}_session_speakers"] = ["Neighbors A", "Neighbors B", "Neighbors B"]
    return row | changes


def chat(name="valid_3", **changes):
    earlier = [
        {"dialog": [{"text": f"a{n}"}, {"text": f"b{n}"}], "time_num": n, "time_unit": "days"}
        for n in range(1, 5)
    ]
    last = [{"text": "yes", "id": "Speaker 2"}, {"text": "no", "id": "Speaker 1"}, {"text": "so"}]
    row = {"metadata": {"initial_data_id": name}, "previous_dialogs": earlier, "dialog": last}
    return row | changes


def lines(tmp_path, rows, name="some.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_reads_conversation_chronicles(tmp_path):
    corpus = load_corpus(str(lines(tmp_path, [chronicle(), chronicle("episode-9")])))
    assert [item.id for item in corpus.conversations] == ["episode-7", "episode-9"]
    first = corpus.conversations[0]
    assert first.speakers == ("Neighbors A", "Neighbors B")
    assert [session.date_text for session in first.sessions][:2] == ["Start", "A few days after"]
    assert [turn.id for turn in first.sessions[1].turns] == ["D2:1", "D2:2", "D2:3"]
    assert [turn.speaker for turn in first.sessions[0].turns][1:] == ["Neighbors B"] * 2
    assert (corpus.name, corpus.irregularities, first.questions) == ("some", (), ())
    assert corpus.sources[0].size == (tmp_path / "some.jsonl").stat().st_size
    assert audit(corpus).sessions == 10


def test_reads_multi_session_chat(tmp_path):
    (found,) = load_corpus(str(lines(tmp_path, [chat()], "test.txt"))).conversations
    assert (found.id, found.speakers) == ("valid_3", ("Speaker 1", "Speaker 2"))
    assert [len(session.turns) for session in found.sessions] == [2, 2, 2, 2, 3]
    assert [session.date_text for session in found.sessions] == [
        *("", "1 days later", "2 days later", "3 days later", "4 days later")
    ]
    assert [turn.speaker for turn in found.sessions[4].turns] == [
        *("Speaker 2", "Speaker 1", "Speaker 1")  # the third names no one and alternates
    ]


def test_reads_the_archive_in_place(tmp_path):
    path = tmp_path / "msc_v0.1.tar.gz"
    content = (json.dumps(chat()) + "\n").encode()
    with tarfile.open(path, "w:gz") as archive:
        for name, data in (("msc/msc_dialogue/session_4/test.txt", b"{}\n"),
                           (f"msc/{MSC_MEMBER}", content)):  # fmt: skip
            item = tarfile.TarInfo(name)
            item.size = len(data)
            archive.addfile(item, io.BytesIO(data))
    assert load_corpus(str(path)).conversations[0].id == "valid_3"
    assert sorted(item.name for item in tmp_path.iterdir()) == [path.name]


def test_reads_parquet(tmp_path):
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "test.parquet"
    pandas.DataFrame([chronicle(), chronicle("episode-9")]).to_parquet(path)
    assert len(load_corpus(str(path)).conversations) == 2


def test_reads_only_the_episodes_asked_for(tmp_path):
    path = str(lines(tmp_path, [chronicle("a"), chronicle("b"), chronicle("c")]))
    corpus = load_corpus(path, conversations=["c", "a"])
    assert [item.id for item in corpus.conversations] == ["a", "c"]
    with pytest.raises(ConfigError, match="unknown conversation 'd'"):
        load_corpus(path, conversations=["d"])


def test_the_named_sets_come_from_the_readers_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBIDDEN_DATA", str(tmp_path))
    monkeypatch.setenv("UNBIDDEN_CACHE", str(tmp_path / "cache"))
    (tmp_path / "cc").mkdir()
    (tmp_path / "msc").mkdir()
    lines(tmp_path / "cc", [chronicle()], "test.jsonl")
    assert load_corpus("cc").name == "cc"
    with pytest.raises(DataError, match="unbidden data get msc"):
        load_corpus("msc")
    (tmp_path / "msc" / "msc_v0.1.tar.gz").write_bytes(b"another file")
    with pytest.raises(DataError, match="not the pinned file"):
        load_corpus("msc")
    with pytest.raises(DataError, match="no pinned hash"):
        sources.get("cc")


def test_odd_episodes_are_listed(tmp_path):
    rows = [
        chronicle("a", third_session_dialogue=[], third_session_speakers=[]),
        chronicle("b", first_session_dialogue=["x", " ", "z"]),
        chronicle("c", first_session_speakers=["X", "Y", "Z"]),
        chronicle("d", **{f"{ordinal}_session_speakers": ["X"] * 3 for ordinal in ORDINALS}),
        chronicle("a"),
        chronicle("e", time_interval=None),
    ]
    corpus = load_corpus(str(lines(tmp_path, rows)))
    assert [item.id for item in corpus.conversations] == ["a", "b", "c", "e"]
    assert [session.number for session in corpus.conversations[0].sessions] == [1, 2, 4, 5]
    assert [(item.kind, item.where) for item in corpus.irregularities] == [
        ("empty session", "a session 3"),
        ("empty turn", "b D1:2"),
        ("more than two speakers", "c"),
        ("episode without two speakers", "d"),
        ("episode id given twice", "a"),
    ]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (chronicle(dataID=""), "'dataID'"),
        (chronicle(dataID=3), "'dataID'"),
        (chronicle(second_session_dialogue="text"), "second_session_dialogue"),
        (chronicle(second_session_dialogue=[1, 2, 3]), "second_session_dialogue"),
        (chronicle(fifth_session_speakers=["A"]), "a speaker for each turn of the fifth"),
        (chronicle(time_interval="Start"), "time_interval"),
        (chat(metadata=None), "'metadata'"),
        (chat(previous_dialogs={}), "'previous_dialogs'"),
        (chat(previous_dialogs=[{"dialog": "x"}]), "earlier session 1"),
        (chat(dialog=[{"text": 1}]), "last session, turn 0"),
        (chat(dialog=["text"]), "last session, turn 0"),
        ([], "an object"),
        ({"dialog": []}, "'dataID'"),
    ],
)
def test_malformed_rows_are_named(tmp_path, row, expected):
    path = lines(tmp_path, [chronicle("first"), row])
    with pytest.raises(DataError, match="no episode of") as error:
        load_corpus(str(path))
    assert expected in str(error.value)
    assert "some.jsonl line 2" in str(error.value)


@pytest.mark.fault("half or hostile archives, line files and Parquet", "refused, with what to do")
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bad.jsonl", b'{"dataID": "a"'),
        ("bad.jsonl", b'{"dataID": "a", "dataID": "b"}\n'),
        ("bad.jsonl", b'{"dataID": NaN}\n'),
        ("bad.jsonl", b'{"dataID": "\xe9"}\n'),
        ("bad.tar.gz", b"no archive"),
        ("bad.parquet", b"no parquet"),
        ("bad.json", b'{"dataID": "a"}'),
    ],
)
def test_no_half_or_hostile_file(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match="cannot be read"):
        load_corpus(str(path))


def test_an_archive_without_the_file_is_said(tmp_path):
    path = tmp_path / "other.tar"
    with tarfile.open(path, "w"):
        pass
    with pytest.raises(DataError, match="no such file in it"):
        load_corpus(str(path))


def test_a_list_of_locomo_samples_may_still_be_called_txt(write, sample):
    assert load_corpus(str(write([sample], "mine.txt"))).conversations[0].id == "tiny-1"


@pytest.mark.realdata
def test_theanines_sample_episode(real_data):
    corpus = load_corpus(str(real_data / "theanine" / "msc_sample_episode.json"))
    (found,) = corpus.conversations
    assert (found.id, found.speakers) == ("msc-episode-30", ("Speaker A", "Speaker B"))
    assert [len(session.turns) for session in found.sessions] == [14, 10, 12, 12, 12]
    assert corpus.irregularities == ()
    assert sources.source("theanine")[-1].sha256 == corpus.sources[0].sha256
