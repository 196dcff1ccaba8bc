"""Every test, in order of speed: style, types, unit and book tests, then strict nbval.

`make test` calls this. The exit code is that of the first part that fails.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
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


def main() -> None:
    """Run all parts."""
    run("ruff", "check", "lib", "tests", "notebooks", "book/_ext")
    run("ruff", "format", "--check", "lib", "tests", "notebooks")
    run("mypy")
    run("pytest", "--quiet", *sys.argv[1:])
    folder = copy_for_nbval()
    try:
        run(
            *("pytest", "--quiet", "--nbval", "--nbval-current-env"),
            *("--nbval-cell-timeout", "300", "--nbval-sanitize-with", "tests/sanitize.cfg"),
            *("-o", "addopts=", "-p", "no:cacheprovider", str(folder)),
        )
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
