"""What a scripted model says to mem0's prompts."""

from tests.memory.hand import Words, conversation
from unbidden.llm import ScriptedLLM
from unbidden.llm.schemas_mem0 import AddedMemories, FactOperation, FactTexts, MemoryActions
from unbidden.memory.mem0 import Mem0

BOAT = conversation(
    [("Ana", "I bought a red boat yesterday."), ("Ben", "I like cats.", "a cat")],
    [("Ana", "I sold it."), ("Ben", "Oh.")],
)


def facts(*found):
    return FactTexts(facts=list(found))


def actions(*found):
    keys = ("event", "id", "text")
    return MemoryActions.model_validate(
        {"memory": [dict(zip(keys, item, strict=True)) | {"old_memory": None} for item in found]}
    )


def operation(name, label=None, text=""):
    return FactOperation(operation=name, id=label, text=text)


def added(*found):
    return AddedMemories.model_validate(
        {
            "memory": [
                {"text": text, "attributed_to": who, "linked_memory_ids": links}
                for text, who, links in found
            ]
        }
    )


def one_pass(answers, **options):
    llm = ScriptedLLM(answers)
    return Mem0(llm=llm, embedder=Words(), ingestion="one-pass", **options), llm


def asked(llm):
    return [seen.prompt_name.removesuffix(".v1") for seen in llm.seen]
