"""What a user would see of a reply, and what is kept apart."""

import pytest

from unbidden.reply.sections import sections, visible


@pytest.mark.parametrize(
    ("text", "reply", "thoughts"),
    [
        ("In May.", "In May.", ""),
        ("<think>a</think>In May.<thinking>b</thinking>", "In May.", "a\nb"),
        ("no opening tag</think>\nIn May.", "In May.", "no opening tag"),
        ("<think>never closed", None, "never closed"),
        ("In May. <think>or", "In May.", "or"),
        ("<think>only</think>", None, "only"),
        ("  ", None, ""),
    ],
)
def test_thinking_aloud_is_cut_off(text, reply, thoughts):
    found = visible(text)
    assert (found.reply, found.thoughts) == (reply, thoughts)


@pytest.mark.parametrize(
    ("text", "reply", "cited"),
    [
        ("SITUATION: x\nMEMORIES:\n[1] a\n[3] b [1]\nREPLY: Yes.", "Yes.", (1, 3)),
        ("**Situation:** x\n**Reply:** Yes,\nit was.", "Yes,\nit was.", ()),
        ("SITUATION: [7]\nMEMORIES: none\nREPLY: See [9].", "See [9].", ()),
        ("REPLY: draft\nREPLY: final", "final", ()),
        ("SITUATION: x\nMEMORIES:\n[2] cut he", None, (2,)),
        ("SITUATION: x\nREPLY:", None, ()),
        ("Plain text without marks.", None, ()),
        ("<think>REPLY: no</think>REPLY: yes", "yes", ()),
        ("I sent my reply: it was late.", None, ()),
    ],
)
def test_sections(text, reply, cited):
    found = sections(text)
    assert (found.reply, found.cited) == (reply, cited)
    if reply is None:
        assert found.thoughts
