"""The tree as a whole: no secret in it, and the page of faults is that of the tests."""

import gzip
import re
import subprocess

import pytest

from tests.conftest import ROOT
from tests.faults.record import kept, marked
from unbidden.report.pages.survived import faults_page

SECRETS = re.compile(
    rb"sk-[A-Za-z0-9_-]{24,}|gh[pousr]_[A-Za-z0-9]{30,}|AKIA[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35}"
    rb"|xox[baprs]-[0-9A-Za-z-]{20,}|hf_[A-Za-z0-9]{30,}"
    rb"|-----BEGIN [A-Z ]*PRIVATE KEY-----|eyJhbGciOi[A-Za-z0-9_-]{20,}\."
)
HOMES = re.compile(rb"/(?:home|Users)/[a-z][a-z0-9_-]+/|/root/[a-z.]")
MADE_UP = {"tests/llm/test_secrets.py"}
"""Files whose business is what a secret looks like."""


def tracked():
    done = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False, timeout=60
    )
    if done.returncode:
        pytest.skip("not a git clone")
    for name in done.stdout.decode().split("\0"):
        path = ROOT / name
        if name and path.is_file() and name not in MADE_UP:
            raw = path.read_bytes()
            yield name, gzip.decompress(raw) if name.endswith(".gz") else raw


INVENTED = {("results/ledger/memories.jsonl.gz", b"/home/ines/")}
"""What a model wrote of a speaker of `harbour`, and no path of a machine."""


@pytest.mark.fault("a key or token in any file of the repository", "none is there")
def test_no_secret_in_the_tree():
    found = [(name, match[0][:12]) for name, raw in tracked() for match in SECRETS.finditer(raw)]
    assert not found


@pytest.mark.fault("a path of somebody's machine in any file", "none is there")
def test_no_home_in_results():
    found = [
        (name, match[0])
        for name, raw in tracked()
        if name.startswith(("results/", "book/", "notebooks/"))
        for match in HOMES.finditer(raw)
        if (name, match[0]) not in INVENTED
    ]
    assert not found


@pytest.mark.parametrize(
    "text", [b"sk-" + b"a" * 40, b"ghp_" + b"b" * 36, b"-----BEGIN RSA PRIVATE " + b"KEY-----"]
)
def test_the_canary_sings(text):
    assert SECRETS.search(b"x = '" + text + b"'")


def test_the_page_is_that_of_the_tests():
    """`pytest --record-faults` after a change of the marks."""
    outcomes = kept()
    assert set(outcomes) == set(marked())
    assert not [test for test, outcome in outcomes.items() if "failed" in outcome]
    page = faults_page()
    for test in outcomes:
        assert test.rpartition("/")[2] in page


def test_the_page_of_packages_is_that_of_the_pins():
    """`python -m tests.packages` after a change of constraints.txt."""
    import csv

    from tests.packages import pinned
    from unbidden.report.pages.packages import packages_page, packages_path

    with packages_path().open(encoding="utf-8", newline="") as file:
        rows = {row["package"]: row["version"] for row in csv.DictReader(file)}
    assert rows == pinned()
    assert "| pandas | " in packages_page()
