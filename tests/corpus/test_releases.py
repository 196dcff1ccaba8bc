import re

import pytest

from unbidden.corpus import sources
from unbidden.errors import DataError


def test_every_file_is_pinned_or_known_not_to_be():
    unpinned = set()
    for items in sources.SOURCES.values():
        for item in items:
            assert item.url.startswith("https://")
            assert item.licence
            if item.sha256 is None:
                unpinned.add(f"{item.folder}/{item.file}")
            else:
                assert re.fullmatch(r"[0-9a-f]{64}", item.sha256)
    assert unpinned == {
        "locomo-conv/locomo10_dialog.json",
        "locomo-conv/locomo10_multimem_full.json",
        "cc/test.jsonl",
    }


def test_theanines_files_come_from_one_commit_each():
    files = sources.source("theanine")
    assert len({item.file for item in files}) == len(files) == 13
    for item in files:
        assert re.search(r"/[0-9a-f]{40}/", item.url)
        assert item.size
    assert all(item.url.endswith(f"/{item.file}") for item in files[:-1])


def test_an_altered_file_without_a_known_size_is_refused(tmp_path):
    path = tmp_path / "msc_v0.1.tar.gz"
    path.write_bytes(b"other")
    with pytest.raises(DataError, match="not the pinned file"):
        sources.verify(path, sources.source("msc")[0])


@pytest.mark.realdata
def test_the_release_at_hand_is_the_pinned_one(real_data):
    assert len(sources.locate("theanine")) == 13
