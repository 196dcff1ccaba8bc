"""Fenced blocks of a guide, and what a test is to do with each."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_BLOCK = re.compile(
    r"(?:^% test: (?P<test>[^\n]+)\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_NAMED = re.compile(r"(?:#|\{#) (?P<name>[\w/.-]+\.(?:py|j2))$")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    test: str  # "run", "save NAME", or "" for a block that is only checked

    @property
    def file(self) -> str:
        """The file a block is to be saved as; empty if it is none."""
        if self.test.startswith("save "):
            return self.test.removeprefix("save ")
        first = self.text.partition("\n")[0]
        found = _NAMED.match(first)
        return found["name"] if found and not self.test else ""

    @property
    def content(self) -> str:
        """What the file holds: a template's first line names it, and is no part of its head."""
        return re.sub(r"\A\{# \S+\.j2\n", "{#\n", self.text)


def blocks(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    return [Block(m["language"], m["text"], m["test"] or "") for m in _BLOCK.finditer(text)]


def commands(block: Block) -> Iterator[list[str]]:
    """Yield the commands of a shell block, as a shell splits them."""
    for line in re.sub(r"\\\n\s*", " ", block.text).splitlines():
        words = shlex.split(line, comments=True)
        while "&&" in words:
            cut = words.index("&&")
            yield words[:cut]
            words = words[cut + 1 :]
        if words:
            yield words
