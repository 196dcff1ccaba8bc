"""Runs that are killed, meet one another, or live in an odd place."""

import datetime as dt
import os
import signal
import subprocess
import sys
import time

import nbformat
import pytest

from tests.conftest import ROOT
from unbidden.config import RetrievalConfig
from unbidden.corpus import load_corpus
from unbidden.errors import ConfigError, UnbiddenError
from unbidden.execute import _put_in_place, _recover, run_chapter

CELLS = 4


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A chapter of four cells, each of which writes a file; cell `hang` then waits for ever."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "study.yaml").write_text("presets: {}")
    (tmp_path / "results" / "recorded").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.v4.new_notebook()
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.metadata["kernelspec"] = kernel
    notebook.cells = [nbformat.v4.new_code_cell("run = 'scratch'\nhang = -1", id="p")]
    notebook.cells[0].metadata["tags"] = ["parameters"]
    for number in range(CELLS):
        notebook.cells.append(
            nbformat.v4.new_code_cell(
                "import os, time\nfrom pathlib import Path\n"
                "out = Path(os.environ['UNBIDDEN_OUT'])\n"
                f"(out / '{number}.txt').write_text(str(hang))\n"
                f"if hang == {number}:\n    Path('reached').write_text('x')\n    time.sleep(600)",
                id=f"c{number}",
            )
        )
    nbformat.write(notebook, tmp_path / "notebooks" / "09_toy.ipynb")
    return tmp_path


def results(project):
    folder = project / "results" / "runs" / "mine"
    return sorted(path.name for path in folder.rglob("*")) if folder.exists() else []


@pytest.mark.slow
@pytest.mark.fault(
    "a run is killed in any cell of a notebook",
    "earlier results stay whole; the next run is complete and clears up",
)
@pytest.mark.parametrize("cell", range(CELLS))
def test_killed_in_a_cell(project, cell):
    final = run_chapter("09_toy", run="mine", parameters={})
    whole = results(project)
    code = (
        "from unbidden.execute import run_chapter; "
        f"run_chapter('09_toy', run='mine', parameters={{'hang': {cell}}})"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT / "lib")},
        start_new_session=True,
    )
    deadline = time.monotonic() + 300
    while not (project / "notebooks" / "reached").exists() and not (project / "reached").exists():
        assert time.monotonic() < deadline, "the cell was not reached"
        assert running.poll() is None, "the run ended by itself"
        time.sleep(0.1)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    assert (final / "0.txt").read_text() == "-1"
    assert set(whole) <= set(results(project))
    run_chapter("09_toy", run="mine", parameters={})
    assert results(project) == whole


@pytest.mark.fault(
    "a run is killed while its results change places", "what was set aside is put back"
)
def test_killed_between_the_two_renames(tmp_path):
    final = tmp_path / "09_toy"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    old, partial = (tmp_path / f".09_toy.{kind}-{gone.pid}" for kind in ("old", "partial"))
    for folder in (old, partial):
        folder.mkdir()
        (folder / "x.txt").write_text(folder.name)
    mine = tmp_path / f".09_toy.partial-{os.getpid()}"
    mine.mkdir()
    _recover(final)
    assert (final / "x.txt").read_text() == old.name
    assert not partial.exists()
    assert mine.exists(), "a run that is alive keeps its folder"


@pytest.mark.fault("two runs finish into one folder at once", "one of them stays, whole")
def test_two_runs_at_once(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from unbidden.execute import _put_in_place\n"
        "final = Path(sys.argv[1])\n"
        "for i in range(60):\n"
        "    partial = final.with_name(f'.x.partial-{os.getpid()}')\n"
        "    partial.mkdir()\n"
        "    for name in 'abc':\n"
        "        (partial / name).write_text(str(os.getpid()))\n"
        "    _put_in_place(partial, final)\n"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "x")],
            env={**os.environ, "PYTHONPATH": str(ROOT / "lib")},
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    for process in running:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert len({path.read_text() for path in (tmp_path / "x").iterdir()}) == 1
    assert len(list((tmp_path / "x").iterdir())) == 3


@pytest.mark.fault("the clock is set back during a run", "seconds are not negative, order is kept")
def test_the_clock_jumps(tmp_path, monkeypatch):
    from tests.bench.growth import _call
    from unbidden.config import RunConfig
    from unbidden.llm.ledger import Ledger
    from unbidden.report.folder import RunFolder

    clock = iter([2026, 1999, 2040])

    class Jumping(dt.datetime):
        @classmethod
        def now(cls, tz=None):
            return dt.datetime(next(clock), 1, 1, tzinfo=tz)

    monkeypatch.setattr("unbidden.llm.ledger.row.datetime", Jumping)
    monkeypatch.setattr("time.time", lambda: 0.0)
    monkeypatch.setenv("UNBIDDEN_OUT", str(tmp_path / "out"))
    folder = RunFolder(RunConfig.of(chapter="02_retrieval"))
    with Ledger(tmp_path / "calls.sqlite") as ledger:
        rows = [_call(number) for number in range(3)]
        for row in rows:
            ledger.append(row)
        assert [row.key for row in ledger.rows()] == [row.key for row in rows]
    monkeypatch.setattr("unbidden.report.folder.code_version", dict)
    assert folder.finish(load_corpus("harbour"))["seconds"] >= 0


@pytest.mark.slow
@pytest.mark.fault(
    "another language and character set, without UTF-8", "the same numbers, nothing lost"
)
@pytest.mark.parametrize("locale", ["C", "de_DE.ISO-8859-1", "tr_TR.UTF-8"])
def test_locales(locale, tmp_path):
    code = (
        "import locale\n"
        "try:\n    locale.setlocale(locale.LC_ALL, '')\nexcept locale.Error:\n    pass\n"
        "from unbidden.corpus import load_corpus\n"
        "from unbidden.queries.build import build_queries\n"
        "from unbidden.retrieval import retrieve, score_rankings\n"
        "c = load_corpus('harbour')\n"
        "items = score_rankings(c.name, retrieve(c, build_queries(c, limit=3), ['bm25'], depth=5),"
        " ks=[5])\n"
        "print(repr(float(items['value'].sum())), c.conversations[0].sessions[0].when)\n"
        "from unbidden.cli import main\nimport sys\nsys.argv = ['unbidden', 'data', 'check',"
        " 'harbour']\nmain()\n"
    )
    said = []
    for value in (locale, "C.UTF-8"):
        done = subprocess.run(
            [sys.executable, "-X", "utf8=0", "-c", code],
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG"))},
                **{"PYTHONPATH": str(ROOT / "lib"), "LC_ALL": value, "PYTHONCOERCECLOCALE": "0"},
                "PYTHONIOENCODING": "cp1252" if value == locale else "utf-8",
            },
            capture_output=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-2000:]
        said.append(done.stdout.splitlines()[0])
    assert said[0] == said[1]


@pytest.mark.fault("Windows-style and hostile paths as parameters", "a clear error, no file made")
@pytest.mark.parametrize(
    "parameters",
    [
        {"run": r"..\mine"},
        {"run": r"C:\mine"},
        {"run": "../mine"},
        {"run": "a/b"},
        {"run": "CON/x"},
        {"run": "x\x00y"},
    ],
)
def test_odd_run_names(parameters, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match="next:"):
        RetrievalConfig.of(chapter="02_retrieval", **parameters)
    assert not list(tmp_path.iterdir())


@pytest.mark.fault("a data set named by a path of another system", "a clear error")
@pytest.mark.parametrize(
    "dataset", [r"C:\data\locomo.json", r"\\server\share\a.json", "file:///etc/passwd", "a\x00b"]
)
def test_odd_data_paths(dataset):
    with pytest.raises(UnbiddenError, match="next:"):
        load_corpus(dataset)


def test_a_place_that_cannot_be_taken_is_an_error(tmp_path):
    partial = tmp_path / "partial"
    partial.mkdir()
    with pytest.raises(OSError, match="none"):
        _put_in_place(partial, tmp_path / "none" / "x")
