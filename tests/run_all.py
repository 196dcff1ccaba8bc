"""Every test: style, then unit tests, with types, strict nbval and the book beside them.

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


BOOK = "tests/browser"
COMMANDS = ("tests/guide", "tests/test_freshness.py")
"""Tests that run whole commands, beside the unit tests so that both lanes end together."""


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


def the_book(arguments: list[str]) -> None:
    """Execute every chapter, build the book and open its pages."""
    run("pytest", "--quiet", "-p", "no:cacheprovider", *arguments, BOOK)


def the_commands(arguments: list[str]) -> None:
    """Follow the guides and run chapters as a reader does, each in a process of its own."""
    run("pytest", "--quiet", "-p", "no:cacheprovider", *arguments, *COMMANDS)


def the_lane_beside(arguments: list[str]) -> None:
    """Run all that is not a unit test."""
    types_and_notebooks()
    the_book(arguments)
    the_commands(arguments)


def main() -> None:
    """Run all parts in two lanes, as each fills one core and takes about as long."""
    run("ruff", "check", "lib", "tests", "notebooks", "book/_ext")
    run("ruff", "format", "--check", "lib", "tests", "notebooks")
    arguments = sys.argv[1:]
    with ThreadPoolExecutor() as pool:
        beside = pool.submit(the_lane_beside, arguments)
        run("pytest", "--quiet", *(f"--ignore={path}" for path in (BOOK, *COMMANDS)), *arguments)
        beside.result()


if __name__ == "__main__":
    main()
