"""Ledgers as text: one sorted, compressed JSONL file that a repository can hold and replay.

A recording has one row for each key: the answer that counts, or the last failure. It carries no
key, no host and no path of a user, and the same rows always give the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import zlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbidden.atomic import replacing
from unbidden.errors import DataError
from unbidden.llm.ledger.row import Calls, Row
from unbidden.llm.outcome import Usage
from unbidden.llm.redact import redact, without_key
from unbidden.llm.request import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIX = ".jsonl.gz"
MAX_BYTES = 1024**3
"""Most that a recording may unpack to; 10,000 calls take some 40 million bytes."""
_KEPT_BODY = ("id", "object", "created", "model", "choices", "usage", "system_fingerprint")


def record(ledger: Calls, folder: Path, name: str = "calls") -> Path:
    """Write a ledger's rows to ``folder/name.jsonl.gz`` and return that path.

    Rows already in the file stay; where both have a key, an answer wins over a failure, and the
    earlier answer over the later. So a run that took some answers from the recording adds to it.

    Raises
    ------
    DataError
        If the file there is no recording.
    """
    path = folder / (name + SUFFIX)
    older = list(replay(path).rows()) if path.is_file() else []
    chosen = _choose([*older, *(_portable(row) for row in ledger.rows())])
    lines = [_line(row) for row in sorted(chosen.values(), key=lambda row: (row.prompt, row.key))]
    with replacing(path) as partial:
        partial.write_bytes(_compressed("".join(lines)))
    return path


class Recording:
    """The rows of recordings, held in memory and looked up by key.

    Parameters
    ----------
    rows : iterable of Row
        The first answer to a key counts.
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._rows = _choose(rows)

    def __len__(self) -> int:
        return len(self._rows)

    def answered(self, key: str) -> Row | None:
        """Return the answer to a key, or None."""
        row = self._rows.get(key)
        return row if row is not None and row.status == "ok" else None

    def latest(self, key: str) -> Row | None:
        """Return the answer or the failure of a key, or None if it was never asked."""
        return self._rows.get(key)

    def rows(self) -> Iterator[Row]:
        """Yield the rows, one for each key."""
        yield from self._rows.values()


def replay(place: Path) -> Recording:
    """Return the recorded calls of a file, or of all recordings in a folder, by name.

    A folder that does not exist holds none.

    Raises
    ------
    DataError
        If a file is damaged, or a row was altered: its key is not the hash of its request.
    """
    files = sorted(place.glob("*" + SUFFIX)) if not place.is_file() else [place]
    return Recording(row for file in files for row in _read(file))


def _read(path: Path) -> Iterator[Row]:
    number = 0
    try:
        with gzip.open(path) as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise ValueError(f"more than {MAX_BYTES:,} bytes when unpacked")
        text = raw.decode("utf-8")
        # Not splitlines: a reply may hold U+2028, which is no line end in JSON.
        lines = text.removesuffix("\n").split("\n") if text else []
        for number, line in enumerate(lines, start=1):  # noqa: B007 - for the message
            yield _parsed(line)
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"the recording {path.name} is damaged at line {number}",
            expected="complete gzip-compressed JSONL as `unbidden ledger record` writes it",
            got=f"{type(error).__name__}: {str(error)[:200]}",
            next_step="restore the file from version control, or record it again",
        ) from error


def _parsed(line: str) -> Row:
    fields: dict[str, Any] = json.loads(line)
    request = canonical(fields.pop("request"))
    if hashlib.sha256(request.encode("ascii")).hexdigest() != fields["key"]:
        raise ValueError(f"the request of {fields['key'][:12]} does not hash to its key")
    body = fields.pop("body")
    return Row(
        **{
            **fields,
            "request": request,
            "body": None if body is None else canonical(body),
            "usage": Usage(*fields.pop("usage")),
        }
    )


def _line(row: Row) -> str:
    fields = {
        "key": row.key,
        "prompt": row.prompt,
        "prompt_sha256": row.prompt_sha256,
        "role": row.role,
        "status": row.status,
        "reason": row.reason,
        "text": row.text,
        "usage": [row.usage.input_tokens, row.usage.output_tokens],
        "seconds": round(row.seconds, 3),
        "requests": row.requests,
        "created": row.created,
        "request": json.loads(row.request),
        "body": None if row.body is None else json.loads(row.body),
    }
    return json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":")) + "\n"


def _choose(rows: Iterable[Row]) -> dict[str, Row]:
    chosen: dict[str, Row] = {}
    for row in rows:
        known = chosen.get(row.key)
        if known is None or known.status != "ok":
            chosen[row.key] = row
    return chosen


def _portable(row: Row) -> Row:
    body = None if row.body is None else json.loads(row.body)
    if isinstance(body, dict):
        body = {name: body[name] for name in _KEPT_BODY if name in body}
        if isinstance(body.get("model"), str):
            # A local engine gives the path of the model file here.
            body["model"] = redact(Path(body["model"].replace("\\", "/")).name)
    return replace(
        row,
        reason=redact(row.reason),
        text=without_key(row.text),
        body=None if body is None else without_key(canonical(body)),
        seconds=round(row.seconds, 3),
    )


def _compressed(text: str) -> bytes:
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(text.encode("utf-8"))
    return buffer.getvalue()
