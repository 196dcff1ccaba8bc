import json
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from unbidden.llm import LLMSettings, connect

HERE = Path(__file__).parent
PROMPTS = {
    "echo.v1": "{# {role: answer, purpose: test} #}{% block system %}Echo.{% endblock %}"
    "{% block user %}item {{ item }}{% endblock %}",
    "grade.v1": "{# {role: judge, purpose: test, schema: FactUse, max_tokens: 20} #}"
    "{% block system %}Grade.{% endblock %}{% block user %}item {{ item }}{% endblock %}",
}


class Endpoint:
    def __init__(self, port):
        self.base_url = f"http://127.0.0.1:{port}/v1"
        self._stats = f"http://127.0.0.1:{port}/stats"

    def stats(self):
        with urllib.request.urlopen(self._stats) as answer:
            return json.load(answer)


@contextmanager
def run_endpoint(*options):
    process = subprocess.Popen(
        [sys.executable, HERE / "endpoint.py", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Endpoint(int(process.stdout.readline()))
    finally:
        process.stdin.close()
        process.terminate()
        process.wait(10)
        process.stdout.close()


@pytest.fixture
def endpoint():
    """Start endpoints with options; all are stopped at the end."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        yield lambda *options: stack.enter_context(run_endpoint(*options))


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "TIKTOKEN_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def prompt_folder(tmp_path):
    folder = tmp_path / "prompts"
    folder.mkdir()
    for name, text in PROMPTS.items():
        (folder / f"{name}.j2").write_text(text)
    return folder


@pytest.fixture
def client(tmp_path, prompt_folder):
    """Make clients with a ledger in a temporary folder; all are closed at the end."""
    made = []

    def make(base_url="http://127.0.0.1:9/v1", mode="record", **options):
        own = {k: options.pop(k) for k in list(options) if k in LLMSettings.model_fields}
        roles = options.pop("roles", {})
        settings = LLMSettings.of("m", base_url=base_url, **own, **roles)
        options.setdefault("ledger", tmp_path / "ledger.sqlite")
        made.append(connect(settings, mode, prompt_folders=[prompt_folder], **options))
        return made[-1]

    yield make
    for one in made:
        one.close()
