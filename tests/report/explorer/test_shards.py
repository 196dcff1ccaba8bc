import json
import re

import pytest

from tests.report.explorer.synthetic import HOSTILE, item, items
from unbidden.report.explorer import Memory, Returned, write_shards
from unbidden.report.explorer.shards import NOT_FOUND, SHARD_ITEMS, UNSCORED

_CALL = re.compile(r'unbiddenExplorerData\("([a-z0-9-]+)",(.*)\);\n', re.DOTALL)


def _read(path):
    name, value = _CALL.fullmatch(path.read_text("ascii")).groups()
    assert name == path.stem
    return json.loads(value)


@pytest.fixture
def written(tmp_path):
    made = items(2 * SHARD_ITEMS + 7)
    return made, write_shards(tmp_path, made, run="mine", notes=["a note"])


def test_shards_hold_every_item_once(written):
    made, paths = written
    assert [path.name for path in paths] == ["index.js", "items-0.js", "items-1.js", "items-2.js"]
    index = _read(paths[0])
    shards = [_read(path) for path in paths[1:]]
    assert sum(len(shard["items"]) for shard in shards) == len(made) == len(index["rows"])
    for one, row in zip(made, index["rows"], strict=True):
        assert (row[0], row[4]) == (one.id, one.query)
        assert index["styles"][row[1]] == one.style
        shard = shards[row[7]]
        read = shard["items"][row[8]]
        assert [shard["texts"][text] for _, text in read["gold"]] == [t for _, t in one.gold]
        first = read["returned"][0]["memories"][0]
        assert shard["texts"][first[0]] == one.returned[0].memories[0].text
        ranks = {index["systems"][system]: rank for system, rank in row[5]}
        assert ranks["bm25"] == (one.returned[0].first or NOT_FOUND)
        assert ranks["mem0"] == UNSCORED


def test_no_text_can_end_the_script(written):
    _, paths = written
    for path in paths:
        assert "<" not in path.read_text("ascii")
    assert _read(paths[0])["rows"][0][4] == f"{HOSTILE} 0"


def test_lone_surrogates_are_written(tmp_path):
    write_shards(tmp_path, [item(1, text="half \ud83d")], run="mine")
    assert _read(tmp_path / "index.js")["rows"][0][4] == "half \ud83d"


def test_shards_of_an_earlier_run_go_and_equal_files_stay(written, tmp_path):
    made, paths = written
    before = paths[1].stat().st_mtime_ns
    write_shards(tmp_path, made[:SHARD_ITEMS], run="mine")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index.js", "items-0.js"]
    assert paths[1].stat().st_mtime_ns == before


def test_first_gold_rank():
    no, yes = Memory("a"), Memory("b", ("D1:1",), gold=True)
    assert Returned("x", (no, yes, yes)).first == 2
    assert Returned("x", (no,)).first is None
    assert Returned("x").first is None
