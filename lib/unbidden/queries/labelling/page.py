"""A page on which a person labels queries: one file, offline, nothing leaves the machine."""

from __future__ import annotations

import base64
import hashlib
import json
import random
from dataclasses import asdict, dataclass
from importlib import resources
from typing import TYPE_CHECKING, Any

import jinja2

from unbidden.atomic import write_text
from unbidden.corpus.evidence import read_evidence
from unbidden.errors import ConfigError, closest
from unbidden.queries.build import build_queries
from unbidden.queries.labelling.agreement import agreement
from unbidden.queries.labelling.checks import CHECKS
from unbidden.queries.labelling.labels import read_labels

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from unbidden.corpus.models import Conversation, Corpus, TurnId
    from unbidden.queries.build import Query

__all__ = [
    "Fact",
    "Item",
    "agreement",
    "labelling_page",
    "read_labels",
    "sample_items",
    "write_page",
]

PER_STYLE = 40
"""The paper labelled forty queries of each style."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What the labeller may compare a query with: `evidence` is who said what, and when."""

    question: str
    answer: str
    evidence: tuple[dict[str, str], ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One query to label. Its intended use and its wrong value stay hidden, as in the paper."""

    id: str
    style: str
    speaker: str
    listener: str
    query: str
    facts: tuple[Fact, ...]


def sample_items(
    corpus: Corpus,
    *,
    seed: int,
    per_style: int = PER_STYLE,
    styles: Sequence[str] = tuple(CHECKS),
) -> list[Item]:
    """Return a random sample of queries of each style, in the order they are shown.

    The draw of one style does not depend on the others. Adversarial questions are left out: they
    have no answer to compare with.

    Parameters
    ----------
    per_style : int
        All are taken where a style has fewer.

    Raises
    ------
    ConfigError
        If a style is not one of the four, or `per_style` is not positive.
    """
    for style in styles:
        if style not in CHECKS:
            raise ConfigError(f"no checks for the style {style!r}", expected=closest(style, CHECKS))
    if per_style < 1:
        raise ConfigError("`per_style` is out of range", expected="1 or more", got=str(per_style))
    pools: dict[str, dict[str, Query]] = {style: {} for style in styles}
    for query in build_queries(corpus, styles=styles):
        if query.category != 5:
            pools[query.style].setdefault(query.id, query)
    items = []
    for style, pool in pools.items():
        draw = random.Random(f"{seed}:{style}")
        for name in draw.sample(sorted(pool), min(per_style, len(pool))):
            query = pool[name]
            items.append(_item(query, corpus.conversation(query.conversation)))
    return items


def _item(query: Query, home: Conversation) -> Item:
    speaker = query.speaker or "unknown"
    others = [name for name in home.speakers if name != query.speaker]
    known = _turns(home)
    facts = []
    for index in query.members:
        question = home.questions[index]
        cited = read_evidence(question, home, "repaired").ids
        evidence = tuple(known[turn] for turn in known if turn in cited)
        facts.append(Fact(question.text, question.answer or "", evidence))
    return Item(
        f"{query.style}:{query.id}",
        query.style,
        speaker,
        " or ".join(others),
        query.text,
        tuple(facts),
    )


def _turns(home: Conversation) -> dict[TurnId, dict[str, str]]:
    return {
        turn.id: {
            "turn": turn.id,
            "when": session.date_text,
            "speaker": turn.speaker,
            "text": turn.text,
            "image": turn.caption or "",
        }
        for session in home.sessions
        for turn in session.turns
    }


def packet_id(items: Sequence[Item]) -> str:
    """Return a fingerprint of what is labelled; labels of different packets do not mix."""
    text = json.dumps([asdict(item) for item in items], sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def labelling_page(items: Sequence[Item], *, title: str = "Labelling queries") -> str:
    """Return the page as one HTML file without outside references.

    Texts of the data stand in one JSON block, and the script only ever sets them as text. Only
    that script may run: the page's policy names its hash.

    Raises
    ------
    ConfigError
        If there is no item.
    """
    if not items:
        raise ConfigError("nothing to label", expected="one item or more", got="none")
    folder = resources.files("unbidden.queries.labelling") / "files"
    script = (folder / "labelling.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    data = {
        "packet": packet_id(items),
        "items": [asdict(item) for item in items],
        "checks": {style: [asdict(check) for check in checks] for style, checks in CHECKS.items()},
    }
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    template = environment.from_string((folder / "labelling.html").read_text("utf-8"))
    return template.render(title=title, script=script, script_hash=digest, data=script_json(data))


def write_page(path: Path, items: Sequence[Item], *, title: str = "Labelling queries") -> None:
    """Write the page, whole or not at all."""
    write_text(path, labelling_page(items, title=title))


def script_json(value: Any) -> str:
    r"""Return JSON that can stand inside a script element, whatever its texts hold.

    >>> script_json("</script><!--")
    '"\\u003c/script\\u003e\\u003c!--"'
    """
    text = json.dumps(value, ensure_ascii=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text
