"""A fault at every point where something is written: what was there stays, nothing half is left."""

import errno
import json
import resource
import sqlite3
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.memory.theanine.hand import drawing
from unbidden.atomic import replacing, write_text
from unbidden.cli import main
from unbidden.config import RunConfig
from unbidden.corpus import load_corpus
from unbidden.llm.ledger import Ledger
from unbidden.llm.ledger.recording import record, replay
from unbidden.llm.ledger.row import Row
from unbidden.memory.vectors import VectorCache
from unbidden.report.folder import RunFolder, write_json
from unbidden.shards import write_items

FRAME = pd.DataFrame({"metric": ["recall"] * 900, "value": np.arange(900.0)})


def _figure():
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot([1, 2])
    return figure


def _run_folder(folder, monkeypatch):
    monkeypatch.setenv("UNBIDDEN_OUT", str(folder))
    return RunFolder(RunConfig.of(chapter="02_retrieval"))


def _ledger_row():
    from tests.bench.growth import _call

    return _call(1)


def _recording(folder, _):
    with Ledger(folder.parent / "calls.sqlite") as ledger:
        ledger.append(_ledger_row())
        with Ledger(folder.parent / "full.sqlite") as full:
            for number in range(400):
                full.append(Row(**{**_fields(), "key": f"{number:064d}"}))
            return lambda: record(full, folder)


def _fields():
    row = _ledger_row()
    return {name: getattr(row, name) for name in row.__slots__}


WRITERS = {
    "text": lambda folder, _: lambda: write_text(folder / "a.md", "x" * 9_000),
    "JSON": lambda folder, _: lambda: write_json(folder / "a.json", {"x": "y" * 9_000}),
    "pieces": lambda folder, _: lambda: write_items(folder / "a.parquet", FRAME, b""),
    "a graph": lambda folder, _: lambda: drawing().write_graphml(folder / "a.graphml"),
    "items": lambda folder, patch: lambda: _run_folder(folder, patch).items(FRAME),
    "a table": lambda folder, patch: lambda: _run_folder(folder, patch).table("a", FRAME),
    "a figure": lambda folder, patch: lambda: _run_folder(folder, patch).figure("a", _figure()),
    "the record of a run": lambda folder, patch: (
        lambda: _run_folder(folder, patch).finish(load_corpus("harbour"), notes="x" * 9_000)
    ),
}


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.fault("the disk fills while a file is written", "the old file stays, no part is left")
@pytest.mark.parametrize("kind", WRITERS)
def test_a_full_disk(kind, tmp_path, monkeypatch):
    """The system itself refuses more than 200 bytes in a file, in the middle of writing."""
    folder = tmp_path / "out"
    folder.mkdir()
    monkeypatch.setattr("unbidden.report.folder.code_version", dict)
    write = WRITERS[kind](folder, monkeypatch)
    write()  # what an earlier run left
    before = files(folder)
    assert before
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
    try:
        with pytest.raises(OSError):
            write()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert files(folder) == before


@pytest.mark.fault("a process is killed before a file is put in place", "the old file stays")
@pytest.mark.parametrize("kind", WRITERS)
def test_killed_before_the_file_is_in_place(kind, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    folder.mkdir()
    monkeypatch.setattr("unbidden.report.folder.code_version", dict)
    write = WRITERS[kind](folder, monkeypatch)
    write()
    before = files(folder)

    def killed(self, target):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write()
    assert files(folder) == before


@pytest.mark.fault(
    "a recording is half written", "it is refused with the line, never read as whole"
)
def test_half_a_recording(tmp_path):
    with Ledger(tmp_path / "calls.sqlite") as ledger:
        ledger.append(_ledger_row())
        path = record(ledger, tmp_path)
    whole = path.read_bytes()
    for cut in range(1, len(whole), 7):
        path.write_bytes(whole[:cut])
        with pytest.raises(Exception, match="is damaged"):
            replay(path)


@pytest.mark.fault("the vector cache cannot grow", "an error; vectors that were there are found")
def test_a_full_disk_under_the_vector_cache(tmp_path):
    cache = VectorCache(tmp_path / "v.sqlite", "m")
    first = {cache.key("a"): np.ones(4, dtype=np.float32)}
    cache.put(first)
    more = {cache.key(str(i)): np.ones(384, dtype=np.float32) for i in range(2_000)}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, hard))
    try:
        with pytest.raises(sqlite3.OperationalError):
            cache.put(more)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert list(cache.get([*first, *more])) == list(first)
    cache.put(more)
    assert len(cache.get(list(more))) == len(more)


@pytest.mark.fault("the results folder is closed to writing", "one message that says what to do")
@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES, errno.ENOSPC])
def test_a_closed_folder_is_one_message(number, monkeypatch, capsys, tmp_path):
    def refused(*_args, **_kwargs):
        raise OSError(number, "closed", "results")

    monkeypatch.setattr("unbidden.execute.run_chapter", refused)
    monkeypatch.setattr("sys.argv", ["unbidden", "run", "02_retrieval"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    said = capsys.readouterr().err
    assert "cannot be written: closed" in said
    assert "next:" in said
    assert "Traceback" not in said


@pytest.mark.fault("two processes write one file at once", "the file is that of one of them, whole")
def test_two_writers_of_one_file(tmp_path):
    path = tmp_path / "a.json"
    with replacing(path) as mine, replacing(path) as other:
        mine.write_text("1")
        other.write_text("2")
    assert json.loads(path.read_text()) == 1
    assert [item.name for item in tmp_path.iterdir()] == ["a.json"]
