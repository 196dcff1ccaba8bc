"""Running one chapter: parameters checked, written aside, put in place only if it succeeded."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbidden.atomic import replacing
from unbidden.config import (
    OUT_VARIABLE,
    STAMP,
    check_run_name,
    project_root,
    run_folder,
    without_paths,
)
from unbidden.errors import ConfigError, UnbiddenError, closest
from unbidden.freshness import changes_since, chapter_digests, stamp_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_ATTEMPTS = 50


class ChapterFailed(UnbiddenError):  # noqa: N818 - reads as what happened
    """A chapter raised; its partial notebook is kept for a look."""


def chapter_path(name: str) -> Path:
    """Return the notebook of a chapter.

    Raises
    ------
    ConfigError
        If there is none of that name.
    """
    folder = project_root() / "notebooks"
    stem = Path(name).stem if name.endswith((".ipynb", ".py")) else name
    path = folder / f"{stem}.ipynb"
    if not path.is_file() or Path(stem).name != stem:
        known = [item.stem for item in folder.glob("[0-9][0-9]_*.ipynb")]
        raise ConfigError(
            f"unknown notebook {name!r}",
            expected=closest(name, known) if known else f"notebooks in {folder}",
            next_step="run from the project's folder, with one of these names",
        )
    return path


def run_chapter(name: str, *, run: str, parameters: Mapping[str, Any], timeout: int = 7200) -> Path:
    """Execute a chapter with papermill and return its results folder.

    The chapter writes into a folder of its own beside the final one. Only when every cell has
    succeeded does that folder take the final one's place, so what lies there is always whole and
    from one execution. (Papermill's own record calls a timed-out notebook completed.)

    Parameters
    ----------
    parameters : mapping
        Passed to the notebook; unknown names are an error.
    timeout : int
        Seconds for the slowest cell.

    Raises
    ------
    ConfigError
        If the notebook, the run's name or a parameter is unknown.
    ChapterFailed
        If a cell raised; earlier results of this run stay as they were.
    """
    source = chapter_path(name)
    check_run_name(run)
    if parameters.get("run", run) != run:
        raise ConfigError(
            "the run is named twice",
            got=f"{run!r} and {parameters['run']!r}",
            next_step="use --run",
        )
    _check_parameters(source, parameters)
    final = run_folder(run, source.stem)
    _recover(final)
    partial = final.with_name(f".{final.name}.partial-{os.getpid()}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        with _local_model(parameters):
            _execute(source, partial, {**parameters, "run": run}, timeout)
        _stamp(partial / source.name, source, {**parameters, "run": run})
        _put_in_place(partial, final)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
        with contextlib.suppress(OSError):  # not empty: other chapters are there
            final.parent.rmdir()
    return final


def reasons_to_run(name: str, *, run: str, parameters: Mapping[str, Any]) -> list[str]:
    """Return why a chapter's results of a run are not those of these parameters; none if they are.

    Raises
    ------
    ConfigError
        If the notebook or the run's name is unknown.
    """
    source = chapter_path(name)
    executed = run_folder(run, source.stem) / source.name
    return changes_since(stamp_of(executed), source, without_paths({**parameters, "run": run}))


def run_status(run: str) -> dict[str, list[str]]:
    """Return, for each chapter, what has changed since it was executed in a run; none if fresh."""
    sources = sorted((project_root() / "notebooks").glob("[0-9]*.ipynb"))
    return {
        source.stem: changes_since(stamp_of(run_folder(run, source.stem) / source.name), source)
        for source in sources
    }


def _check_parameters(source: Path, parameters: Mapping[str, Any]) -> None:
    import papermill

    known = papermill.inspect_notebook(str(source))
    for name in parameters:
        if name not in known:
            raise ConfigError(
                f"{source.stem} has no parameter {name!r}",
                expected=closest(name, known),
                next_step=f"`papermill --help-notebook {source.name}` describes them",
            )


def _execute(source: Path, partial: Path, parameters: Mapping[str, Any], timeout: int) -> None:
    import papermill
    from jupyter_client.kernelspec import NoSuchKernel
    from nbclient.exceptions import CellTimeoutError, DeadKernelError
    from papermill.exceptions import PapermillExecutionError
    from traitlets.config import Config

    # Silences a warning about unencrypted local sockets; IPC sockets would collide in parallel.
    kernel = Config()
    kernel.KernelManager.transport_encryption = "auto"
    try:
        with _environment(**{OUT_VARIABLE: str(partial.resolve())}):
            papermill.execute_notebook(
                str(source),
                str(partial / source.name),
                parameters=dict(parameters),
                progress_bar=False,
                coalesce_streams=True,
                execution_timeout=timeout,
                config=kernel,
            )
    except PapermillExecutionError as error:
        kept = partial.with_name(f"{source.stem}.failed.ipynb")
        shutil.copyfile(partial / source.name, kept)
        raise ChapterFailed(
            f"{source.stem} failed in cell {error.exec_count}: {error.ename}",
            got=str(error.evalue),
            next_step=f"see {kept.name} beside the run's chapters; earlier results are kept",
        ) from error
    except (DeadKernelError, CellTimeoutError, NoSuchKernel) as error:
        raise ChapterFailed(
            f"{source.stem} did not end: {type(error).__name__}",
            got=str(error).strip().splitlines()[-1][:300],
            next_step="look for a lack of memory, or allow more time; earlier results are kept",
        ) from error


@contextmanager
def _environment(**values: str) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _local_model(parameters: Mapping[str, Any]) -> Iterator[None]:
    """Serve the local model a run asks for, for as long as the run lasts."""
    name = str(parameters.get("local_model") or "")
    if not name or parameters.get("llm_mode", "replay") == "replay":
        yield
        return
    from unbidden.llm.local.engine import ServerOptions
    from unbidden.llm.local.serve import serving

    # Answers are kept and replayed, so the quicker serving that reuses prompt beginnings will do.
    with serving(name, ServerOptions(cache=True)) as served, _environment(**served.environment()):
        yield


def plan_chapter(name: str, *, parameters: Mapping[str, Any], timeout: int = 7200) -> str:
    """Return the plan of a chapter's model calls; no call is made and no result is kept.

    Raises
    ------
    ConfigError
        If the notebook or a parameter is unknown.
    """
    from unbidden.llm.session import PLAN_VARIABLE

    source = chapter_path(name)
    _check_parameters(source, parameters)
    with tempfile.TemporaryDirectory() as scratch:
        written = Path(scratch) / "plan.txt"
        stopped = ""
        with _environment(**{PLAN_VARIABLE: str(written)}):
            try:
                out = Path(scratch) / "out"
                out.mkdir()
                _execute(source, out, dict(parameters), timeout)
            except ChapterFailed as error:
                stopped = f"\nThe chapter went no further without answers: {error.got}"
        made = written.read_text("utf-8") if written.exists() else "This chapter asks no model.\n"
    return made.rstrip() + stopped


def _put_in_place(partial: Path, final: Path) -> None:
    """Let a finished folder take the final one's place; of two runs at once, the last one stays."""
    old = final.with_name(f".{final.name}.old-{os.getpid()}")
    for attempt in range(_ATTEMPTS):
        with contextlib.suppress(FileNotFoundError):
            final.replace(old)
        try:
            partial.replace(final)
            break
        except OSError:
            # Another process was quicker, and its folder is there now.
            if attempt == _ATTEMPTS - 1 or not final.exists():
                raise
            shutil.rmtree(old, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)
    final.with_name(f"{final.name}.failed.ipynb").unlink(missing_ok=True)


def _recover(final: Path) -> None:
    """Clear up after processes that were killed: put back what they had set aside."""
    for path in sorted(final.parent.glob(f".{final.name}.*-*")):
        kind, _, number = path.name.removeprefix(f".{final.name}.").partition("-")
        if kind not in ("partial", "old") or not number.isdecimal() or _alive(int(number)):
            continue
        if kind == "old" and not final.exists():
            path.replace(final)
        else:
            shutil.rmtree(path, ignore_errors=True)


def _alive(number: int) -> bool:
    """Return whether a process of this machine runs; where that cannot be told, yes."""
    try:
        import psutil
    except ImportError:
        return True
    return bool(psutil.pid_exists(number))


def _stamp(path: Path, source: Path, parameters: Mapping[str, Any]) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    shown = without_paths(parameters)
    notebook["metadata"][STAMP] = {
        "parameters": shown,
        "digests": chapter_digests(source, shown),
    }
    with replacing(path) as partial:
        partial.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", "utf-8")
