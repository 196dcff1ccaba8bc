"""The built book, and a browser to open it with."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

CANARY = "sk-canary-" + "3d9b7e51"
"""A key in the environment of the build, which must appear nowhere afterwards."""


@pytest.fixture(scope="session")
def book() -> Path:
    """The book of the default run, built as `make study` builds it; quick if nothing changed."""
    pytest.importorskip("snakemake", reason="needs the extra `dag`")
    binaries = Path(sys.executable).parent
    import os

    done = subprocess.run(
        [
            *(sys.executable, "-m", "snakemake", "--snakefile", "notebooks/Snakefile"),
            *("--cores", "2", "--quiet", "all", "--config", "run=default"),
        ],
        cwd=ROOT,
        env={
            **os.environ,
            "OPENAI_API_KEY": CANARY,
            "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
        },
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return ROOT / "book" / "_build" / "html"


@pytest.fixture(scope="module")
def browser():
    """Chromium from the system's packages.

    Per module: while it is open, its event loop runs in this thread.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra `test`")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
    if path is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as p:
        instance = p.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu", "--disable-sync"]
        )
        yield instance
        instance.close()
