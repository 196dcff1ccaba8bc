"""What a rubric is: a scale, a prompt for each protocol and form, and how a reply is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args, runtime_checkable

from unbidden.errors import ConfigError, closest
from unbidden.judge.guards import guard
from unbidden.judge.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from unbidden.judge.case import Case

ProtocolName = Literal["paper", "repaired"]
"""A paper's rule, or ours with its fault mended (DESIGN, rule 5)."""
Form = Literal["json", "word", "likelihood"]
"""A label under a schema, a label as the one word of a free reply, or the label of the likeliest
first token."""
FORMS: tuple[Form, ...] = get_args(Form)


@runtime_checkable
class Rubric(Protocol):
    """A way to judge; a user's own has to have these.

    Attributes
    ----------
    name : str
    about : str
        One line for tables.
    scale : mapping of str to float
        Score of each label.
    higher_is_better : bool
        False where the score is a rate of faults.
    """

    name: str
    about: str
    scale: Mapping[str, float]
    higher_is_better: bool

    def obstacle(self, case: Case) -> str | None:
        """Return why a case cannot be judged, or None."""
        ...

    def views(self, case: Case) -> tuple[Case, ...]:
        """Return what is put to the judge: the case, or both orders of a pair."""
        ...

    def prompt(self, protocol: ProtocolName, form: Form, wording: str | None) -> str:
        """Return the prompt's name."""
        ...

    def variables(self, case: Case, protocol: ProtocolName) -> dict[str, Any]:
        """Return the prompt's variables, every text made safe."""
        ...

    def labels(self, protocol: ProtocolName) -> tuple[str, ...]:
        """Return the labels a judge may give under a protocol."""
        ...

    def read(self, value: Any, case: Case, protocol: ProtocolName) -> Verdict:
        """Return the verdict in a parsed object of the prompt's schema."""
        ...

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """Return one verdict from those on the views."""
        ...


@dataclass(frozen=True)
class LabelRubric:
    """A rubric whose verdict is one label of a scale, from one view.

    Attributes
    ----------
    answer_field : str
        The field of the schema that holds the label; empty where there are several.
    prompts : mapping of str to str
        Prompt by protocol, for the form "json".
    wordings : mapping of str to str
        Further prompts by name of their wording.
    word_prompts : mapping of str to str
        Prompt by protocol or wording for the forms "word" and "likelihood"; empty if a verdict
        has several parts.
    paper_labels : tuple of str
        Labels under the protocol "paper", where they differ.
    """

    name: str
    about: str
    scale: Mapping[str, float]
    answer_field: str
    prompts: Mapping[str, str]
    wordings: Mapping[str, str] = field(default_factory=dict)
    word_prompts: Mapping[str, str] = field(default_factory=dict)
    paper_labels: tuple[str, ...] = ()
    higher_is_better: bool = True

    def obstacle(self, case: Case) -> str | None:
        """Return why a case cannot be judged: no reply, no message or no gold answer."""
        if not case.reply.strip():
            return "empty reply"
        if not case.message.strip():
            return "empty message"
        return self.missing(case)

    def missing(self, case: Case) -> str | None:
        """Return what a rubric needs beyond a reply and is not there; here a gold answer."""
        if not case.facts or not all(fact.answer.strip() for fact in case.facts):
            return "no gold answer"
        return None

    def views(self, case: Case) -> tuple[Case, ...]:
        """Return the case alone."""
        return (case,)

    def labels(self, protocol: ProtocolName) -> tuple[str, ...]:
        """Return the labels a judge may give."""
        return (protocol == "paper" and self.paper_labels) or tuple(self.scale)

    def prompt(self, protocol: ProtocolName, form: Form, wording: str | None) -> str:
        """Return the prompt's name.

        Raises
        ------
        ConfigError
            If the rubric has no such wording, or no form for one label.
        """
        table = self.word_prompts if form != "json" else {**self.prompts, **self.wordings}
        key = wording or protocol
        if key in table:
            return table[key]
        what = f"form {form!r}" if not table else f"wording {key!r} in the form {form!r}"
        raise ConfigError(
            f"the rubric {self.name!r} has no {what}",
            expected=closest(key, table) if table else "the form 'json': its verdict has parts",
            next_step="correct the parameter",
        )

    def variables(self, case: Case, protocol: ProtocolName) -> dict[str, Any]:
        """Return speaker, message, fact and reply."""
        return {**addressed(case), "fact": safe("; ".join(f.text for f in case.facts))}

    def read(self, value: Any, case: Case, protocol: ProtocolName) -> Verdict:
        """Return the verdict in a parsed object."""
        return self.verdict(getattr(value, self.answer_field), reason=getattr(value, "reason", ""))

    def verdict(self, label: str, **more: Any) -> Verdict:
        """Return the verdict of a label; unscored if it is not on the scale."""
        if label not in self.scale:
            return Verdict.none(f"not a label of {self.name}: {label[:60]!r}")
        return Verdict(label, self.scale[label], **more)

    def combine(self, verdicts: Sequence[Verdict]) -> Verdict:
        """Return the only verdict."""
        (verdict,) = verdicts
        return verdict


def addressed(case: Case) -> dict[str, Any]:
    """Return the variables all prompts on replies share."""
    return {
        "speaker": safe(case.speaker or "the user"),
        "message": safe(case.message),
        "reply": guard(case.reply).text,
    }


def safe(text: str) -> str:
    """Return a text that is not the reply, made safe for a prompt."""
    return guard(text, max_tokens=2_000, max_characters=12_000).text
