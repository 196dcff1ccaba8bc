"""The notebooks as files: pairs agree, no outputs, one parameters cell, little code."""

import ast
import re

import jupytext
import nbformat
import pytest
import yaml

from tests.conftest import ROOT
from unbidden import config as configs
from unbidden.errors import ConfigError

PAIRS = sorted((ROOT / "notebooks").glob("[0-9]*.py"))
REFERENCES = sorted((ROOT / "tests" / "reference").glob("*.ipynb"))
KINDS = {
    "02_retrieval": configs.RetrievalConfig,
    "03_replies": configs.RepliesConfig,
    "05_implicit_grounding": configs.GroundingConfig,
    "04_ablations": configs.AblationsConfig,
    "06_timelines": configs.TimelinesConfig,
    "07_teafarm": configs.TeafarmConfig,
    "08_judges": configs.JudgesConfig,
    "09_cost": configs.CostConfig,
}


@pytest.mark.parametrize("source", PAIRS, ids=lambda path: path.stem)
def test_pair(source):
    edited = jupytext.read(source)
    paired = nbformat.read(source.with_suffix(".ipynb"), as_version=4)
    assert [(c.cell_type, c.source) for c in edited.cells] == [
        (c.cell_type, c.source) for c in paired.cells
    ], f"run: jupytext --to ipynb --update {source.name}"
    code = [cell for cell in paired.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert sum("parameters" in cell.metadata.get("tags", []) for cell in code) == 1
    for cell in code:
        definitions = (ast.FunctionDef, ast.ClassDef, ast.Lambda)
        assert not any(isinstance(node, definitions) for node in ast.walk(ast.parse(cell.source)))


@pytest.mark.parametrize("source", PAIRS, ids=lambda path: path.stem)
def test_parameters_are_the_config(source):
    """Every parameter reaches the config, and its default is the config's own."""
    notebook = jupytext.read(source)
    (cell,) = [c for c in notebook.cells if "parameters" in c.metadata.get("tags", [])]
    values: dict = {}
    exec(cell.source, values)
    values = {name: value for name, value in values.items() if not name.startswith("__")}
    kind = KINDS.get(source.stem, configs.RunConfig)
    given = kind.of(chapter=source.stem, **values).model_dump()
    assert given == kind.of(chapter=source.stem).model_dump()


@pytest.mark.parametrize("source", PAIRS, ids=lambda path: path.stem)
def test_no_other_name_is_taken_for_a_parameter(source):
    """The config is made from a notebook's names: only the parameters cell may bind those of it."""
    bound = set()
    for cell in jupytext.read(source).cells:
        if cell.cell_type != "code" or "parameters" in cell.metadata.get("tags", []):
            continue
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                bound.add(node.id)
            elif isinstance(node, ast.alias):
                bound.add((node.asname or node.name).partition(".")[0])
    kind = KINDS.get(source.stem, configs.RunConfig)
    assert not bound & set(kind.model_fields)


def test_a_config_takes_a_notebook_s_parameters():
    given = {**configs.CostConfig.of(chapter="09_cost", top_k=7).model_dump(), "corpus": object()}
    assert configs.CostConfig.of_notebook("09_cost", given).top_k == 7
    assert configs.CostConfig.of_notebook("09_toy", given).chapter == "09_toy"
    assert configs.CostConfig.of_notebook("09_cost", {"seed": 3}).seed == 3
    with pytest.raises(ConfigError, match="'top_k' is out of range"):
        configs.CostConfig.of_notebook("09_cost", {**given, "top_k": 0})


def test_presets_name_real_chapters_and_parameters():
    presets = yaml.safe_load((ROOT / "notebooks" / "study.yaml").read_text())["presets"]
    chapters = {path.stem for path in PAIRS}
    for chapter_parameters in presets.values():
        assert set(chapter_parameters) <= chapters
    assert set(presets["default"]) == chapters


def test_references_have_outputs():
    assert {path.stem for path in REFERENCES} == {path.stem for path in PAIRS}
    for path in REFERENCES:
        cells = nbformat.read(path, as_version=4).cells
        outputs = [o for c in cells if c.cell_type == "code" for o in c.outputs]
        assert len(outputs) > 5
        assert not any(output.output_type == "error" for output in outputs)


@pytest.mark.parametrize("path", REFERENCES, ids=lambda path: path.stem)
def test_references_hold_no_path_of_a_machine(path):
    text = path.read_text(encoding="utf-8")
    assert "site-packages" not in text
    assert not re.search(r"/(home|root|tmp|Users)/", text)
