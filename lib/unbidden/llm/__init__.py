"""The model layer: prompts, one client for any OpenAI-compatible endpoint, the ledger of calls.

Every model call of the study goes through an `LLM`, and comes back as an `Outcome`.
"""

from unbidden.llm.base import LLM, Call
from unbidden.llm.budget import Budget
from unbidden.llm.client import Client, Mode, connect
from unbidden.llm.labels import LabelScores
from unbidden.llm.ledger import Ledger
from unbidden.llm.ledger.recording import Recording, record, replay
from unbidden.llm.outcome import Outcome, Status, Usage
from unbidden.llm.plan import Plan, plan
from unbidden.llm.prompting import Prompt, PromptLibrary, prompts
from unbidden.llm.scripted import ScriptedLLM, ScriptExhausted
from unbidden.llm.settings import LLMSettings, RoleSettings

__all__ = [
    "LLM",
    "Budget",
    "Call",
    "Client",
    "LLMSettings",
    "LabelScores",
    "Ledger",
    "Mode",
    "Outcome",
    "Plan",
    "Prompt",
    "PromptLibrary",
    "Recording",
    "RoleSettings",
    "ScriptExhausted",
    "ScriptedLLM",
    "Status",
    "Usage",
    "connect",
    "plan",
    "prompts",
    "record",
    "replay",
]
