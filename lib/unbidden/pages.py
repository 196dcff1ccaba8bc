"""From executed chapters to the book's pages, refusing what is stale."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from unbidden.atomic import write_text
from unbidden.config import STAMP, check_run_name, project_root
from unbidden.errors import DataError
from unbidden.execute import chapter_path
from unbidden.freshness import changes_since
from unbidden.llm import prompts
from unbidden.report.beside.page import beside_page
from unbidden.report.dataset.page import data_page
from unbidden.report.explorer import read_run, write_shards
from unbidden.report.pages.architecture import architecture_page
from unbidden.report.pages.packages import packages_page
from unbidden.report.pages.reference import reference_pages
from unbidden.report.pages.survived import faults_page
from unbidden.report.tables import escape_markdown

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def make_pages(run: str, *, allow_stale: bool = False, against: str = "") -> list[Path]:
    """Copy the executed chapters of a run into ``book/notebooks`` and collect their numbers.

    A page whose notebook, library or parameters have changed since it was executed is refused.
    Files are written only where they differ, so that the book rebuilds no more than it must.

    Parameters
    ----------
    against : str
        Run to compare this one with on the page for that; empty chooses one.

    Raises
    ------
    DataError
        If the run has no chapters, a page is stale, or a number of the prose is not what the table
        named for it holds.
    """
    root = project_root()
    executed = _executed(root, check_run_name(run))
    folder = root / "book" / "notebooks"
    pages = []
    for path in executed:
        notebook = json.loads(path.read_text(encoding="utf-8"))
        if not allow_stale:
            _refuse_stale(notebook, path)
        page = folder / path.name
        _write_if_new(page, json.dumps(_cleaned(notebook), indent=1, ensure_ascii=False) + "\n")
        pages.append(page)
    for stray in set(folder.glob("*.ipynb")) - set(pages):
        stray.unlink()
    for name, text_of in (
        *(("prompts", prompts_page), ("published", beside_page), ("faults", faults_page)),
        *(("data", data_page), ("packages", packages_page), ("architecture", architecture_page)),
    ):
        _write_if_new(root / "book" / "_generated" / f"{name}.md", text_of())
    toc = (root / "book" / "_toc.yml").read_text(encoding="utf-8")
    notes = _write_explorer(root, run, [path.parent for path in executed])
    collected = {
        **collect_numbers(run),
        "explorer_note": " ".join(notes),
        "chapter_links": "; ".join(_link(path) for path in pages if path.stem in toc),
    }
    numbers = json.dumps(collected, indent=1, sort_keys=True, ensure_ascii=False)
    _write_if_new(root / "book" / "_generated" / "numbers.json", numbers + "\n")
    for name, text in reference_pages(root, run, against=against, check=not allow_stale):
        _write_if_new(root / "book" / "_generated" / name, text)
    return pages


def _executed(root: Path, run: str) -> list[Path]:
    """Return the chapters of a run; those it lacks are the default run's, as the book needs all."""
    runs = root / "results" / "runs"
    found = {path.stem: path for path in sorted((runs / run).glob("[0-9]*/*.ipynb"))}
    if not found:
        raise DataError(
            f"the run {run!r} has no executed chapter",
            expected=f"results/runs/{run}/NN_name/NN_name.ipynb",
            next_step=f"`make study RUN={run}`, or `unbidden run NN_name --run {run}`",
        )
    for chapter in sorted((root / "notebooks").glob("[0-9]*.ipynb")):
        path = runs / "default" / chapter.stem / chapter.name
        if chapter.stem not in found and not path.is_file():
            raise DataError(
                f"the book needs {chapter.stem}, which neither {run!r} nor 'default' has",
                next_step=f"`unbidden run {chapter.stem} --run {run}`, or `make study`",
            )
        found.setdefault(chapter.stem, path)
    return [found[stem] for stem in sorted(found)]


def _link(page: Path) -> str:
    """Return a Markdown link to a chapter, named by its title."""
    cells = json.loads(page.read_text(encoding="utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    return f"[{title.group(1) if title else page.stem}](notebooks/{page.stem})"


def _write_explorer(root: Path, run: str, folders: Sequence[Path]) -> list[str]:
    """Write the explorer's data; return what its page says of it."""
    found = read_run({folder.name: folder for folder in folders})
    target = root / "book" / "_generated" / "site" / "explorer-data"
    write_shards(target, found.items, run=run, notes=found.notes)
    notes = [f"{escape_markdown(note)}." for note in found.notes]
    return [f"{len(found.items):,} items are on file.", *notes]


def prompts_page() -> str:
    """Return the page that shows every prompt of the study as it is sent."""
    parts = [
        "# Prompts\n",
        "Every model call of the study fills in one of these files. The instructions come first "
        "and the item last, so that a server can reuse the beginning. The version is part of the "
        "name, and each call on record names its prompt and the hash of its text.\n",
    ]
    for prompt in prompts():
        schema = f", reply of the form `{prompt.schema.__name__}`" if prompt.schema else ""
        text = re.sub(r"\A\{#.*?#\}\s*", "", prompt.source, flags=re.DOTALL)
        parts.append(
            f"## {prompt.name}\n\n{prompt.purpose} Role: {prompt.role}{schema}. sha256 "
            f"`{prompt.sha256[:16]}`\n\n````{{code-block}} jinja\n{text.rstrip()}\n````\n"
        )
    return "\n".join(parts)


def collect_numbers(run: str) -> dict[str, str]:
    """Return the numbers the book's own pages may cite.

    Those of a recorded run are named ``RUN_NAME`` (``locomo_questions``), those of the reader's
    run ``run_NAME``; of a chapter that run lacks the default run's, whose page the book shows.
    """
    results = project_root() / "results"
    numbers: dict[str, str] = {"run": run}
    own = sorted((results / "runs" / run).glob("*/numbers.json"))
    here = {path.parent.name for path in own}
    default = sorted((results / "runs" / "default").glob("*/numbers.json"))
    shown = [*(path for path in default if path.parent.name not in here), *own]
    folders = [("run", shown)]
    for folder in sorted((results / "recorded").glob("*")):
        folders.append((folder.name, sorted(folder.glob("*/numbers.json"))))
    for prefix, paths in folders:
        for path in paths:
            found = json.loads(path.read_text(encoding="utf-8"))
            numbers.update({f"{prefix}_{name}": value for name, value in found.items()})
    return numbers


def _refuse_stale(notebook: dict[str, Any], path: Path) -> None:
    stamp = notebook["metadata"].get(STAMP)
    if stamp is None:
        raise DataError(
            f"{path.name} says nothing of how it was made",
            expected="a notebook executed by `unbidden run`",
            next_step=f"`unbidden run {path.stem} --run {path.parents[1].name}`",
        )
    if changed := changes_since(stamp, chapter_path(path.stem)):
        raise DataError(
            f"{path.name} is stale: {' and '.join(changed)} since it was executed",
            next_step=f"`unbidden run {path.stem} --run {path.parents[1].name}`, or `make study`",
        )


def _cleaned(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return a notebook without what differs by machine and time.

    Cells of parameters are left out: the config that follows them lists all values.
    """
    notebook["metadata"].pop("papermill", None)
    for cell in notebook["cells"]:
        cell["metadata"].pop("papermill", None)
        cell["metadata"].pop("execution", None)
        tags = cell["metadata"].get("tags", [])
        if {"parameters", "injected-parameters"} & set(tags):
            cell["metadata"]["tags"] = [*tags, "remove-cell"]
    return notebook


def _write_if_new(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        write_text(path, text)
