"""Putting cases to a judge and reading what comes back; every case gets a verdict or a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unbidden.errors import ConfigError
from unbidden.judge.guards import guard
from unbidden.judge.reading import read_label
from unbidden.judge.rubric import FORMS, LabelRubric, Rubric
from unbidden.judge.verdict import Verdict
from unbidden.llm.base import Call
from unbidden.llm.labels import LabelScores
from unbidden.llm.reaching import reached

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbidden.judge.case import Case
    from unbidden.judge.rubric import Form, ProtocolName
    from unbidden.llm.base import LLM
    from unbidden.llm.outcome import Outcome

LEAST_MASS = 0.5
"""Share of the probability that must lie on labels for the likeliest one to be a verdict."""


def judge(
    llm: LLM,
    rubric: Rubric,
    cases: Sequence[Case],
    *,
    protocol: ProtocolName = "repaired",
    form: Form = "json",
    wording: str | None = None,
    repeat: int = 0,
) -> list[Verdict]:
    """Return one verdict for each case, in their order.

    Parameters
    ----------
    protocol : {"repaired", "paper"}
        See the rubric; for pairs "paper" asks one order only.
    form : {"json", "word", "likelihood"}
        How a label is asked for. By likelihood there is no verdict where the likeliest token begins
        no label, or less than `LEAST_MASS` of the probability lies on labels.
    wording : str, optional
        A wording of the rubric instead of the protocol's prompt.
    repeat : int
        Index of a repetition, for measuring how steady a judge is.

    Raises
    ------
    ConfigError
        If the rubric has no such form or wording.
    LLMError, BudgetExceeded
        As `LLM.ask_many` and `reached`: a judge that is not there is no verdict of any kind.
    """
    found = judge_views(
        llm, rubric, cases, protocol=protocol, form=form, wording=wording, repeat=repeat
    )
    return [rubric.combine(verdicts) for verdicts in found]


def judge_views(
    llm: LLM,
    rubric: Rubric,
    cases: Sequence[Case],
    *,
    protocol: ProtocolName = "repaired",
    form: Form = "json",
    wording: str | None = None,
    repeat: int = 0,
) -> list[tuple[Verdict, ...]]:
    """Return the verdicts on all views of each case, before they are combined; see `judge`."""
    if form not in FORMS:
        raise ConfigError(
            f"unknown form {form!r}", expected=", ".join(FORMS), next_step="correct the parameter"
        )
    name = rubric.prompt(protocol, form, wording)
    labels = rubric.labels(protocol) if form == "likelihood" else ()
    asked: list[tuple[int, Case]] = []
    verdicts: list[list[Verdict]] = [[] for _ in cases]
    for position, case in enumerate(cases):
        if (obstacle := rubric.obstacle(case)) is not None:
            verdicts[position].append(Verdict.none(obstacle))
            continue
        views = rubric.views(case)
        asked.extend((position, view) for view in (views[:1] if protocol == "paper" else views))
    calls = [
        Call(name, rubric.variables(view, protocol), repeat=repeat, labels=labels)
        for _, view in asked
    ]
    outcomes = reached(llm.ask_many(calls, label=f"judging {rubric.name}")) if calls else []
    for (position, view), outcome in zip(asked, outcomes, strict=True):
        verdict = read_outcome(rubric, view, outcome, protocol=protocol, form=form)
        verdicts[position].append(verdict.noted(*_notes(view)))
    return [tuple(found) for found in verdicts]


def read_outcome(
    rubric: Rubric, case: Case, outcome: Outcome[Any], *, protocol: ProtocolName, form: Form
) -> Verdict:
    """Return the verdict in the outcome of one call; unscored with its reason if it has none."""
    if not outcome.ok:
        return Verdict.none(outcome.unscored or "no outcome")
    if form == "json":
        return rubric.read(outcome.value, case, protocol)
    if form == "word":
        label = read_label(outcome.text, rubric.labels(protocol))
        if label is None:
            return Verdict.none(f"no label: the reply begins {outcome.text[:60]!r}")
        return _labelled(rubric, label)
    return _likeliest(rubric, outcome.value)


def _likeliest(rubric: Rubric, scores: Any) -> Verdict:
    """Return the verdict of the likeliest label; unscored if the model wanted to say no label."""
    if not isinstance(scores, LabelScores):
        return Verdict.none("no likelihood of labels")
    if scores.chosen is None:
        return Verdict.none(f"no label: the likeliest token is {scores.token[:40]!r}")
    if scores.mass < LEAST_MASS:
        return Verdict.none(
            f"no label: labels have {scores.mass:.2f} of the probability, less than {LEAST_MASS}"
        )
    if scores.best is None:
        return Verdict.none("two labels are equally likely")
    return _labelled(rubric, scores.best, likelihood=tuple(scores.probabilities.items()))


def _labelled(rubric: Rubric, label: str, **more: Any) -> Verdict:
    if isinstance(rubric, LabelRubric):
        return rubric.verdict(label, **more)
    return Verdict(label, rubric.scale[label], **more)


def _notes(case: Case) -> tuple[str, ...]:
    """Return what the guards found in the texts that are judged."""
    texts = [case.reply] if case.other is None else [case.reply, case.other]
    return tuple(dict.fromkeys(note for text in texts for note in guard(text).notes))
