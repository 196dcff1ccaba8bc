"""Our own memory: raw turns with cues for when each matters (`unbidden`, `unbidden-llm`)."""

from unbidden.memory.cued.modelled import UnbiddenLLM
from unbidden.memory.cued.parts import ABLATIONS, LLM_ABLATIONS, Parts
from unbidden.memory.cued.system import Unbidden

__all__ = ["ABLATIONS", "LLM_ABLATIONS", "Parts", "Unbidden", "UnbiddenLLM"]
