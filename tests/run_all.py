"""Every test: style, then unit and book tests, with types and strict nbval beside them.

`make test` calls this. The exit code is that of the first part that fails.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.refresh_reference import copy_for_nbval  # noqa: E402


def run(*command: str) -> None:
    """Run one part and stop at a failure, saying how long it took."""
    started = time.monotonic()
    code = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=False).returncode
    print(f"== {' '.join(command[:2])}: {time.monotonic() - started:.0f} s", flush=True)
    if code:
        raise SystemExit(code)


def types_and_notebooks() -> None:
    """Check types, then execute the reference notebooks and compare every output."""
    run("mypy")
    folder = copy_for_nbval()
    try:
        run(
            *("pytest", "--quiet", "--nbval", "--nbval-current-env"),
            *("--nbval-cell-timeout", "300", "--nbval-sanitize-with", "tests/sanitize.cfg"),
            *("-o", "addopts=", "-p", "no:cacheprovider", str(folder)),
        )
    finally:
        shutil.rmtree(folder)


def main() -> None:
    """Run all parts; types and notebooks beside the tests, as each of the two fills one core."""
    run("ruff", "check", "lib", "tests", "notebooks", "book/_ext")
    run("ruff", "format", "--check", "lib", "tests", "notebooks")
    with ThreadPoolExecutor() as pool:
        beside = pool.submit(types_and_notebooks)
        run("pytest", "--quiet", *sys.argv[1:])
        beside.result()


if __name__ == "__main__":
    main()
