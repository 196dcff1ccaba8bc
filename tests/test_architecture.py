"""The shape of the library: imports lead left, what is public is described, sizes stay small."""

import ast
from collections import Counter
from pathlib import Path

import pytest

import unbidden
from unbidden.report.pages.architecture import (
    ABOUT,
    ORDER,
    architecture_page,
    backwards,
    imports,
    module_map,
    part_of,
)

LIBRARY = Path(unbidden.__file__).parent
MODULES = sorted(LIBRARY.rglob("*.py"))
LONGEST_MODULE, LONGEST_FUNCTION = 400, 75
"""Lines; the aim is 250 and 40. Constructors with many documented options are the long ones."""


def test_no_import_leads_to_the_right():
    assert backwards() == []
    assert backwards(Counter({("corpus", "report"): 1, ("report", "corpus"): 1})) == [
        ("corpus", "report")
    ]


def test_every_part_is_on_the_map():
    parts = {part_of(p.relative_to(LIBRARY).parts[0]) for p in MODULES} - {"__init__"}
    assert parts == set(ORDER) == set(ABOUT)
    assert len(ORDER) == len(set(ORDER))


def test_the_drawing_is_that_of_the_imports():
    found = imports()
    rows = module_map().splitlines()[1:]
    drawn = {
        (name, other)
        for name, row in zip(ORDER, rows, strict=True)
        for other, mark in zip(
            ORDER, row[len("00 ") + max(map(len, ORDER)) + 2 :][::3], strict=False
        )
        if mark == "●"
    }
    assert drawn == set(found)
    assert module_map() in architecture_page()


def _public(tree):
    """Yield what a module shows: itself, its classes and functions, and their public methods."""
    yield tree, "module"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if node.name.startswith("_"):
                continue
            yield node, node.name
            if isinstance(node, ast.ClassDef):
                for inner in node.body:
                    if isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
                        yield inner, f"{node.name}.{inner.name}"


@pytest.mark.parametrize("path", MODULES, ids=lambda p: p.relative_to(LIBRARY).as_posix())
def test_everything_public_has_a_docstring_and_a_size(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    for node, name in _public(tree):
        overload = any("overload" in ast.unparse(d) for d in getattr(node, "decorator_list", ()))
        assert overload or (ast.get_docstring(node) or "").strip(), f"{name} has no docstring"
    assert len(text.splitlines()) <= LONGEST_MODULE
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            documented = node.body[0].end_lineno if ast.get_docstring(node) else node.lineno
            assert node.end_lineno - documented <= LONGEST_FUNCTION, f"{node.name} is long"
