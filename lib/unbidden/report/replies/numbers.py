"""What the chapter on replies says in its text: numbers, and sentences that hold for any run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unbidden.reply.study import TOP_K
from unbidden.report.replies.run import judge_name
from unbidden.report.replies.tables import ALL, ITEM, ORACLE, headline, main_judge
from unbidden.report.summary import leaders, means, shared_items
from unbidden.report.tables import points, with_interval

if TYPE_CHECKING:
    import pandas as pd

    from unbidden.config import RepliesConfig
    from unbidden.report.replies.run import ReplyRun

NO_MEMORY = "no memory"
_ENDS = (ORACLE, NO_MEMORY)


def reply_numbers(
    config: RepliesConfig,
    run: ReplyRun,
    items: pd.DataFrame,
    scores: pd.DataFrame,
    gaps: pd.DataFrame,
    above: pd.DataFrame,
) -> dict[str, str]:
    """Return what the text cites, by name.

    Parameters
    ----------
    scores, gaps, above : DataFrame
        From `unbidden.report.replies.tables.scores`, `differences` (pooled) and
        `unbidden.report.replies.use.above_oracle`.
    """
    table = run.table
    return {
        "dataset": run.corpus.name,
        "answer_model": config.answer_model,
        "judge": judge_name(config) if "model" in config.judges else "no model",
        "main_judge": main_judge(items),
        "queries": f"{len(run.queries):,}",
        "per_style": "all" if config.queries_per_style is None else str(config.queries_per_style),
        "conversations": str(len({query.conversation for query in run.queries})),
        "top_k": str(config.top_k),
        "memory_tokens": f"{config.memory_tokens:,}",
        "answer_tokens": str(config.answer_tokens),
        "replies": f"{table['text'].notna().sum():,}",
        "replies_wanted": f"{len(table):,}",
        "answer_note": answer_note(items, scores, gaps),
        "oracle_note": oracle_note(run, items, scores, gaps, above),
    }


def answer_note(items: pd.DataFrame, scores: pd.DataFrame, gaps: pd.DataFrame) -> str:
    """Return what the scores of the main judge say, or that there are none.

    Who is best is said of the queries that every row in the sentence has a score for.
    """
    if scores.empty:
        return "No rubric of this run scores what a reply conveys, only what it makes up."
    judge = main_judge(items)
    own = scores[(scores["judge"] == judge) & (scores["style"] == ALL)]
    rows = {row["way"]: row for row in own.to_dict("records")}
    systems = _systems(items, rows)
    if not any(row["n"] for row in rows.values()):
        return (
            "No reply is on record here; the table of calls below says what recording would take."
        )
    pending = sum(row["not_run"] for row in rows.values())
    part = (
        f"With {pending:,} replies or verdicts not on record yet, scored" if pending else "Scored"
    )
    compared = headline(items[(items["judge"] == judge) & items["way"].isin([*systems, *_ENDS])])
    shared = shared_items(compared, "way", ITEM)
    if shared.empty:
        told = f"No query has a score by {judge} in every row, so none can be called the best."
    else:
        queries = len(shared.drop_duplicates(ITEM))
        start = f"{part} by {judge} on the {queries} queries that all these have a score for"
        told = f"{', '.join([start, *_standing(shared, systems)])}."
    return f"{told} {_told_apart(gaps, judge)}"


def _standing(shared: pd.DataFrame, systems: list[str]) -> list[str]:
    """Return what the oracle, the best system and no memory reach, as parts of a sentence."""
    found = {row["way"]: row for row in means(shared, ["way"]).to_dict("records")}
    shown = {w: with_interval(row["mean"], row["low"], row["high"]) for w, row in found.items()}
    best = leaders(found, systems)
    parts = []
    if ORACLE in found:
        parts.append(f"replies that are given the gold turns reach {shown[ORACLE]} %")
    if len(best) == 1:
        parts.append(f"those with what the best system ({best[0]}) found {shown[best[0]]} %")
    elif best:
        level = points(found[best[0]]["mean"])
        parts.append(f"those with what the best systems ({', '.join(best)}) found {level} %")
    if NO_MEMORY in found:
        parts.append(f"those without memory {shown[NO_MEMORY]} %")
    return parts


def _told_apart(gaps: pd.DataFrame, judge: str) -> str:
    own = gaps[gaps["judge"] == judge]
    if own.empty:
        return "Nothing can be compared with the oracle in this run."
    apart = [row["way"] for row in own.to_dict("records") if row["verdict"].startswith("differs")]
    rest = [way for way in own["way"] if way not in apart]
    if not apart:
        return f"With so few queries the oracle cannot be told from {_listed(rest)}."
    but = f", but with so few queries not from {_listed(rest)}" if rest else ""
    return f"The oracle can be told from {_listed(apart)}{but}."


def oracle_note(
    run: ReplyRun,
    items: pd.DataFrame,
    scores: pd.DataFrame,
    gaps: pd.DataFrame,
    above: pd.DataFrame,
) -> str:
    """Return whether the oracle is at or above every system, and if not what stands behind it."""
    judge = main_judge(items)
    own = scores[(scores["judge"] == judge) & (scores["n"] > 0)]
    systems = _systems(items, set(own["way"]))
    cells = own[own["way"].isin(systems) & (own["style"] != ALL)]
    if ORACLE not in set(own["way"]) or cells.empty:
        return "There is nothing to compare with the oracle in this run."
    over = above[(above["judge"] == judge) & above["way"].isin(systems)]
    if over.empty:
        return f"By {judge} the oracle is at or above every system in every style."
    better, gold, worse = (int(over[name].sum()) for name in ("better", "with_gold", "worse"))
    pooled = gaps[(gaps["judge"] == judge) & gaps["way"].isin(systems)]
    below = pooled[(pooled["difference"] < 0) & pooled["verdict"].str.startswith("differs")]
    told = (
        "Over all styles together no system is distinguishably above it."
        if below.empty
        else f"Over all styles together {_listed(list(below['way']))} is above it distinguishably."
    )
    return (
        f"By {judge} a system's mean is above the oracle's in {len(over)} of {len(cells)} cells. "
        f"Replies there that score above the oracle's: {better}; below: {worse}. Of the {better} "
        f"above, the system had shown every gold turn for {gold}: there the same facts were at "
        f"hand and the reply, or the verdict, made the difference. {told}"
    )


def _systems(items: pd.DataFrame, ways: Any) -> list[str]:
    of_systems = set(items.loc[items["condition"] == TOP_K, "way"])
    return [way for way in dict.fromkeys(items["way"]) if way in of_systems and way in ways]


def _listed(names: list[str]) -> str:
    """Return names as a list in a sentence.

    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
