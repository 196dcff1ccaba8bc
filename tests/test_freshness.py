"""What makes a page stale, and that each reason is said."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.test_execute import project  # noqa: F401
from unbidden.errors import DataError
from unbidden.execute import reasons_to_run, run_chapter, run_status
from unbidden.freshness import NEVER, own_files
from unbidden.pages import make_pages


def test_each_reason_is_named(project, tmp_path):  # noqa: F811
    project("run = 'default'\nx = 1\nsystems = []\ndataset = ''", "print(x)")
    (tmp_path / "my_memory.py").write_text("class Mine: ...")
    (tmp_path / "mine.json").write_text("[]")
    chosen = {"x": 2, "systems": ["bm25", "my_memory:Mine"], "dataset": "mine.json"}
    assert reasons_to_run("09_toy", run="mine", parameters=chosen) == [NEVER]
    run_chapter("09_toy", run="mine", parameters=chosen)
    assert reasons_to_run("09_toy", run="mine", parameters=chosen) == []
    other = reasons_to_run("09_toy", run="mine", parameters={**chosen, "x": 3})
    assert other == ["its parameters changed: x from 2 to 3"]
    fewer = reasons_to_run("09_toy", run="mine", parameters={"x": 2, "dataset": "mine.json"})
    assert 'systems from ["bm25", "my_memory:Mine"] to the default' in fewer[-1]
    (tmp_path / "my_memory.py").write_text("class Mine: changed = True")
    assert run_status("mine") == {"09_toy": ["its my_memory.py changed"]}
    with pytest.raises(DataError, match=r"stale: its my_memory\.py changed"):
        make_pages("mine")
    run_chapter("09_toy", run="mine", parameters=chosen)
    assert make_pages("mine")
    (tmp_path / "mine.json").write_text("[ ]")
    assert run_status("mine") == {"09_toy": ["its mine.json changed"]}
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "judge_mine.v1.j2").write_text("x")
    assert "its judge_mine.v1.j2 changed" in run_status("mine")["09_toy"]


def test_own_files_stay_below_the_project(project, tmp_path):  # noqa: F811
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "part.py").write_text("")
    found = own_files({"systems": ["package.part:X", "absent:Y"], "o": {"bm25": {"a": 1}}})
    assert [path.relative_to(tmp_path).as_posix() for path in found] == ["package/part.py"]
    assert list(own_files({"dataset": "../../etc/passwd:x", "seed": 0})) == []


STUBS = {
    "unbidden": """
import json, pathlib, sys
if sys.argv[1] == "run":
    run = sys.argv[sys.argv.index("--run") + 1]
    path = pathlib.Path(f"results/runs/{run}/{sys.argv[2]}/{sys.argv[2]}.ipynb")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(sys.argv[-1])
""",
    "jupyter-book": """
import pathlib
path = pathlib.Path("book/_build/html/index.html")
path.parent.mkdir(parents=True, exist_ok=True)
path.write_text("book")
""",
}


def snakemake(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "snakemake", "--snakefile", "notebooks/Snakefile"),
            *("--cores", "1", *arguments),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout + done.stderr


@pytest.mark.slow
def test_one_changed_parameter_runs_its_chapter_and_the_book_alone(tmp_path, monkeypatch):
    """The real Snakefile over stand-ins for the commands: what would run, and the reason given."""
    pytest.importorskip("snakemake", reason="the extra `dag` is not installed")
    (tmp_path / "notebooks").mkdir()
    for name in ("Snakefile", "study.yaml"):
        shutil.copy(ROOT / "notebooks" / name, tmp_path / "notebooks")
    presets = yaml.safe_load((tmp_path / "notebooks" / "study.yaml").read_text())
    chapters = list(presets["presets"]["smoke"])
    for chapter in chapters:
        (tmp_path / "notebooks" / f"{chapter}.ipynb").write_text("{}")
    (tmp_path / "bin").mkdir()
    for name, code in STUBS.items():
        path = tmp_path / "bin" / name
        path.write_text(f"#!{sys.executable}\n{code}")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    snakemake(tmp_path, "--quiet", "all", "--config", "run=smoke")
    assert "Nothing to be done" in snakemake(tmp_path, "-n", "--config", "run=smoke")
    presets["presets"]["smoke"]["02_retrieval"]["top_k"] = 3
    (tmp_path / "notebooks" / "study.yaml").write_text(yaml.safe_dump(presets))
    planned = snakemake(tmp_path, "-n", "--config", "run=smoke")
    assert "rule chapter_02_retrieval" in planned
    assert "rule book" in planned
    for chapter in set(chapters) - {"02_retrieval"}:
        assert f"rule chapter_{chapter}" not in planned
    assert "Params have changed since last execution" in planned
    made = tmp_path / "results/runs/smoke/02_retrieval/02_retrieval.ipynb"
    assert "top_k" not in json.loads(made.read_text())
    snakemake(tmp_path, "--quiet", "all", "--config", "run=smoke")
    assert json.loads(made.read_text())["top_k"] == 3
