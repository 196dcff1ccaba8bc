"""The guides, followed from top to bottom: what they say to run is run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.guide.blocks import blocks

BIN = Path(sys.executable).parent
RUN = {page: blocks(page) for page in sorted((ROOT / "book" / "guide").glob("*.md"))}
FOLLOWED = [page for page, found in RUN.items() if any(block.test for block in found)]
pytestmark = pytest.mark.slow


def shell(text: str, folder: Path) -> None:
    done = subprocess.run(
        ["bash", "-euc", text],
        cwd=folder,
        env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, f"{text}\n{done.stdout[-1500:]}{done.stderr[-1500:]}"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project with the study's notebooks and a small default run."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "notebooks").symlink_to(ROOT / "notebooks")
    (folder / "my_memory.py").write_text((ROOT / "book/guide/my_memory.py").read_text())
    shell(
        "unbidden run 02_retrieval --run default -p 'systems=[\"bm25\"]' "
        "-p 'conversations=[\"harbour-1\"]'",
        folder,
    )
    return folder


@pytest.fixture
def endpoint(httpserver, monkeypatch):
    """A model that says the same to everybody."""
    httpserver.expect_request("/v1/chat/completions").respond_with_json(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "MODEL",
            "choices": [
                {
                    "index": 0,
                    "finish_reason": "stop",
                    "message": {"role": "assistant", "content": "The red one."},
                }
            ],
            "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13},
        }
    )
    monkeypatch.setenv("OPENAI_BASE_URL", httpserver.url_for("/v1"))
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    return httpserver


@pytest.mark.parametrize("page", FOLLOWED, ids=lambda path: path.stem)
def test_a_guide(page, project, endpoint, monkeypatch):
    monkeypatch.chdir(project)
    monkeypatch.syspath_prepend(str(project))
    values: dict = {}
    ran = 0
    for block in RUN[page]:
        if block.file:
            (project / block.file).parent.mkdir(parents=True, exist_ok=True)
            (project / block.file).write_text(block.content, encoding="utf-8")
        elif block.test == "run" and block.language == "bash":
            shell(block.text, project)
            ran += 1
        elif block.test == "run":
            exec(compile(block.text, page.name, "exec"), values)
            ran += 1
    assert ran


def test_the_guides_the_study_promises_are_followed():
    promised = {"add_a_system", "your_data", "add_a_metric", "add_a_judge", "add_an_endpoint"}
    assert promised | {"rerun", "results"} <= {page.stem for page in FOLLOWED}


def test_a_ledger_answers_the_second_time(project, endpoint, monkeypatch):
    """What the guide on endpoints says: the same call is not sent twice."""
    monkeypatch.chdir(project)
    (project / "calls.sqlite").unlink(missing_ok=True)
    values: dict = {}
    for block in RUN[ROOT / "book/guide/add_an_endpoint.md"]:
        if block.test == "run":
            exec(compile(block.text, "guide", "exec"), values)
    assert len(endpoint.log) == 1
    assert values["outcome"].value == "The red one."
