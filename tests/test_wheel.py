"""The wheel in an empty environment outside the repository, and a notebook from the sdist."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow
OFFLINE = ("Could not find a version", "Temporary failure in name resolution", "ConnectionError")
NEEDED = ("lib", "notebooks", "book", "results", "pyproject.toml", "README.md", "LICENSE")
BESIDE = ("constraints.txt", "CITATION.cff", "Makefile", "MANIFEST.in", ".binder")


def call(*command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "UNBIDDEN_OUT"}}
    return subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=3000, check=False
    )


def done(*command: str, cwd: Path) -> str:
    found = call(*command, cwd=cwd)
    assert found.returncode == 0, f"{command}\n{found.stdout[-2000:]}\n{found.stderr[-3000:]}"
    return found.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The wheel and the sdist, built from a copy without anything generated."""
    source = tmp_path_factory.mktemp("source")
    unwanted = shutil.ignore_patterns(
        "__pycache__", "*.egg-info", "_build", "_generated", "runs", ".ipynb_checkpoints"
    )
    for name in (*NEEDED, *BESIDE):
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, source / name, ignore=unwanted)
        else:
            shutil.copy(path, source / name)
    out = tmp_path_factory.mktemp("dist")
    code = "from setuptools import build_meta as b; b.build_sdist({0!r}); b.build_wheel({0!r})"
    done(sys.executable, "-c", code.format(str(out)), cwd=source)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


def test_the_wheel_holds_everything_the_library_reads(built):
    wheel, _ = built
    with zipfile.ZipFile(wheel) as file:
        packed = set(file.namelist())
    source = ROOT / "lib"
    wanted = {
        path.relative_to(source).as_posix()
        for path in (source / "unbidden").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted <= packed
    assert not [name for name in packed if name.startswith(("tests", "results", "notebooks"))]


def test_the_sdist_holds_the_study(built, tmp_path):
    _, sdist = built
    with tarfile.open(sdist) as file:
        names = {name.partition("/")[2] for name in file.getnames()}
    chapters = {f"notebooks/{path.name}" for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")}
    assert chapters | {"notebooks/study.yaml", "notebooks/Snakefile", "book/_toc.yml"} <= names
    assert {"constraints.txt", "CITATION.cff", ".binder/requirements.txt"} <= names
    assert not [name for name in names if name.startswith(("results/runs", "book/_build"))]


@pytest.mark.skipif(
    not os.environ.get("UNBIDDEN_TEST_WHEEL"),
    reason="installs an environment from the package index: set UNBIDDEN_TEST_WHEEL=1",
)
def test_an_empty_environment_checks_data_and_runs_a_chapter(built, tmp_path):
    wheel, sdist = built
    started = time.monotonic()
    done(sys.executable, "-m", "venv", "venv", cwd=tmp_path)
    bin_folder = tmp_path / "venv" / "bin"
    constraints = ["--constraint", str(ROOT / "constraints.txt")]
    installed = call(
        *(str(bin_folder / "pip"), "install", "--quiet", *constraints, f"{wheel}[run]"),
        cwd=tmp_path,
    )
    if installed.returncode and any(text in installed.stderr for text in OFFLINE):
        pytest.skip("no package index can be reached from here")
    assert installed.returncode == 0, installed.stderr[-3000:]
    print(f"installed in {time.monotonic() - started:.0f} s")
    unbidden = str(bin_folder / "unbidden")
    report = json.loads(done(unbidden, "data", "check", "harbour", "--json", cwd=tmp_path))
    assert report["conversations"] == 6
    where = [str(bin_folder / "python"), "-c", "import unbidden; print(unbidden.__file__)"]
    assert done(*where, cwd=tmp_path).startswith(str(tmp_path))
    with tarfile.open(sdist) as file:
        file.extractall(tmp_path, filter="data")
    (study,) = tmp_path.glob("unbidden-*/")
    done(
        *(unbidden, "run", "02_retrieval", "--run", "wheel", "-p", 'systems=["bm25"]'),
        *("-p", 'conversations=["harbour-1"]', "-p", "ks=[1,10]"),
        cwd=study,
    )
    facts = json.loads((study / "results/runs/wheel/02_retrieval/run.json").read_text())
    assert facts["parameters"]["systems"] == ["bm25"]
    print(f"all in {time.monotonic() - started:.0f} s")
