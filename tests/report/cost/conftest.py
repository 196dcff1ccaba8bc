"""A run folder to write the tables of the chapter on cost to."""

import pytest

from unbidden.config import CostConfig
from unbidden.report.folder import RunFolder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "study.yaml").write_text("presets: {}")
    monkeypatch.chdir(tmp_path)
    return RunFolder(CostConfig.of(chapter="09_cost"))
