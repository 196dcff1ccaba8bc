"""A model that says what it is told to: for tests, and for trying a system without any model."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from unbidden.errors import LLMError
from unbidden.llm.base import LLM, Call, prepare
from unbidden.llm.labels import LabelScores, read_label_scores
from unbidden.llm.outcome import Outcome
from unbidden.llm.parse import parse_text
from unbidden.llm.prompting import PromptLibrary
from unbidden.llm.settings import LLMSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from unbidden.llm.request import Message

Answer = str | BaseModel | LabelScores | Outcome[Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """A prompt as the model received it."""

    prompt_name: str
    variables: Mapping[str, Any]
    messages: list[Message]
    schema: type[BaseModel] | None
    repeat: int
    key: str
    labels: tuple[str, ...] = ()


class ScriptExhausted(LLMError):  # noqa: N818 - says what happened, as BudgetExceeded does
    """A scripted model was asked more often than it has answers."""


class ScriptedLLM(LLM):
    """Answers from a queue, or by a function of the prompt.

    Parameters
    ----------
    answers : iterable of Answer, or callable from Seen to Answer
        A text (read as a model's reply, so it may fail its schema), an object of the output
        schema, `LabelScores` for a call that asks for them (a text then stands for a token of
        probability 1), or a whole outcome, for instance ``Outcome("refused", "no")``.
    library, settings : optional
        Prompts and roles; by default those of the package, and a model called "scripted".

    Attributes
    ----------
    seen : list of Seen
        All prompts, in the order in which they came.
    """

    def __init__(
        self,
        answers: Iterable[Answer] | Callable[[Seen], Answer],
        *,
        library: PromptLibrary | None = None,
        settings: LLMSettings | None = None,
    ) -> None:
        self.seen: list[Seen] = []
        self.library = library or PromptLibrary()
        self.settings = settings or LLMSettings.of("scripted")
        self._function = answers if callable(answers) else None
        self._queue: deque[Answer] = deque() if callable(answers) else deque(answers)

    def ask_many(self, calls: Iterable[Call], *, label: str = "") -> list[Outcome[Any]]:
        """Return the next answers, one for each call.

        Raises
        ------
        ScriptExhausted
            If there is no answer left; the prompt is shown.
        """
        return [self._answer(call) for call in calls]

    def _answer(self, call: Call) -> Outcome[Any]:
        item = prepare(call, self.library, self.settings)
        messages = item.forms[0].body["messages"]
        seen = Seen(
            call.prompt_name,
            call.variables,
            messages,
            item.schema,
            call.repeat,
            item.keys[0],
            item.labels,
        )
        self.seen.append(seen)
        if self._function is None and not self._queue:
            raise ScriptExhausted(
                "the scripted model has no answer left",
                expected=f"an answer to call {len(self.seen)}, prompt {call.prompt_name!r}",
                got=f"the message {messages[-1]['content'][:300]!r}",
                next_step="add an answer to the script, or find out who asks once more",
            )
        answer = self._function(seen) if self._function else self._queue.popleft()
        if isinstance(answer, Outcome):
            return answer
        if isinstance(answer, LabelScores):
            return Outcome("ok", "", answer.token, answer, key=seen.key, requests=1)
        text = answer.model_dump_json() if isinstance(answer, BaseModel) else answer
        if item.labels:
            status, reason, value = read_label_scores(_certain(text), item.labels)
        else:
            status, reason, value = parse_text(text, item.schema)
        return Outcome(status, reason, text, value, key=seen.key, requests=1)


def _certain(token: str) -> dict[str, Any]:
    """Return a response whose only likely token this is."""
    content = [{"token": token, "top_logprobs": [{"token": token, "logprob": 0.0}]}]
    return {"choices": [{"logprobs": {"content": content}}]}
