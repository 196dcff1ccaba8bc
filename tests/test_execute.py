"""Running chapters: parameters, failures, whole results, stale pages."""

import json
import shutil
from pathlib import Path

import nbformat
import pytest

from tests.conftest import ROOT
from unbidden.config import RetrievalConfig, project_root
from unbidden.errors import ConfigError, DataError
from unbidden.execute import ChapterFailed, run_chapter
from unbidden.pages import make_pages

OUT = 'from pathlib import Path; import os; p = Path(os.environ["UNBIDDEN_OUT"])'


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of one small chapter."""
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "study.yaml").write_text("presets: {}")
    (tmp_path / "book").mkdir()
    (tmp_path / "book" / "_toc.yml").write_text("root: index")
    (tmp_path / "results" / "recorded").mkdir(parents=True)
    shutil.copytree(ROOT / "results" / "published", tmp_path / "results" / "published")
    monkeypatch.chdir(tmp_path)

    def chapter(*cells: str, name="09_toy") -> Path:
        notebook = nbformat.v4.new_notebook()
        notebook.metadata["kernelspec"] = {
            "name": "python3",
            "display_name": "Python 3",
            "language": "python",
        }
        notebook.cells = [
            nbformat.v4.new_code_cell(text, id=f"c{i}") for i, text in enumerate(cells)
        ]
        notebook.cells[0].metadata["tags"] = ["parameters"]
        path = tmp_path / "notebooks" / f"{name}.ipynb"
        nbformat.write(notebook, path)
        return path

    return chapter


def test_a_chapter_appears_whole(project, tmp_path):
    project("run = 'default'\nx = 1", f"{OUT}; (p / 'x.txt').write_text(str(x))")
    folder = run_chapter("09_toy", run="mine", parameters={"x": 5})
    assert folder == tmp_path / "results" / "runs" / "mine" / "09_toy"
    assert (folder / "x.txt").read_text() == "5"
    assert (folder / "09_toy.ipynb").is_file()
    assert [p.name for p in folder.parent.iterdir()] == ["09_toy"]  # nothing half-made beside it


@pytest.mark.fault(
    "a cell of a chapter raises", "earlier results stay; the partial notebook is kept apart"
)
def test_a_failing_chapter_keeps_the_results_before_it(project, tmp_path):
    cell = f"{OUT}; (p / 'x.txt').write_text(str(x))\nif x == 2: raise ValueError('no 2')"
    project("run = 'default'\nx = 1", cell)
    folder = run_chapter("09_toy", run="mine", parameters={})
    with pytest.raises(ChapterFailed, match="no 2"):
        run_chapter("09_toy", run="mine", parameters={"x": 2})
    assert (folder / "x.txt").read_text() == "1"
    assert (folder.parent / "09_toy.failed.ipynb").is_file()
    run_chapter("09_toy", run="mine", parameters={"x": 3})
    assert not (folder.parent / "09_toy.failed.ipynb").exists()


@pytest.mark.fault("the kernel dies or takes too long", "an error; no result appears")
@pytest.mark.parametrize(
    "cell", ["import os; os._exit(9)", "import time; time.sleep(60)"], ids=["killed", "too slow"]
)
def test_a_dead_or_slow_kernel_is_no_success(project, tmp_path, cell):
    project("run = 'default'", cell)
    with pytest.raises(ChapterFailed, match="did not end"):
        run_chapter("09_toy", run="mine", parameters={}, timeout=4)
    assert not (tmp_path / "results" / "runs" / "mine").exists()


def test_unknown_names(project):
    project("run = 'default'\ntop_k = 1")
    with pytest.raises(ConfigError, match="did you mean top_k"):
        run_chapter("09_toy", run="mine", parameters={"topk": 3})
    with pytest.raises(ConfigError, match="named twice"):
        run_chapter("09_toy", run="mine", parameters={"run": "other"})
    with pytest.raises(ConfigError, match="did you mean 09_toy"):
        run_chapter("09_toys", run="mine", parameters={})
    for bad in ("../x", "", "a/b", ".hidden", "x" * 65):
        with pytest.raises(ConfigError, match="cannot name a run"):
            run_chapter("09_toy", run=bad, parameters={})
    with pytest.raises(ConfigError, match="unknown notebook"):
        run_chapter("../09_toy", run="mine", parameters={})


@pytest.mark.fault("a page made from other code, data or parameters", "the book refuses it")
def test_pages_refuse_what_is_stale(project, tmp_path):
    project("run = 'default'\nx = 1", "print(x)")
    run_chapter("09_toy", run="mine", parameters={})
    (page,) = make_pages("mine")
    cells = json.loads(page.read_text())["cells"]
    assert "remove-cell" in cells[0]["metadata"]["tags"]
    before = page.stat().st_mtime_ns
    make_pages("mine")
    assert page.stat().st_mtime_ns == before  # unchanged pages are not written again
    project("run = 'default'\nx = 1", "print(x + 1)")
    with pytest.raises(DataError, match="stale: its notebook"):
        make_pages("mine")
    assert make_pages("mine", allow_stale=True)
    with pytest.raises(DataError, match="no executed chapter"):
        make_pages("other")


def test_a_book_takes_lacking_chapters_from_the_default_run(project, tmp_path):
    project("run = 'default'\nx = 1", "print(x)")
    project("run = 'default'", "print('other')", name="08_other")
    run_chapter("09_toy", run="mine", parameters={})
    with pytest.raises(DataError, match="unbidden run 08_other --run mine"):
        make_pages("mine")
    run_chapter("08_other", run="default", parameters={})
    assert [page.stem for page in make_pages("mine")] == ["08_other", "09_toy"]


def test_project_root(tmp_path, monkeypatch):
    assert project_root(ROOT / "tests" / "corpus") == ROOT
    monkeypatch.chdir(tmp_path)
    assert project_root() == tmp_path


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"top_k": 0}, "'top_k'"),
        ({"ks": [10, -1]}, "'ks'"),
        ({"protocol": "papers"}, "'protocol'"),
        ({"styles": ["implict"]}, "'styles'"),
        ({"sistems": ["bm25"]}, "did you mean systems"),
        ({"seed": -1}, "'seed'"),
        ({"top_k": True}, "'top_k'"),
        ({"top_k": 10**30}, "'top_k'"),
        ({"dataset": ""}, "'dataset'"),
    ],
)
def test_parameters_out_of_range(parameters, message):
    with pytest.raises(ConfigError, match=message):
        RetrievalConfig.of(chapter="02_retrieval", **parameters)


def test_lists_given_as_text():
    config = RetrievalConfig.of(chapter="02_retrieval", systems='["bm25"]', ks="[1, 2]")
    assert (config.systems, config.ks) == (("bm25",), (1, 2))


def test_parameters_are_shown_without_folders(tmp_path):
    (tmp_path / "set").mkdir()
    config = RetrievalConfig.of(chapter="02_retrieval", dataset=str(tmp_path / "set"))
    assert str(tmp_path) not in config._repr_html_()
