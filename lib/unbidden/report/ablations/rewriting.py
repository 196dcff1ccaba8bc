"""What rewriting a message before the search changes, from the grid of rewritings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.llm.client import Client
from unbidden.llm.session import PlanningLLM
from unbidden.queries.facets import paper_lines, repaired_lines, rewrite_for_search
from unbidden.queries.sampling import balanced_sample
from unbidden.report.paired import paired_differences
from unbidden.report.tables import points, with_interval
from unbidden.retrieval.rewriting import AS_WRITTEN, GRID, call_sets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unbidden.config import AblationsConfig
    from unbidden.corpus.models import Corpus
    from unbidden.llm.base import LLM
    from unbidden.queries.build import Query
    from unbidden.queries.facets import SearchTexts
    from unbidden.retrieval.rewriting import RewriteRun, Rewriting

ITEM = ["style", "query_id"]
_NAME = re.compile(r"\w+")
KEYS = ["metric", "system", *ITEM]
NOT_RUN = "not run"


def sampled(corpus: Corpus, queries: Sequence[Query], config: AblationsConfig) -> list[Query]:
    """Return the queries that are rewritten: not the plain question, which needs no rewriting."""
    named = config.rewrite_conversations or [talk.id for talk in corpus.conversations[:2]]
    kept = [q for q in queries if q.conversation in named and q.style != "question"]
    return balanced_sample(kept, per_style=config.queries_per_style, seed=config.seed)


def rewriting_effects(run: RewriteRun, *, seed: int = 0) -> pd.DataFrame:
    """Return the paired change of recall from the message as written, by row and system.

    The same need is put in several styles, so items are clustered by need, not by conversation: a
    sample spans too few conversations for their spread to be known, and its intervals say nothing
    about others.

    Returns
    -------
    DataFrame
        Columns ``rewriting, metric, system, as written, rewritten`` and a paired comparison's;
        rows that were not run are missing.
    """
    items = run.items
    names = [row.name for row in GRID if row.name in set(items["condition"])]
    base = items[items["condition"] == AS_WRITTEN].set_index(KEYS)["value"].sort_index()

    def pairs() -> Iterator[tuple[dict[str, str], Any, Any, list[Any]]]:
        for name in names:
            own = items[items["condition"] == name].set_index(KEYS)["value"].sort_index()
            for metric, system in items[["metric", "system"]].drop_duplicates().to_numpy():
                second = own.loc[metric, system]
                first = base.loc[metric, system].reindex(second.index)
                keys = {"rewriting": name, "metric": metric, "system": system}
                yield keys, first, second, list(second.index.get_level_values("query_id"))

    found = paired_differences(pairs(), seed=seed)
    if found.empty:
        return found
    means = items.groupby(["condition", "metric", "system"])["value"].mean()
    triples = list(zip(found["rewriting"], found["metric"], found["system"], strict=True))
    found.insert(3, AS_WRITTEN, [means[AS_WRITTEN, metric, one] for _, metric, one in triples])
    found.insert(4, "rewritten", [means[key] for key in triples])
    return found[found["n"] > 0].reset_index(drop=True)


def shown_effects(found: pd.DataFrame, run: RewriteRun) -> pd.DataFrame:
    """Return the changes of recall as text: a row for each rewriting, a column for each system.

    The first row is the recall of the messages as written; ranks, p-values and what could have been
    detected stay in the table that `rewriting_effects` returns.
    """
    recall = found[found["metric"] == "recall"] if len(found) else found
    records: list[dict[str, Any]] = []
    if len(recall):
        first = recall.drop_duplicates("system")
        level = {row["system"]: points(row[AS_WRITTEN]) for row in first.to_dict("records")}
        records.append({"rewriting": AS_WRITTEN, "n": int(recall["n"].max()), **level})
        for name, group in recall.groupby("rewriting", sort=False):
            cells = {row["system"]: _signed(row) for row in group.to_dict("records")}
            records.append({"rewriting": name, "n": int(group["n"].max()), **cells})
    records += [{"rewriting": name, "n": NOT_RUN} for name in run.unrecorded]
    return pd.DataFrame(records, columns=None if records else ["rewriting"], dtype=object).fillna(
        "–"
    )


def _signed(row: dict[Any, Any]) -> str:
    text = with_interval(row["difference"], row["low"], row["high"])
    return f"+{text}" if row["difference"] > 0 else text


def rewritten_texts(run: RewriteRun) -> pd.DataFrame:
    """Return how many texts each row searches for, how long they are and what went wrong.

    Returns
    -------
    DataFrame
        Columns ``rewriting, queries, texts, words`` (means over what was searched for), ``empty``,
        ``fallback`` and ``unscored`` (queries).
    """
    rows = []
    for name, texts in run.texts.items():
        searched = [text for one in texts for text in one.texts]
        scored = [one for one in texts if one.unscored is None]
        rows.append(
            {
                "rewriting": name,
                "queries": len(texts),
                "texts": len(searched) / len(scored) if scored else None,
                "words": sum(len(t.split()) for t in searched) / len(searched)
                if searched
                else None,
                "empty": sum(not text for text in searched),
                "fallback": sum(one.fallback for one in texts),
                "unscored": len(texts) - len(scored),
            }
        )
    columns = ["rewriting", "queries", "texts", "words", "empty", "fallback", "unscored"]
    return pd.DataFrame(rows, columns=columns)


def shown_texts(found: pd.DataFrame) -> pd.DataFrame:
    """Return `rewritten_texts` as text."""
    renamed = found.rename(columns={"texts": "texts a query", "words": "words a text"})
    for column in ("texts a query", "words a text"):
        renamed[column] = [f"{value:.1f}" for value in renamed[column].astype(float)]
    return renamed.astype(object)


def plan_rewrites(
    llm: LLM, corpus: Corpus, queries: Sequence[Query], grid: Sequence[Rewriting] = GRID
) -> pd.DataFrame:
    """Return what the rewritings that are not on record would take, by kind; nothing is asked.

    Returns
    -------
    DataFrame
        Columns ``prompt, calls, recorded, to_ask, input_tokens``.
    """
    rows = []
    for kind, protocol, told in call_sets(grid):
        if not isinstance(llm, Client):
            break
        planning = PlanningLLM(llm)
        rewrite_for_search(planning, corpus, queries, kind, protocol=protocol, told=told)
        plan = planning.plan()
        rows.append(
            {
                "prompt": f"{kind}, {protocol}" + (f", {told} only" if told != "both" else ""),
                "calls": sum(row.calls for row in plan.rows),
                "recorded": sum(row.hits for row in plan.rows),
                "to_ask": plan.to_ask,
                "input_tokens": sum(row.input_tokens for row in plan.rows),
            }
        )
    return pd.DataFrame(rows, columns=["prompt", "calls", "recorded", "to_ask", "input_tokens"])


def shown_plan(plan: pd.DataFrame) -> pd.DataFrame:
    """Return `plan_rewrites` with headings for people."""
    names = {"to_ask": "still to ask", "input_tokens": "input tokens, estimated"}
    return plan.rename(columns=names).astype(object)


def rewriting_numbers(
    run: RewriteRun, effects: pd.DataFrame, config: AblationsConfig
) -> dict[str, str]:
    """Return what the text says of the rewritings.

    Names: ``k``, ``sampled``, ``sampled_conversations``, ``answer_model``, ``rewriting_note`` and,
    where they were run, ``rewriting_NAME_METRIC_SYSTEM`` with blanks and signs as hyphens.
    """
    plain = run.items[run.items["condition"] == AS_WRITTEN]
    one = plain[(plain["system"] == plain["system"].iloc[0]) & (plain["metric"] == "recall")]
    numbers = {
        "k": str(config.top_k),
        "sampled": str(len(one)),
        "sampled_conversations": " and ".join(dict.fromkeys(one["conversation"])),
        "answer_model": config.answer_model,
        "rewriting_note": _note(run, effects),
    }
    for row in effects.to_dict("records"):
        name = "-".join(_NAME.findall(row["rewriting"]))
        text = with_interval(row["difference"], row["low"], row["high"])
        numbers[f"rewriting_{name}_{row['metric']}_{row['system']}"] = text
    return numbers


def _note(run: RewriteRun, effects: pd.DataFrame) -> str:
    """Return one sentence: how many rewritings change recall beyond doubt, or that none was run."""
    if effects.empty:
        return "The rewritings by a model are not on record, so the page has no result for them."
    recall = effects[effects["metric"] == "recall"]
    sure = recall[recall["verdict"] != "not distinguishable"]
    better = int((sure["difference"] > 0).sum())
    lower, higher = int((recall["high"] < 0).sum()), int((recall["low"] > 0).sum())
    missing = f" {len(run.unrecorded)} of the forms were not run." if run.unrecorded else ""
    return (
        f"Of {len(recall)} pairs of a rewriting and a system, recall rises beyond doubt in "
        f"{better} and falls in {len(sure) - better} after the correction for so many tests. Taken "
        f"one by one, the interval of the change is below 0 in {lower} and above 0 in {higher}; "
        f"the rest cannot be told from no change on so small a sample.{missing}"
    )


def damaged_by_paper_parser(lines: Sequence[str]) -> int:
    """Return how many of a reply's lines the paper's parser changes.

    >>> damaged_by_paper_parser(["2023 camping trip", "- Rui's exam"])
    1
    """
    return sum(paper_lines(line) != repaired_lines(line) for line in lines)


def example_rewrites(run: RewriteRun, most: int = 2) -> list[tuple[Query, dict[str, SearchTexts]]]:
    """Return the first queries with what each row searched for in their place."""
    if not run.texts:
        return []
    queries = [one.query for one in next(iter(run.texts.values()))]
    return [
        (query, {name: texts[i] for name, texts in run.texts.items()})
        for i, query in enumerate(queries[:most])
    ]
