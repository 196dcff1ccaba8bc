"""The session-5 replies released for THEANINE and four baselines, with the gold recovered.

The release (``talzoomanzoo/theanine-geval``, no licence stated) holds, for 50 episodes each of
Multi-Session Chat and Conversation Chronicles, five systems' replies to every turn of session 5
and the talk that led to it. It does not hold what was really said next; but the talk of record
t + 1 is that of record t and one line more, so that line is the gold of record t. The last record
of each episode has no next and so no gold: 491 of 541 and 544 of 594 turns can be scored.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from unbidden.corpus import sources
from unbidden.corpus.jsonfile import read_json
from unbidden.errors import ConfigError, DataError, closest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

Dataset = Literal["msc", "cc"]
DATASETS: tuple[Dataset, ...] = get_args(Dataset)

_FILES = {
    "theanine": ("theanine", "raw_prediction"),
    "msc-retrieval": ("ret_summary", "response"),
    "memory-update": ("ret_update_transform", "raw_prediction"),
    "memochat": ("memochat_transform", "raw_prediction"),
    "comedy": ("comedy", "response"),
}
"""By our name of a system: the end of its file's name, and the field with the reply."""

SYSTEMS = tuple(_FILES)
TITLES = {
    "theanine": "Theanine",
    "msc-retrieval": "Memory Retrieval",
    "memory-update": "+ Memory Update",
    "memochat": "MemoChat",
    "comedy": "COMEDY",
}

_ID = re.compile(r"e(\d+)-s(\d+)-t(\d+)")


@dataclass(frozen=True, slots=True)
class ReleasedTurn:
    """One turn all five systems replied to.

    Attributes
    ----------
    id : str
        The release's ``e<episode>-s<session>-t<turns said>``.
    dialogue : tuple of str
        The lines said so far in the session, each "SPEAKER: TEXT".
    gold, gold_speaker : str or None
        What was said next and by whom; None at the end of an episode. The speaker is the gold
        line's own: the release's field ``speaker`` repeats the one before in 24 of the 50 first
        turns of Conversation Chronicles.
    stated_speaker : str
        That field.
    replies : mapping of str to str
        By system, as released.
    """

    id: str
    episode: int
    turn: int
    dialogue: tuple[str, ...]
    gold: str | None
    gold_speaker: str | None
    stated_speaker: str
    replies: Mapping[str, str]


def released_turns(dataset: Dataset) -> list[ReleasedTurn]:
    """Return the released turns of one data set, episodes and turns in order.

    Raises
    ------
    ConfigError
        If the data set is unknown.
    DataError
        If the release is not on this machine, altered, or its systems disagree on a turn.
    """
    paths = release_files(dataset)
    records = _by_id(paths["theanine"])
    said = {key: _lines(record) for key, record in records.items()}
    replies = {system: _replies(paths[system], system, said) for system in SYSTEMS}
    turns = []
    for key in sorted(records, key=_position):
        episode, session, turn = _position(key)
        following = said.get(f"e{episode}-s{session}-t{turn + 1}")
        speaker, gold = _next_line(key, said[key], following)
        turns.append(
            ReleasedTurn(
                id=key,
                episode=episode,
                turn=turn,
                dialogue=said[key],
                gold=gold,
                gold_speaker=speaker,
                stated_speaker=str(records[key]["speaker"]),
                replies={system: replies[system][key] for system in SYSTEMS},
            )
        )
    return turns


def release_files(dataset: Dataset) -> dict[str, Path]:
    """Return the released file of each system, and under "summary" the memories; all verified."""
    if dataset not in DATASETS:
        raise ConfigError(
            f"unknown released data set {dataset!r}", expected=closest(dataset, DATASETS)
        )
    paths = {path.name: path for path in sources.locate("theanine")}
    ends = {system: end for system, (end, _) in _FILES.items()} | {"summary": "summary"}
    return {name: paths[f"{dataset}_{end}.json"] for name, end in ends.items()}


def _position(key: str) -> tuple[int, int, int]:
    match = _ID.fullmatch(key)
    if match is None:
        raise _error(f"the id {key[:40]!r}", "e<episode>-s<session>-t<turn>", "another form")
    return int(match[1]), int(match[2]), int(match[3])


def _by_id(path: Path) -> dict[str, dict[str, Any]]:
    """Return the records of a file by id; some files are lists, some objects."""
    value, _ = read_json(path)
    if isinstance(value, list):
        return {str(record["utter_id"]): record for record in value}
    found: dict[str, dict[str, Any]] = value
    return found


def _lines(record: Mapping[str, Any]) -> tuple[str, ...]:
    said = record["current_dialogue"]
    return tuple(said.split("\n") if isinstance(said, str) else said)


def _replies(path: Path, system: str, said: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    records, field = _by_id(path), _FILES[system][1]
    if set(records) != set(said):
        raise _error(path.name, f"the same {len(said)} turns as Theanine's file", str(len(records)))
    for key, record in records.items():
        if _lines(record) != said[key]:
            raise _error(f"{path.name} {key}", "the same dialogue as in Theanine's file", "another")
    return {key: str(record[field]) for key, record in records.items()}


def _next_line(
    key: str, said: tuple[str, ...], following: tuple[str, ...] | None
) -> tuple[str | None, str | None]:
    """Return speaker and text of the line that follows, or None twice at an episode's end."""
    if following is None:
        return None, None
    if following[:-1] != said:
        raise _error(key, "the next record to hold this dialogue and one line more", "another one")
    speaker, mark, text = following[-1].partition(":")
    if not mark:
        raise _error(key, "a next line 'SPEAKER: TEXT'", following[-1][:60])
    return speaker.strip(), text.strip()


def _error(where: str, expected: str, got: str) -> DataError:
    return DataError(
        f"THEANINE's release: {where} is not of the expected form",
        expected=expected,
        got=got,
        next_step="run `unbidden data get theanine`",
    )
