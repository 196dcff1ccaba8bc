import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError, DataError
from unbidden.queries.build import build_queries
from unbidden.queries.release import DialogFile, normal_json
from unbidden.queries.supportive.file import (
    SupportiveFile,
    read_supportive,
    supportive_of_samples,
)
from unbidden.queries.supportive.layer import Citation, Layer, SupportiveTurn, Verdict, build_layer
from unbidden.queries.supportive.tables import (
    NO_SUPPORTIVE,
    layer_overlap,
    layer_recall,
    layer_size,
)

KEY = ("tiny-1", 0)
GOLD = {KEY: {"D1:1"}}
SHOWN = (("D1:1",), ("D1:2", "D1:3"), ("D2:1",))


def _citation(system, *cited, shown=SHOWN):
    return Citation(*KEY, system, shown, cited)


def _verdict(system, winner):
    return Verdict(*KEY, system, winner)


def test_the_papers_definition():
    layer = build_layer(
        [
            _citation("BM25", 1, 2),  # 1 is gold
            _citation("Dense", 2, 3),
            _citation("AnchorMem", 3),  # its reply lost
            _citation("Other", 3),  # no verdict
        ],
        [
            _verdict("BM25", "tie"),
            _verdict("Dense", "cot"),
            _verdict("AnchorMem", "oracle"),
        ],
        GOLD,
    )
    assert layer.turns == {
        KEY: (
            SupportiveTurn("D1:2", ("BM25", "Dense")),
            SupportiveTurn("D1:3", ("BM25", "Dense")),
            SupportiveTurn("D2:1", ("Dense",)),
        )
    }
    assert layer.ignored == {
        "gold turn": 1,
        "the oracle's reply was better": 1,
        "no verdict": 1,
    }
    # A citation list may hold anything; only numbers of memories shown count, and once.
    odd = build_layer(
        [_citation("BM25", 0, 4, -1, "2", True, 2.0, None, 3, 3)], [_verdict("BM25", "tie")], GOLD
    )
    assert odd.ids(KEY) == {"D2:1"}
    assert odd.ignored == {"citation names no memory": 3, "citation is no whole number": 4}
    deep = build_layer([_citation("BM25", 3)], [_verdict("BM25", "tie")], GOLD, depth=2)
    assert deep.ids(KEY) == frozenset()


def test_systems_under_test_do_not_vote():
    citations = [_citation("BM25", 2), _citation("Dense", 2, 3)]
    verdicts = [_verdict("BM25", "tie"), _verdict("Dense", "cot")]
    held = build_layer(citations, verdicts, GOLD, held_out=["Dense"])
    assert held.ids(KEY) == {"D1:2", "D1:3"}
    assert held.ignored == {"system held out": 1}
    every = build_layer(citations, verdicts, GOLD)
    assert every.without(["Dense"]).turns == held.turns
    assert every.without(["Dense"]).held_out == held.held_out == ("Dense",)
    with pytest.raises(ConfigError, match="dense"):
        every.without(["dense"])


def test_records_must_be_single():
    verdicts = [_verdict("BM25", "tie")]
    with pytest.raises(DataError, match="two citation records"):
        build_layer([_citation("BM25", 2)] * 2, verdicts, GOLD)
    with pytest.raises(DataError, match="no gold"):
        build_layer([_citation("BM25", 2)], verdicts, {})
    with pytest.raises(DataError, match="one verdict"):
        build_layer([], verdicts * 2, GOLD)
    with pytest.raises(DataError, match="'won'"):
        build_layer([], [_verdict("BM25", "won")], GOLD)


SYSTEMS = ["a", "b", "c"]
VOTES = st.dictionaries(
    st.sampled_from(SYSTEMS),
    st.tuples(st.lists(st.integers(-1, 5), max_size=4), st.sampled_from(["cot", "tie", "oracle"])),
)


@settings(deadline=None)
@given(VOTES, st.sets(st.sampled_from(SYSTEMS)))
def test_holding_out_while_building_or_afterwards_is_the_same(votes, held_out):
    citations = [_citation(name, *cited) for name, (cited, _) in votes.items()]
    verdicts = [_verdict(name, winner) for name, (_, winner) in votes.items()]
    every = build_layer(citations, verdicts, GOLD)
    held = build_layer(citations, verdicts, GOLD, held_out=held_out)
    assert every.without(held_out & set(every.systems)).turns == held.turns
    assert not set(held.systems) & held_out
    assert held.ids(KEY) <= every.ids(KEY)
    assert not every.ids(KEY) & GOLD[KEY]


def _entry(turn, *systems):
    return {"dia_id": turn, "n_systems": len(systems), "source_systems": list(systems)}


def test_files(sample, tmp_path):
    dialogs = DialogFile.parse([sample], "d.json")
    value = {"0:0": [_entry("D1:2", "BM25"), _entry("D2:1", "BM25", "Dense")], "0:1": []}
    value["0:0"][0]["note"] = "kept"
    file = SupportiveFile.parse({**value, "4:0": []}, "s.json", dialogs.conversations)
    file.write(tmp_path / "s.json")
    assert SupportiveFile.read(tmp_path / "s.json", dialogs.conversations) == file
    assert [note.kind for note in file.irregularities] == ["turns of no loaded conversation"]
    del value["0:0"][0]["note"]
    again = SupportiveFile.of_layer(file.layer, dialogs.conversations)
    assert again.raw == value
    sample["qa"][0]["supportive_memory"] = value["0:0"]
    sample["qa"][1]["supportive_memory"] = []
    dialogs = DialogFile.parse([sample], "d.json")
    assert supportive_of_samples(dialogs.raw, dialogs.conversations, "d.json") == file.layer
    with pytest.raises(DataError, match="tiny-1"):
        SupportiveFile.of_layer(file.layer, [])


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "an object"),
        ({"0": []}, "<sample>:<question>"),
        ({"²:0": []}, "<sample>:<question>"),
        ({"0:99": []}, "a question below 5"),
        ({"0:0": {}}, "a list of turns"),
        ({"0:0": ["D1:1"]}, "a dia_id of tiny-1"),
        ({"0:0": [_entry("D9:9", "BM25")]}, "D9:9"),
        ({"0:0": [_entry("D1:2", "BM25")] * 2}, "once"),
        ({"0:0": [_entry("D1:2")]}, "n_systems"),
        ({"0:0": [{**_entry("D1:2", "BM25"), "n_systems": 2}]}, "n_systems"),
        ({"0:0": [{**_entry("D1:2"), "source_systems": "BM25"}]}, "source_systems"),
    ],
)
def test_malformed_files_name_the_record(sample, value, message):
    with pytest.raises(DataError, match=message):
        read_supportive(value, DialogFile.parse([sample], "d.json").conversations, "s.json")


def test_tables_and_recall(sample, write, tmp_path):
    write([sample], "set/locomo10_dialog.json")
    corpus = load_corpus(str(tmp_path / "set"))
    layer = Layer(
        {KEY: (SupportiveTurn("D1:2", ("BM25", "Dense")), SupportiveTurn("D2:1", ("Dense",)))}
    )
    with_gold = Layer({KEY: (SupportiveTurn("D1:1", ("BM25",)), *layer.turns[KEY])})
    sizes = layer_size({"paper": layer, "held out": layer.without(["Dense"])}).set_index("layer")
    assert list(sizes["turns"]) == [2, 1]
    assert sizes.loc["paper", ["one_system", "two_or_more"]].tolist() == [1, 1]
    overlap = layer_overlap(layer).set_index(["a", "b"])
    assert overlap.loc[("BM25", "Dense"), "jaccard"] == 1 / 2
    assert overlap.loc[("Dense", "Dense"), "alone"] == 1
    assert layer_overlap(Layer({})).empty

    queries = build_queries(corpus, styles=["question"])
    turns = [["D1:1", "D1:2"], *[["D1:1"]] * (len(queries) - 1)]
    items = layer_recall(queries, turns, layer).set_index(["query_id", "metric"])
    first = items.loc["tiny-1#0", "value"]
    assert first.to_dict() == {
        "recall": 1,
        "recall_supportive": 1 / 2,
        "recall_both": 2 / 3,
        "recall_same": 1,
    }
    again = layer_recall(queries, turns, with_gold)  # a gold turn is no supportive one
    assert again.set_index(["query_id", "metric"])["value"].equals(items["value"])
    assert items.loc[("tiny-1#1", "recall_both"), "unscored"] == NO_SUPPORTIVE
    assert items["value"].isna().equals(items["unscored"].notna())
    with pytest.raises(ConfigError, match="do not fit"):
        layer_recall(queries, [], layer)


def test_composed_queries_have_no_layer(sample, cluster, write, tmp_path):
    write([sample], "set/locomo10_dialog.json")
    write([cluster], "set/locomo10_multimem_full.json")
    queries = build_queries(load_corpus(str(tmp_path / "set")), styles=["composed"])
    with pytest.raises(ConfigError, match="single questions"):
        layer_recall(queries, [[]], Layer({}))


@pytest.mark.realdata
def test_released_lists(real_data, tmp_path):
    (path,) = (real_data / "locomo-conv").glob("locomo10_dialog*.json")
    dialogs = DialogFile.read(path)
    layer = supportive_of_samples(dialogs.raw, dialogs.conversations, path.name)
    assert layer.systems == ("A-mem", "AnchorMem", "BM25", "Dense")
    assert {key[1] for key in layer.turns} <= set(range(30))
    gold = {
        q.members[0]: q.gold
        for q in build_queries(load_corpus("locomo"), styles=["question"])
        if q.conversation == "conv-26"
    }
    assert not any(item.turn in gold[key[1]] for key, item in layer)
    file = SupportiveFile.of_layer(layer, dialogs.conversations)
    file.write(tmp_path / "supportive_memory.json")
    again = SupportiveFile.read(tmp_path / "supportive_memory.json", dialogs.conversations)
    assert again == file
    # Our writer gives the very lists of the release.
    for (_, index), items in layer.turns.items():
        assert file.raw[f"0:{index}"] == dialogs.raw[0]["qa"][index]["supportive_memory"], items
    assert again.text() == normal_json(again.raw)
