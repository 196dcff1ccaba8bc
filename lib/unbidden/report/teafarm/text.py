"""What the chapter on TeaFarm says beside its tables: published numbers, examples, notes."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd
from scipy.stats import norm

from unbidden.llm.local.models import local_models
from unbidden.reply.replaying import NO_MEMORY
from unbidden.reply.teafarm import FIXED
from unbidden.reply.teafarm.replies import ORACLE
from unbidden.report.judges.guarded import guard_note, guarded
from unbidden.report.published import theanine_table
from unbidden.report.summary import leaders, means, shared_items
from unbidden.report.tables import p_text, points, with_interval
from unbidden.report.teafarm.runs import MADE, OWN
from unbidden.report.teafarm.tables import of_judge
from unbidden.report.teafarm.trust import JUDGES, choice_note, trust_note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from unbidden.config import TeafarmConfig
    from unbidden.report.teafarm.runs import TeaRuns

NOT_RUN = "not run"
PUBLISHED_QUESTIONS = 100
"""Of each of the paper's two data sets."""


def published_beside(
    outcomes: pd.DataFrame, options: Mapping[str, Mapping[str, Any]]
) -> pd.DataFrame:
    """Return THEANINE's Table 4 with our success rate where we ran the same kind of agent.

    Parameters
    ----------
    outcomes : DataFrame
        From `unbidden.report.teafarm.tables.outcomes`, of the headline judge.
    options : mapping
        Of single systems: without rewriting, ours is the paper's "w/o Timeline Refinement".
    """
    ours = outcomes[outcomes["label"] == "correct"].set_index("system")
    rewritten = dict(options.get("theanine", {})).get("refine_mode", "off") != "off"
    mine = {"theanine" if rewritten else "theanine-no-refinement": "theanine"}
    table = theanine_table(4)
    rows = []
    for name, group in table.groupby("system", sort=False):
        values = dict(zip(group["dataset"], group["value"], strict=True))
        agent = mine.get(str(name), str(name) if name != "theanine" else "")
        cell = ours.loc[agent].to_dict() if agent in ours.index else None
        shown = NOT_RUN if cell is None or not cell["n"] else _interval(cell)
        rows.append(
            {
                "in the paper": group["row"].iloc[0],
                **{heading: points(values.get(key), 0) for key, heading in _SETS.items()},
                "this run's agent": agent if cell is not None else "–",
                "this run": shown if cell is not None else "–",
            }
        )
    return pd.DataFrame(rows, dtype=object)


def published_p(first: str = "theanine", second: str = "msc-retrieval") -> float:
    """Return the p-value of a two-proportion test of two rows of Table 4, both data sets pooled.

    Each set has 100 questions. The replies were to the same questions, which the published shares
    do not let us pair.
    """
    table = theanine_table(4)
    sets = table[table["dataset"].isin(["msc", "cc"])]
    shares = sets.groupby("system")["value"].mean()
    pooled = (shares[first] + shares[second]) / 2
    error = (2 * pooled * (1 - pooled) / (2 * PUBLISHED_QUESTIONS)) ** 0.5
    return float(2 * norm.sf(abs(shares[first] - shares[second]) / error))


def published_lead() -> pd.DataFrame:
    """Return `published_p` of THEANINE over memory retrieval as a table of one row."""
    return pd.DataFrame([{"system": "theanine", "against": "msc-retrieval", "p": published_p()}])


_SETS = {"msc": "MSC", "cc": "Conversation Chronicles", "mean": "mean"}


def _interval(cell: Mapping[Any, Any]) -> str:
    return with_interval(cell["mean"], cell["low"], cell["high"])


@dataclass(frozen=True, slots=True)
class TeaExamples:
    """Questions with the truth, and what each agent said of them, as escaped HTML.

    Attributes
    ----------
    most : int
        Questions shown: the first of each conversation that has replies.
    """

    runs: TeaRuns
    judge: str
    most: int = 3

    def _chosen(self) -> list[Any]:
        said = {
            reply.item.id for reply in self.runs.replies if reply.agent not in FIXED and reply.text
        }
        found, homes = [], set()
        for item in self.runs.asked:
            if item.id in said and item.conversation not in homes:
                homes.add(item.conversation)
                found.append(item)
        return found[: self.most]

    def _repr_html_(self) -> str:
        rows = of_judge(self.runs.talk, self.judge).dropna(subset=["label"])
        labels = {(row["query_id"], row["system"]): row["label"] for row in rows.to_dict("records")}
        parts = []
        for item in self._chosen():
            said = "".join(
                f"<li><b>{html.escape(reply.agent)}</b> "
                f"({html.escape(labels.get((item.id, reply.agent)) or 'no verdict')}): "
                f"{html.escape(reply.text or reply.unscored or '')}</li>"
                for reply in self.runs.replies
                if reply.item.id == item.id
            )
            parts.append(
                f'<section class="unbidden-example"><p><b>{html.escape(item.id)}</b> · '
                f"{html.escape(item.speaker)}</p><blockquote>{html.escape(item.question)}"
                f"</blockquote><p>The truth: {html.escape(item.answer)}</p><ul>{said}</ul>"
                "</section>"
            )
        return "".join(parts) or "<p>No reply is on record.</p>"

    def __repr__(self) -> str:
        return f"{len(self._chosen())} questions with replies"


def tea_numbers(
    config: TeafarmConfig,
    runs: TeaRuns,
    differences: pd.DataFrame,
    trust: pd.DataFrame,
    judge: str,
) -> dict[str, str]:
    """Return what the chapter's text says of the run, as text.

    `judge` is the headline's, by which `differences` are.
    """
    items = [item for own in runs.items.values() for item in own]
    model = config.judge_model or config.answer_model
    small = config.answer_model in local_models()
    failed = sum(item.unscored is not None for item in items)
    return {
        "dataset": runs.dataset,
        "answer_model": config.answer_model,
        "judge_model": model,
        "headline_judge": JUDGES[judge],
        "choice_note": choice_note(runs.talk, trust, config.judge_protocols[0]),
        "trust_note": trust_note(trust, model, config.judge_protocols[0]),
        "model_note": "Both are small models that run on a laptop." if small else "",
        "questions": str(len(runs.asked)),
        "questions_own": str(len(runs.items[OWN])),
        "questions_made": str(len(runs.items[MADE])),
        "questions_failed": f"{failed} could not be made and are left out." if failed else "",
        "conversations": str(len({item.conversation for item in runs.asked})),
        "memory_tokens": str(config.memory_tokens),
        "reply_tokens": str(config.reply_tokens),
        "headline_note": headline_note(of_judge(runs.talk, judge), differences, JUDGES[judge]),
        "guard_note": guard_note(guarded_replies(runs.talk, config.judge_protocols[0])),
        "fixed_note": fixed_note(runs, config.judge_protocols[0]),
        "detectable_note": detectable_note(differences),
        "published_p": p_text(published_p()),
        "calls_missing": f"{int(runs.missing['calls'].sum()):,}" if len(runs.missing) else "0",
    }


def headline_note(rows: pd.DataFrame, differences: pd.DataFrame, judge: str) -> str:
    """Return the answer to the chapter's question in two or three sentences.

    Parameters
    ----------
    rows : DataFrame
        Verdicts of the headline's judge. Who does best is said of the questions that every agent in
        the sentence has a verdict on.
    """
    looking = rows[~rows["system"].isin(FIXED) & rows["value"].notna()]
    systems = [n for n in dict.fromkeys(looking["system"]) if n not in (NO_MEMORY, ORACLE)]
    if not systems:
        return "No verdict on a memory system is on record here, so this run cannot say."
    shared = shared_items(looking, "system", ["source", "query_id"])
    if shared.empty:
        return "No question has a verdict for every agent, so this run cannot say who does best."
    rates = {row["system"]: row for row in means(shared, ["system"]).to_dict("records")}
    best = leaders(rates, systems)
    first = rates[best[0]]
    told, rate = ("do equally well: their replies agree", points(first["mean"]))
    if len(best) == 1:
        told, rate = ("does best: its replies agree", _interval(first))
    text = (
        f"By {judge}, of the memory systems {', '.join(best)} {told} with the truth in {rate} % of "
        f"the {first['n']} questions on which every agent has a verdict."
    )
    for name, told in ((NO_MEMORY, "Without any memory"), (ORACLE, "Shown the true turns")):
        if name in rates:
            text += f" {told} the model does in {_interval(rates[name])} %."
    if len(differences):
        better = differences[differences["verdict"].str.startswith("differs")]
        named = [name for name in better["system"] if name in systems]
        text += (
            f" Different from no memory beyond chance: {', '.join(named)}."
            if named
            else " No system can be told from no memory."
        )
    return text


def guarded_replies(talk: pd.DataFrame, judge: str) -> pd.DataFrame:
    """Return what the guards found in the agents' replies; see `unbidden.report.judges.guarded`."""
    return guarded(of_judge(talk, judge), "system")


def fixed_note(runs: TeaRuns, judge: str) -> str:
    """Return what agents that never look score, by the word rule and by the judge."""
    parts = []
    for name in FIXED:
        rates = []
        for which, called in (("words", "the word rule"), (judge, "the judge")):
            rows = of_judge(runs.talk, which)
            rows = rows[(rows["system"] == name) & rows["value"].notna()]
            value = points(float(rows["value"].mean())) + " %" if len(rows) else NOT_RUN
            rates.append(f"{value} by {called}")
        parts.append(f"{name} {' and '.join(rates)}")
    return "; ".join(parts)


def detectable_note(differences: pd.DataFrame) -> str:
    """Return how large a difference these questions could show."""
    known = differences["detectable"].dropna() if len(differences) else pd.Series(dtype=float)
    if known.empty:
        return "How small a difference could be seen is not known without verdicts."
    return (
        f"A true difference from no memory would have to be about {points(float(known.min()), 0)} "
        f"to {points(float(known.max()), 0)} points to be found four times out of five."
    )
