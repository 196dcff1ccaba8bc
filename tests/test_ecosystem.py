"""What other tools meet: papermill's help, the command's help, Binder's files, the data card."""

import tomllib

import pandas as pd
import papermill
import pytest
import yaml
from typer.testing import CliRunner

from tests.conftest import ROOT
from unbidden.cli import app
from unbidden.errors import ConfigError
from unbidden.queries.export import export_named

NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_papermill_describes_every_parameter(notebook):
    """`papermill --help-notebook` shows a line for each; a wrapped value would lose its comment."""
    parameters = papermill.inspect_notebook(str(notebook))
    assert {"run", "seed"} & set(parameters)
    for name, found in parameters.items():
        assert found["help"], f"{name} has no comment on its line"
        assert found["inferred_type_name"], f"{name} has no type"
        assert not found["default"].startswith("("), f"{name}: put value and comment on one line"


def test_the_help_leads_a_newcomer():
    text = CliRunner().invoke(app, ["--help"]).output
    for word in ("data", "run", "compare", "pages", "plan", "export", "status", "models", "ledger"):
        assert f"\n  {word}" in text
    assert "First steps" in text
    assert "--help-notebook" in text
    for command in ("run", "compare", "export", "status", "pages", "plan", "record", "systems"):
        shown = CliRunner().invoke(app, [command, "--help"])
        assert shown.exit_code == 0
        options = shown.output.partition("Options:")[2]
        bare = [line for line in options.splitlines() if line.strip().startswith("--")]
        assert all(len(line.split("  ")) > 2 or len(line) > 30 for line in bare)


def test_binder_installs_what_the_study_declares():
    lines = (ROOT / ".binder" / "requirements.txt").read_text().splitlines()
    options = dict(line.removeprefix("--").split(" ", 1) for line in lines if line.startswith("--"))
    assert (ROOT / ".binder" / options["constraint"]).resolve() == ROOT / "constraints.txt"
    extras = options["editable"].partition("[")[2].rstrip("]").split(",")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(extras) <= set(project["optional-dependencies"])
    assert (ROOT / ".binder" / "runtime.txt").read_text() == "python-3.11\n"


def test_the_citation_names_the_release_and_both_papers():
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert cited["version"] == project["version"]
    assert {entry["notes"] for entry in cited["references"]} == {
        "arXiv 2609.03467",
        "arXiv 2406.10996",
    }
    assert {"cff-version", "message", "title", "authors"} <= set(cited)


def test_the_data_card_of_harbour(tmp_path):
    paths = export_named("harbour", tmp_path / "card")
    text = (tmp_path / "card" / "README.md").read_text(encoding="utf-8")
    header = yaml.safe_load(text.split("---\n")[1])
    assert header["license"] == "cc-by-4.0"
    assert header["language"] == ["en", "zh"]
    assert "## How it was made" in text
    assert "No person has labelled it yet" in " ".join(text.split())
    for entry in header["configs"]:
        for file in entry["data_files"]:
            assert len(pd.read_parquet(tmp_path / "card" / file["path"]))
    assert len(paths) == 4


def test_other_data_needs_a_licence(write, sample, tmp_path):
    with pytest.raises(ConfigError, match="needs a licence"):
        export_named(str(write([sample])), tmp_path / "card")
