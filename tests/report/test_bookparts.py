"""Parts of the book that need no browser: its numbers, its data page."""

import json
import shutil
import subprocess
import sys

import pytest
import yaml

from tests.conftest import ROOT
from unbidden.corpus import load_corpus
from unbidden.report.dataset.page import LICENCES, data_page, embedded_card

CONF = """extensions = ["myst_parser", "studynumbers"]
import sys
from pathlib import Path
sys.path.insert(0, str(Path("_ext").resolve()))
myst_enable_extensions = ["substitution"]
"""


@pytest.fixture
def build(tmp_path):
    pytest.importorskip("myst_parser", reason="needs the extra `book`")
    shutil.copytree(ROOT / "book" / "_ext", tmp_path / "_ext")
    (tmp_path / "_generated").mkdir()
    (tmp_path / "_generated" / "numbers.json").write_text(json.dumps({"known": "51.6"}))
    (tmp_path / "conf.py").write_text(CONF)

    def _build(text):
        (tmp_path / "index.md").write_text(text)
        done = subprocess.run(
            [sys.executable, "-m", "sphinx", "-W", "-q", "-E", ".", "out"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stderr

    return _build


def test_a_missing_number_stops_the_build(build, tmp_path):
    table = "| a |\n| --- |\n| b |\n"
    code, told = build(f"# Title\n\nIt finds {{{{ known }}}} %.\n\n{table}")
    assert code == 0, told
    html = (tmp_path / "out" / "index.html").read_text("utf-8")
    assert "51.6 %" in html
    assert html.count('<div class="unbidden-scroll" tabindex="0"') == 1
    code, told = build("# Title\n\nIt finds {{ unknown }} %.\n")
    assert code != 0
    assert "unknown" in told


def test_data_page_and_card_agree_with_the_data():
    corpus = load_corpus("harbour")
    text = data_page()
    assert f"| turns | {sum(len(item.turns) for item in corpus.conversations):,} |" in text
    for source in corpus.sources:
        assert source.sha256 in text
    assert text.count("\n| ") >= len(LICENCES)
    readme = (ROOT / "lib/unbidden/corpus/harbour/README.md").read_text("utf-8")
    _, header, body = readme.split("---\n", 2)
    generated = yaml.safe_load(embedded_card(corpus)[0])
    shipped = yaml.safe_load(header)
    assert {name: generated[name] for name in shipped} == shipped
    assert body.startswith("# harbour")
    assert "CC BY 4.0" in body
