"""A scripted writer and judge for the construction of queries."""

import json

from unbidden.llm import Outcome

CLEAN = {
    "dialog": "Could you tell me once more how that thing went for us?",
    "implicit": "It is a grey evening and nothing in this place feels right yet.",
    "counterfactual": "Everybody keeps telling me how well it all went back in Norway, years ago.",
    "composed": "Before the weekend I want to sort out all of these matters in one calm evening.",
}
VERDICTS = {
    "validate_dialog.v1": {"verdict": "yes", "reason": "fits"},
    "validate_implicit.v1": {"verdict": "yes", "reason": "fits"},
    "validate_implicit_adversarial.v1": {"verdict": "yes", "reason": "tempting"},
    "validate_counterfactual.v1": {
        "contains_wrong_assertion": "yes",
        "preserves_context": "yes",
        "leaks_correct_answer": "no",
        "verdict": "yes",
        "reason": "wrong",
    },
    "validate_composed.v1": {"uniquely_needs_all": "yes", "verdict": "yes", "reason": "both"},
    "validate_brief.v1": {"verdict": "yes"},
}
REWRITES = {
    "dialog": {"naturalness": "low", "reason": "rarely asked"},
    "implicit": {"expected_memory_use": "bring it up", "reason": "fits"},
    "counterfactual": {"asserted_wrong": "Norway", "reason": "another place"},
    "composed": {"expected_memory_use": "both", "reason": "fits"},
}


def style_of(prompt_name):
    for style in ("dialog", "implicit", "counterfactual"):
        if style in prompt_name:
            return style
    return "composed"


def rewrite(style, text=None, speaker="speaker_a"):
    """A complete reply of the writer."""
    words = CLEAN[style] if text is None else text
    return json.dumps(
        {"subject_speaker": speaker, f"{style}_query": words, **REWRITES[style]}, ensure_ascii=False
    )


def answer(seen):
    """Answer any prompt of a construction well."""
    if seen.prompt_name in VERDICTS:
        return json.dumps(VERDICTS[seen.prompt_name])
    return rewrite(style_of(seen.prompt_name))


def faults(good):
    """Replies that are no answer, by the status they lead to."""
    value = json.loads(good)
    first = next(iter(value))
    missing = {name: part for name, part in value.items() if name != first}
    return {
        "refused": Outcome("refused", "I would rather not"),
        "truncated": Outcome("truncated", "cut at 300 tokens", good[:20]),
        "empty": Outcome("empty", "no text"),
        "invalid_json": good[:-3],
        "schema_mismatch": json.dumps(value | {first: 7}),
        "schema_mismatch, missing": json.dumps(missing),
        "schema_mismatch, more": json.dumps(value | {"more": "x"}),
    }
