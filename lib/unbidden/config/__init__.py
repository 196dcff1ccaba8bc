"""The parameters of each chapter, checked, and where its results go."""

from unbidden.config.ablations import SUMMARIES, AblationsConfig
from unbidden.config.base import Count, Counts, ModelConfig, RunConfig
from unbidden.config.cost import CostConfig
from unbidden.config.grounding import GroundingConfig
from unbidden.config.judges import JudgesConfig
from unbidden.config.places import (
    OUT_VARIABLE,
    STAMP,
    check_run_name,
    project_root,
    run_folder,
    without_paths,
)
from unbidden.config.replies import RepliesConfig
from unbidden.config.retrieval import CHEAPER, RetrievalConfig
from unbidden.config.teafarm import TeafarmConfig
from unbidden.config.timelines import TimelinesConfig

__all__ = [
    "CHEAPER",
    "OUT_VARIABLE",
    "STAMP",
    "SUMMARIES",
    "AblationsConfig",
    "CostConfig",
    "Count",
    "Counts",
    "GroundingConfig",
    "JudgesConfig",
    "ModelConfig",
    "RepliesConfig",
    "RetrievalConfig",
    "RunConfig",
    "TeafarmConfig",
    "TimelinesConfig",
    "check_run_name",
    "project_root",
    "run_folder",
    "without_paths",
]
