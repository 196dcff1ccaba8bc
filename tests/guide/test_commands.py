"""Every command a guide or the README shows is one that works: parsed, its parameters checked."""

import re

import papermill
import pytest
import typer
import yaml

from tests.conftest import ROOT
from tests.guide.blocks import Block, blocks, commands
from tests.test_notebooks import KINDS
from unbidden import config as configs
from unbidden.cli import _pair, app

PAGES = sorted((ROOT / "book" / "guide").glob("*.md"))
PRESETS = yaml.safe_load((ROOT / "notebooks" / "study.yaml").read_text())["presets"]
SHELL = {"export", "pip", "jupyter-book", "ir_measures", "git", "tar", "cd", "python", "python3"}


def check_unbidden(words):
    command, rest = typer.main.get_command(app), list(words)
    while hasattr(command, "commands"):
        assert rest and rest[0] in command.commands, f"unbidden has no command {rest[:1]}"
        command = command.commands[rest.pop(0)]
    context = command.make_context("unbidden", rest)
    if "notebook" in context.params:
        given = dict(map(_pair, context.params.get("parameter") or []))
        check_parameters(context.params["notebook"], given)


def check_parameters(chapter, given):
    notebook = ROOT / "notebooks" / f"{chapter}.ipynb"
    assert notebook.is_file(), chapter
    known = papermill.inspect_notebook(str(notebook))
    assert set(given) <= set(known), f"{chapter} has no {set(given) - set(known)}"
    kind = KINDS.get(chapter, configs.RunConfig)
    fields = {name: value for name, value in given.items() if name in kind.model_fields}
    kind.of(chapter=chapter, **fields)


def check(words):
    program, *rest = words
    if program == "unbidden":
        if rest and rest[-1] in {"--help", "-h"}:
            rest = rest[:-1]
            assert rest, "unbidden --help"
            group = typer.main.get_command(app)
            assert rest[0] in group.commands
            return
        check_unbidden(rest)
    elif program == "papermill":
        chapter = next(word for word in rest if word.endswith(".ipynb") and "/" in word)
        given = {rest[i + 1]: yaml.safe_load(rest[i + 2]) for i, w in enumerate(rest) if w == "-p"}
        check_parameters(re.sub(r".*/|\.ipynb", "", chapter), given)
    elif program == "make":
        makefile = (ROOT / "Makefile").read_text()
        targets = [word for word in rest if "=" not in word]
        assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
        for word in rest:
            if word.startswith("RUN="):
                assert word.removeprefix("RUN=") in {*PRESETS, "NAME"}
    elif program == "snakemake":
        assert (ROOT / rest[rest.index("-s") + 1]).is_file()
        assert any(word.removeprefix("run=") in PRESETS for word in rest)
        if "--profile" in rest:
            assert (ROOT / rest[rest.index("--profile") + 1] / "config.yaml").is_file()
    else:
        assert program in SHELL, f"a guide shows {program}, which nothing checks"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda path: path.stem)
def test_the_commands_of_a_page(page):
    for block in blocks(page):
        if block.language in {"bash", "sh"}:
            for words in commands(block):
                check(words)


@pytest.mark.parametrize(
    "line",
    [
        "unbidden runs 02_retrieval",
        "unbidden run 02_retrieval -p topk=3",
        "unbidden run 02_retrieval -p top_k=0",
        "papermill notebooks/02_retrieval.ipynb out.ipynb -p absent 1",
        "make studies",
        "rm -r x",
    ],
)
def test_a_wrong_command_is_found(line):
    with pytest.raises(BaseException):  # noqa: B017 - each program has its own error
        for words in commands(Block("bash", line, "")):
            check(words)


def test_chapters_say_how_to_run_them():
    """The last section of each chapter holds commands that work."""
    for source in sorted((ROOT / "notebooks").glob("[0-9]*.py")):
        text = re.sub(r"^# ?", "", source.read_text(encoding="utf-8"), flags=re.MULTILINE)
        for match in re.finditer(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
            for words in commands(Block("bash", match[1], "")):
                check(words)
