"""A run in pieces: merged, they are what one process writes, byte for byte."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys

import pytest

from tests.conftest import ROOT
from unbidden.config import RetrievalConfig
from unbidden.errors import ConfigError, DataError
from unbidden.shards import (
    merge_shards,
    merged_path,
    retrieval_items,
    run_shard,
    shard_path,
    shards,
    write_items,
)

GIVEN = {
    "conversations": ["harbour-1", "harbour-2"],
    "systems": ["bm25", "tests.test_shards:Reversed"],
    "ks": [1, 10],
    "limit": 6,
}


class Reversed:
    """A second system: the last turns first. Made anew for every run."""

    from unbidden.memory.protocol import SystemInfo

    info = SystemInfo("reversed", "this test", False, "exact", "none")

    def ingest(self, conversation):
        from unbidden.memory.protocol import IngestReport
        from unbidden.memory.units import turn_units

        self.units = turn_units(conversation)[::-1]
        return IngestReport(len(self.units), len(self.units))

    def search(self, query, *, k, speaker=None):
        from unbidden.memory.units import unit_hits

        return unit_hits(self.units, range(k), range(k, 0, -1), k=min(k, len(self.units)))


@pytest.fixture
def config(tmp_path, monkeypatch):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "study.yaml").write_text("presets: {}")
    monkeypatch.chdir(tmp_path)
    return RetrievalConfig.of(chapter="02_retrieval", run="mine", **GIVEN)


def command(*words, cwd):
    return subprocess.Popen(
        [sys.executable, "-c", "from unbidden.cli import main; main()", "shards", *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'lib'}{os.pathsep}{ROOT}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.fault(
    "two processes make the pieces of one run, in any order",
    "merged, byte for byte what one writes",
)
def test_two_processes_merge_to_the_bytes_of_one(config, tmp_path):
    every = shards(config)
    assert [one.number for one in every] == [0, 1, 2, 3]
    options = ["--run", "mine", "--params-json", json.dumps(GIVEN)]
    for pair in ((3, 1), (2, 0)):
        running = [command("run", str(number), *options, cwd=tmp_path) for number in pair]
        for process in running:
            output, _ = process.communicate(timeout=600)
            assert process.returncode == 0, output
    merged = merge_shards(config).read_bytes()
    alone = tmp_path / "alone.parquet"
    write_items(alone, retrieval_items(config, config.systems), b"")
    assert merged == alone.read_bytes()


@pytest.mark.fault(
    "pieces that are missing, half, or of another run", "refused, with the command that makes them"
)
def test_pieces_of_another_run_or_half_pieces_are_refused(config):
    for one in shards(config):
        run_shard(config, one.number)
    merge_shards(config)
    other = RetrievalConfig.of(
        chapter="02_retrieval", run="mine", **{**GIVEN, "protocol": "repaired"}
    )
    with pytest.raises(DataError, match="is of another run"):
        merge_shards(other)
    path = shard_path(config, 2)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="unbidden shards run 2"):
        merge_shards(config)
    path.unlink()
    with pytest.raises(DataError, match="cannot be read"):
        merge_shards(config)
    assert merged_path(config).is_file()  # what was merged before stays


def test_a_number_out_of_range(config):
    with pytest.raises(ConfigError, match="0 to 3"):
        run_shard(config, 4)


def _snakemake(*words):
    return subprocess.run(
        [sys.executable, "-m", "snakemake", "-s", "notebooks/Snakefile", "-n", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT / "lib")},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


@pytest.mark.slow
def test_the_workflow_plans_a_piece_for_each_conversation_and_system():
    if importlib.util.find_spec("snakemake") is None:
        pytest.skip("the extra `dag` is not installed (snakemake)")
    done = _snakemake("--config", "run=smoke", "--", "shards")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "piece" in done.stdout
    assert "merge" in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["slurm", "kubernetes"])
def test_the_profiles_plan_the_same(name):
    if importlib.util.find_spec(f"snakemake_executor_plugin_{name}") is None:
        pytest.skip(f"snakemake-executor-plugin-{name} is not installed")
    done = _snakemake(
        *("--profile", f"notebooks/profiles/{name}"),
        *("--config", "run=smoke", "--", "shards"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "piece" in done.stdout


def test_profiles_say_what_snakemake_knows():
    """Every key of a profile is an option of snakemake's command line."""
    yaml = pytest.importorskip("yaml")
    if shutil.which("snakemake") is None and importlib.util.find_spec("snakemake") is None:
        pytest.skip("the extra `dag` is not installed (snakemake)")
    from snakemake.cli import get_argument_parser

    known = {text for a in get_argument_parser()._actions for text in a.option_strings}
    for path in (ROOT / "notebooks" / "profiles").glob("*/config.yaml"):
        for key in yaml.safe_load(path.read_text()):
            assert f"--{key}" in known, f"{path.parent.name}: {key}"
