"""Where the results of a run go, and what may name one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbidden.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

OUT_VARIABLE = "UNBIDDEN_OUT"
"""Set by the executor: the folder a chapter writes to until it has succeeded."""

STAMP = "unbidden"
"""Key of the notebook metadata that says what a page was made from."""

_RUN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def check_run_name(name: str) -> str:
    """Return a run's name if it can be a folder's.

    Raises
    ------
    ConfigError
        If it has other characters than letters, digits, dot, hyphen and underscore.
    """
    if not _RUN_NAME.fullmatch(name):
        raise ConfigError(
            f"{name!r} cannot name a run",
            expected="1 to 64 letters, digits, '.', '-' or '_', the first a letter or digit",
            next_step="choose another value for `run`",
        )
    return name


def project_root(start: Path | None = None) -> Path:
    """Return the nearest folder above `start` that holds the study, else `start` itself."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "notebooks" / "study.yaml").is_file():
            return folder
    return here


def run_folder(run: str, chapter: str) -> Path:
    """Return the folder a chapter's results of a run lie in."""
    return project_root() / "results" / "runs" / check_run_name(run) / chapter


def without_paths(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters whose `dataset` holds no folder of this machine, to be shown or kept."""
    dataset = str(parameters.get("dataset", ""))
    if dataset and Path(dataset).expanduser().exists():
        return {**parameters, "dataset": Path(dataset).name}
    return dict(parameters)
