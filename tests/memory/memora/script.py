"""What a scripted model says to Memora's prompts."""

from tests.memory.hand import Words, conversation
from unbidden.llm import ScriptedLLM
from unbidden.llm.schemas_memora import (
    Cues,
    Entries,
    Episode,
    Episodes,
    PolicyStep,
    UpdateDecision,
)
from unbidden.memory.memora import Memora

TALK = conversation(
    [("Ana", "I bought a red boat."), ("Ben", "Nice!", "a boat"), ("Ana", "And a cat.")],
    [("Ben", "Where is it?"), ("Ana", "I painted it blue yesterday.")],
)
ONE = conversation([("Ana", "I bought a red boat.")], [("Ana", "I painted it blue.")])


def episodes(*groups):
    return Episodes(episodes=[Episode(topic="t", indices=list(group)) for group in groups])


def entries(*pairs):
    return Entries.model_validate({"entries": [{"index": i, "value": v} for i, v in pairs]})


def cues(**found):
    results = [{"memory_index": i.replace("_", " "), "cue_indices": c} for i, c in found.items()]
    return Cues.model_validate({"results": results})


def decision(update, number=None, index=None, value=None):
    return UpdateDecision(
        should_update=update,
        best_candidate_index=number,
        updated_index=index,
        updated_value=value,
    )


def step(action, ids=(), query=None):
    return PolicyStep(reason="r", action=action, frontier_ids=list(ids), new_query=query)


def memora(answers, **options):
    llm, embedder = ScriptedLLM(answers), Words()
    return Memora(llm=llm, embedder=embedder, **options), llm, embedder


def fixed_memora(answers, **options):
    """One segment a session, no cues unless wanted."""
    return memora(answers, **({"segmentation": "fixed", "cues": False} | options))


def asked(llm):
    return [seen.prompt_name.removesuffix(".v1") for seen in llm.seen]
