import importlib.metadata

import pytest

from unbidden.errors import ConfigError
from unbidden.memory import SYSTEMS, create_system
from unbidden.registry import Registry


def test_our_names():
    assert list(SYSTEMS)[:3] == ["bm25", "dense", "rrf"]
    assert create_system("bm25", protocol="repaired", embedder="ignored").protocol == "repaired"


def test_unknown_name_suggests_the_closest():
    with pytest.raises(ConfigError, match="did you mean bm25"):
        create_system("bm52")


def test_a_users_own_class_by_path(tmp_path, monkeypatch):
    (tmp_path / "their_memory.py").write_text("class Mine:\n    def __init__(self): self.x = 1\n")
    monkeypatch.chdir(tmp_path)
    assert create_system("their_memory:Mine", protocol="paper").x == 1
    with pytest.raises(ConfigError, match="an attribute 'Other'"):
        create_system("their_memory:Other")
    with pytest.raises(ConfigError, match="No module"):
        create_system("absent_module:X")


def test_entry_points(monkeypatch):
    point = importlib.metadata.EntryPoint("theirs", "collections:Counter", "unbidden.test")
    monkeypatch.setattr(
        "importlib.metadata.entry_points", lambda group: [point] if group == "unbidden.test" else []
    )
    registry = Registry("thing", {}, "unbidden.test")
    assert registry.names() == ["theirs"]
    assert registry.create("theirs") == {}
