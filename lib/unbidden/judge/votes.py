"""Real answers with known verdicts: the public audit of LoCoMo judges (dial481/locomo-audit).

Four files of 1,540 answers each to LoCoMo's answerable questions. Two hold the answers of GPT
models that saw the whole conversation, with three votes of gpt-4o-mini on each. Two hold answers
written to be wrong: specific ones (v1) and vague ones (v2), with the votes that judge gave them;
there the right verdict is known. The files are CC BY-NC 4.0 and not part of this package.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from unbidden.corpus.jsonfile import read_json
from unbidden.errors import DataError
from unbidden.judge.case import Case, GoldFact
from unbidden.stats import clustered_share

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from unbidden.corpus.models import Corpus
    from unbidden.judge.verdict import Verdict

SOURCES = {
    "real: gpt-4.1-mini": "full_context.gpt-4.1-mini-cot.json",
    "real: gpt-4o-mini": "full_context.gpt-4o-mini-memos.json",
    "wrong: specific": "plausible_wrong.v1.json",
    "wrong: vague": "plausible_wrong.v2.json",
}
"""File by source; a source that begins with "wrong" holds only wrong answers."""
KEY_FAULTS = "answer_key_errors.json"
_ID = re.compile(r"locomo_(\d+)_qa(\d+)\Z")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer to a question of LoCoMo.

    Attributes
    ----------
    question_id : str
        ``<sample_id>#<index>``, as in `unbidden.queries.build.Query.id`.
    votes : tuple of bool
        Of the audit's judge; True for correct.
    wrong : bool
        Whether it was written to be wrong; False says nothing about it.
    """

    source: str
    question_id: str
    conversation: str
    category: int
    question: str
    gold: str
    answer: str
    votes: tuple[bool, ...]
    wrong: bool

    @property
    def accepted(self) -> bool | None:
        """What all votes say, or None if they differ."""
        return self.votes[0] if len(set(self.votes)) == 1 else None

    @property
    def case(self) -> Case:
        """The answer as a case for the rubric of fact use."""
        return Case(
            id=f"{self.source}|{self.question_id}",
            conversation=self.conversation,
            speaker="",
            message=self.question,
            reply=self.answer,
            facts=(GoldFact(self.question, self.gold),),
        )


def load_answers(
    folder: Path, corpus: Corpus, *, sources: Sequence[str] = tuple(SOURCES)
) -> list[Answer]:
    """Return the audit's answers, source by source in the order of the files.

    Parameters
    ----------
    folder : Path
        ``locomo-audit`` of the data folder.
    corpus : Corpus
        LoCoMo in the official order; the audit names conversations by their position.

    Raises
    ------
    DataError
        If a file is not of the audit's form, or a question differs from the corpus's.
    """
    return [answer for source in sources for answer in _read(folder, source, corpus)]


def _read(folder: Path, source: str, corpus: Corpus) -> list[Answer]:
    name = SOURCES[source]
    value, _ = read_json(folder / name)
    found = []
    try:
        for record in (r for group in value["detailed_results"].values() for r in group):
            found.append(_answer(record, source, corpus))
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise DataError(
            f"{name} is not of the audit's form",
            expected="detailed_results with question_id, question, golden_answer, "
            "generated_answer, llm_judgments and category, matching LoCoMo",
            got=f"{type(error).__name__}: {str(error)[:300]}",
            next_step="get the file again, and the official locomo10.json",
        ) from error
    return found


def _answer(record: dict[str, Any], source: str, corpus: Corpus) -> Answer:
    conversation_id, index = _place(record["question_id"], corpus)
    question = corpus.conversation(conversation_id).questions[index]
    if question.text.strip() != str(record["question"]).strip():
        raise ValueError(f"{record['question_id']} asks {record['question']!r}")
    votes = tuple(record["llm_judgments"].values())
    if not votes or not all(isinstance(vote, bool) for vote in votes):
        raise TypeError(f"votes {votes!r}")
    return Answer(
        source=source,
        question_id=f"{conversation_id}#{index}",
        conversation=conversation_id,
        category=int(record["category"]),
        question=question.text,
        gold=str(record["golden_answer"]),
        answer=str(record["generated_answer"]),
        votes=votes,
        wrong=source.startswith("wrong"),
    )


def _place(name: str, corpus: Corpus) -> tuple[str, int]:
    match = _ID.match(name)
    if match is None:
        raise ValueError(f"question_id {name!r}")
    return corpus.conversations[int(match[1])].id, int(match[2])


def faulty_keys(folder: Path, corpus: Corpus) -> frozenset[str]:
    """Return the ids of questions whose gold answer the audit holds to be wrong.

    Wrong citations are left out: their answers are right.
    """
    value, _ = read_json(folder / KEY_FAULTS)
    try:
        return frozenset(
            "{}#{}".format(*_place(item["question_id"], corpus))
            for item in value
            if item["error_type"] != "WRONG_CITATION"
        )
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise DataError(
            f"{KEY_FAULTS} is not of the audit's form",
            expected="a list of objects with question_id and error_type",
            got=f"{type(error).__name__}: {str(error)[:300]}",
            next_step="get the file again",
        ) from error


def subset(answers: Iterable[Answer], per_source: int, *, seed: int = 0) -> list[Answer]:
    """Return so many answers of each source, the same questions in each, drawn by a seed.

    A question's place in the draw depends on the seed and its id alone: the order of the files does
    not matter, and a larger subset holds every smaller one.
    """
    groups: dict[str, list[Answer]] = defaultdict(list)
    for answer in answers:
        groups[answer.source].append(answer)

    def draw(answer: Answer) -> str:
        return hashlib.sha256(f"{seed}|{answer.question_id}".encode()).hexdigest()

    return [one for group in groups.values() for one in sorted(group, key=draw)[:per_source]]


def vote_table(
    answers: Sequence[Answer],
    verdicts: Sequence[Verdict] | None = None,
    *,
    excluded: Collection[str] = (),
) -> pd.DataFrame:
    """Return how often answers are accepted, half accepted and rejected, by source.

    Parameters
    ----------
    verdicts : sequence of Verdict, optional
        Of the judge in question; without it the audit's own votes are counted, by their majority.
    excluded : collection of str
        Question ids to leave out, for instance `faulty_keys`.

    Returns
    -------
    DataFrame
        Columns ``source, group, items, unscored, accepted, low, high, half, rejected``. The groups
        are "all", and for real answers those that all votes accept or reject. Acceptance of a
        "wrong" source is the false-accept rate; rejection of what all votes accept is the
        false-reject rate as far as those votes can be trusted. The interval is that of `accepted`,
        clustered by conversation and cut off at 0 and 1.
    """
    scores = (
        [float(sum(answer.votes) > len(answer.votes) / 2) for answer in answers]
        if verdicts is None
        else [float("nan") if v.score is None else v.score for v in verdicts]
    )
    kept = [
        (answer, score)
        for answer, score in zip(answers, scores, strict=True)
        if answer.question_id not in excluded
    ]
    rows = []
    for source in dict.fromkeys(answer.source for answer, _ in kept):
        own = [(answer, score) for answer, score in kept if answer.source == source]
        rows.append(_row(source, "all", own))
        if not source.startswith("wrong"):
            for vote, name in ((True, "all votes accept"), (False, "all votes reject")):
                rows.append(_row(source, name, [p for p in own if p[0].accepted is vote]))
    return pd.DataFrame(rows)


def _row(source: str, group: str, pairs: Sequence[tuple[Answer, float]]) -> dict[str, Any]:
    scores = pd.Series([score for _, score in pairs], dtype="float64")
    scored = scores.dropna()
    accepted = (scores == 1).astype("float64").where(scores.notna())
    interval = clustered_share(accepted.to_numpy(), [answer.conversation for answer, _ in pairs])
    nothing = float("nan")
    return {
        "source": source,
        "group": group,
        "items": len(pairs),
        "unscored": int(scores.isna().sum()),
        "accepted": nothing if interval.mean is None else interval.mean,
        "low": nothing if interval.low is None else interval.low,
        "high": nothing if interval.high is None else interval.high,
        "half": float(((scored > 0) & (scored < 1)).mean()) if len(scored) else nothing,
        "rejected": float((scored == 0).mean()) if len(scored) else nothing,
    }
