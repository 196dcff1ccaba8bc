"""Parameters of the chapter on timelines."""

from __future__ import annotations

from typing import Literal

from unbidden.config.base import Count, ModelConfig


class TimelinesConfig(ModelConfig):
    """Parameters of the chapter on timelines.

    Attributes
    ----------
    dialogues : {"session", "none"}
        Whether the relation prompt shows the dialogues two memories come from, as published.
    reply_conversations : tuple of str
        Those of whose last session replies are made; empty means the first alone.
    reply_turns : int or None
        First so many turns of that session.
    released : {"recorded", "rescore"}
        Show the recorded scores of the published outputs, or score them now (needs their files).
    """

    dialogues: Literal["session", "none"] = "none"
    reply_conversations: tuple[str, ...] = ()
    reply_turns: Count | None = 4
    released: Literal["recorded", "rescore"] = "recorded"
    embedder: str = "all-MiniLM-L6-v2"
