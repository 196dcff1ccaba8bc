"""The module map: which part of the library imports which, drawn from the imports themselves."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import unbidden

ABOUT = {
    "errors": "what a user can meet: what, expected, got, next step",
    "registry": "things by name, those of other packages too",
    "atomic": "files that appear whole or not at all",
    "writeahead": "databases that several processes share",
    "stats": "intervals, paired tests and agreement",
    "corpus": "conversations, loaders, pinned sources, audits, synthetic data",
    "config": "the parameters of each chapter, checked",
    "llm": "model calls: client, ledger, replay, prompts, local models",
    "memory": "the memory systems, one module or folder each",
    "queries": "the four styles: building, checking, releasing them",
    "retrieval": "asking every system; recall and what reading costs",
    "reply": "memory conditions, replies and their metrics",
    "judge": "verdicts, rubrics, and how far to trust them",
    "grounding": "what memory does for a reply that never states the fact",
    "recorded": "runs kept in the repository",
    "report": "tables, figures and pages",
    "freshness": "whether a page is that of its code, data and parameters",
    "execute": "running a chapter",
    "shards": "a run in pieces",
    "pages": "chapters into the book",
    "results_cli": "commands for results: status, compare, export",
    "shards_cli": "commands for pieces",
    "cli": "the command `unbidden`",
}
"""What each part is for, left to right: a part imports only from parts before it."""

ORDER = tuple(ABOUT)


def imports() -> Counter[tuple[str, str]]:
    """Return how many modules of a part import another part, by (importer, imported).

    Imports for type checking and inside functions count too.
    """
    root = Path(unbidden.__file__).parent
    found: Counter[tuple[str, str]] = Counter()
    for path in sorted(root.rglob("*.py")):
        mine = part_of(path.relative_to(root).parts[0])
        for other in {*_imported(ast.parse(path.read_text(encoding="utf-8")))} - {mine}:
            found[mine, other] += 1
    return Counter({pair: n for pair, n in found.items() if pair[0] != "__init__"})


def part_of(name: str) -> str:
    """Return the part that a module or folder of the top level belongs to.

    >>> part_of("corpus"), part_of("errors.py")
    ('corpus', 'errors')
    """
    return name.removesuffix(".py")


def _imported(tree: ast.Module) -> list[str]:
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            first, _, rest = node.module.partition(".")
            if first == "unbidden":
                names += [rest.split(".")[0]] if rest else [a.name for a in node.names]
        elif isinstance(node, ast.Import):
            names += [
                alias.name.split(".")[1]
                for alias in node.names
                if alias.name.startswith("unbidden.")
            ]
    return [part_of(name) for name in names if part_of(name) in ABOUT]


def backwards(found: Counter[tuple[str, str]] | None = None) -> list[tuple[str, str]]:
    """Return the imports that lead to the right, which are not allowed."""
    place = {name: i for i, name in enumerate(ORDER)}
    pairs = imports() if found is None else found
    return sorted(pair for pair in pairs if place[pair[1]] > place[pair[0]])


def module_map() -> str:
    """Return the drawing: a row for each part, a mark under each part that it imports."""
    found = imports()
    width = max(map(len, ORDER))
    numbers = [f"{i:>2}" for i in range(1, len(ORDER) + 1)]
    lines = [" " * (width + 4) + " ".join(numbers)]
    for row, name in enumerate(ORDER):
        cells = [
            "■" if column == row else "●" if found[name, other] else "·" if column < row else " "
            for column, other in enumerate(ORDER)
        ]
        marks = " ".join(f" {cell}" for cell in cells).rstrip()
        lines.append(f"{numbers[row]} {name:<{width}} {marks}")
    return "\n".join(lines)


def architecture_page() -> str:
    """Return the page as Markdown, made from the code it describes."""
    rows = "\n".join(f"| {i} | `{name}` | {ABOUT[name]} |" for i, name in enumerate(ORDER, start=1))
    return _PAGE.format(rows=rows, map=module_map())


_PAGE = """# How the library is built

Data flow one way: conversations, queries, memories, what is retrieved, replies, verdicts,
statistics, pages. The code follows: a part imports only from parts to its left. A test compares the
map with the imports and fails on one that leads to the right.

| | part | what it does |
| --- | --- | --- |
{rows}

In each row, ● marks a part that this one imports; ■ is the part itself. Below the diagonal all is
allowed, above it nothing.

```text
{map}
```

A conversation is taken in by a memory system (`memory.protocol`), which answers searches;
`retrieval` asks and scores, `reply` shows what was found to a model, `judge` reads the reply. Every
model call goes through `llm`, and each is a row of its ledger. Notebooks call these and show; they
hold no logic.
"""
