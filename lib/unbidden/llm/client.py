"""The model client of a study: prompts in, outcomes out, every call on record."""

from __future__ import annotations

import json
from copy import copy
from typing import TYPE_CHECKING, Any, Literal

from unbidden.errors import ConfigError, NotRecorded
from unbidden.llm.asker import Asker
from unbidden.llm.base import LLM, AskedOf, prepare
from unbidden.llm.budget import Budget, Purse
from unbidden.llm.ledger import Ledger
from unbidden.llm.ledger.recording import Recording, replay
from unbidden.llm.prices import Prices, load_prices
from unbidden.llm.progress import Progress
from unbidden.llm.prompting import PromptLibrary
from unbidden.llm.transport import Transport

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from unbidden.llm.base import Call, Prepared
    from unbidden.llm.ledger.row import Calls, Row
    from unbidden.llm.outcome import Outcome
    from unbidden.llm.settings import LLMSettings

Mode = Literal["replay", "record", "live"]


class Client(LLM):
    """Asks an endpoint, a ledger or both.

    Parameters
    ----------
    settings : LLMSettings
        Models and how to call them.
    mode : {"replay", "record", "live"}
        "replay" makes no call: a missing one is an error, a recorded failure stays a failure.
        "record" asks what is not answered yet: what failed in an earlier run again, and a reply
        that came but cannot be used (cut, malformed, refused) only once in this one; another
        `Call.repeat` is another call. "live" asks everything anew.
    ledger : Ledger, optional
        Where calls are written; needed unless replaying.
    recorded : Recording, optional
        Answers of earlier runs; they go before the ledger's.
    run : str
        Name of the notebook and run, for messages.
    library, prices : optional
        Prompts and price table; by default those of the package.
    budget : Budget, optional
        What this client may spend.
    """

    def __init__(
        self,
        settings: LLMSettings,
        mode: Mode,
        *,
        ledger: Ledger | None = None,
        recorded: Recording | None = None,
        run: str = "",
        library: PromptLibrary | None = None,
        budget: Budget | None = None,
        prices: Prices | None = None,
    ) -> None:
        if ledger is None and mode != "replay":
            raise ConfigError(
                f"mode {mode!r} needs a ledger",
                expected="a ledger file, since every call is kept",
                next_step="name one, for instance results/runs/RUN/ledger.sqlite",
            )
        self.settings, self.mode, self.run, self.ledger = settings, mode, run, ledger
        self.library = library or PromptLibrary()
        self.prices = prices or load_prices()
        self._sources: list[Calls] = [s for s in (recorded, ledger) if s is not None]
        self._transport = Transport(settings)
        self._asker: Asker | None = None
        if ledger is not None:
            purse = Purse(budget or Budget(), self.prices)
            self._asker = Asker(
                self._transport, ledger, purse, self.known, first_counts=mode == "record"
            )

    def close(self) -> None:
        """Close the connections and the ledger."""
        self._transport.close()
        if self.ledger is not None:
            self.ledger.close()

    def replaying_judge(self, model: str) -> Client:
        """Return a client that knows what another judge said, and asks nothing.

        It shares this one's files: close only this one.
        """
        other = copy(self)
        other.mode = "replay"
        judge = self.settings.judge.model_copy(update={"model": model})
        other.settings = self.settings.model_copy(update={"judge": judge})
        return other

    def for_system(self, name: str) -> LLM:
        """Return what a memory system asks: its own model, if the settings name one for it."""
        model = self.settings.systems.get(name)
        return AskedOf(self, model) if model else self

    def prepare(self, call: Call) -> Prepared:
        """Return a call with its prompt filled in; nothing is sent."""
        return prepare(call, self.library, self.settings)

    def known(self, item: Prepared) -> Outcome[Any] | None:
        """Return the outcome a call has without asking, or None."""
        if self.mode == "live":
            return None
        for key in item.keys:
            for source in self._sources:
                if (row := source.answered(key)) is not None:
                    return row.outcome(item.schema, replayed=True, labels=item.labels)
        if self.mode == "replay":
            for key in reversed(item.keys):
                for source in self._sources:
                    if (row := source.latest(key)) is not None:
                        return row.outcome(item.schema, replayed=True, labels=item.labels)
        return None

    def row(self, key: str) -> Row | None:
        """Return what is on record under a key, or None."""
        found = (source.latest(key) for source in self._sources)
        return next((row for row in found if row is not None), None)

    def ask_many(self, calls: Iterable[Call], *, label: str = "") -> list[Outcome[Any]]:
        """Return the outcomes of many calls, in their order; see `LLM.ask_many`."""
        items = [self.prepare(call) for call in calls]
        outcomes: dict[Any, Outcome[Any]] = {}
        waiting: dict[Any, Prepared] = {}
        for item in items:
            if item.identity in outcomes or item.identity in waiting:
                continue
            if (found := self.known(item)) is not None:
                outcomes[item.identity] = found
            else:
                waiting[item.identity] = item
        if waiting:
            asked = self._ask_missing(list(waiting.values()), label)
            outcomes.update(zip(waiting, asked, strict=True))
        return [outcomes[item.identity] for item in items]

    def _ask_missing(self, items: Sequence[Prepared], label: str) -> list[Outcome[Any]]:
        asker = self._asker
        if self.mode == "replay" or asker is None:
            raise self._missing(items)
        self._check_served(items)
        with Progress(len(items), self.prices, label) as progress:
            return self._transport.run(lambda: asker.ask_all(items, progress))

    def _check_served(self, items: Sequence[Prepared]) -> None:
        served = self.settings.serves
        others = sorted({item.model for item in items} - {served})
        if served and others:
            raise ConfigError(
                f"the local model {served!r} would answer under the name of another",
                expected=f"calls to {served!r} only, or the others on record",
                got=", ".join(others),
                next_step="name it for every role that is asked (`answer_model`, `judge_model`, "
                "`memory_model`, `memory_models`, `rewriter_model`), or run the roles apart",
            )

    def _missing(self, items: Sequence[Prepared]) -> NotRecorded:
        first = items[0]
        rows = [row for source in self._sources for row in source.rows()]
        same = [row for row in rows if row.prompt == first.prompt.name]
        if not same:
            found = "no call of this prompt"
        elif all(row.prompt_sha256 != first.prompt.sha256 for row in same):
            found = f"{len(same)} calls of this prompt, all of an earlier text of its file"
        else:
            models = sorted({json.loads(row.request)["body"]["model"] for row in same})
            found = f"{len(same)} calls of this prompt, models {', '.join(models)}"
        where = f" of {self.run}" if self.run else ""
        return NotRecorded(
            f"{len(items)} model calls{where} are not recorded",
            expected=f"among others a call of prompt {first.prompt.name!r} with model "
            f"{first.model!r}, key {first.keys[0][:16]}",
            got=f"{len(rows)} recorded calls, {found}",
            next_step="record them: give an endpoint (OPENAI_BASE_URL and OPENAI_API_KEY, or "
            "`unbidden models serve`), run again in mode 'record', then "
            "`unbidden ledger record`",
        )


def connect(
    settings: LLMSettings,
    mode: Mode = "replay",
    *,
    ledger: Path | None = None,
    recorded: Path | None = None,
    run: str = "",
    prompt_folders: Sequence[Path] = (),
    budget: Budget | None = None,
    price_table: Path | None = None,
) -> Client:
    """Return a client, its files opened.

    Parameters
    ----------
    settings, mode, run, budget
        See `Client`.
    ledger : Path, optional
        SQLite file to write; when replaying it is read too, if it exists.
    recorded : Path, optional
        A recording, or the folder of recordings (``results/ledger``).
    prompt_folders : sequence of Path
        Folders with prompts of the reader's own.
    price_table : Path, optional
        Prices to use instead of the package's.

    Raises an `UnbiddenError` if a setting, the ledger or a recording cannot be used.
    """
    opened = ledger is not None and (mode != "replay" or ledger.is_file())
    return Client(
        settings,
        mode,
        ledger=Ledger(ledger) if opened and ledger is not None else None,
        recorded=replay(recorded) if recorded is not None else None,
        run=run,
        library=PromptLibrary(prompt_folders),
        budget=budget,
        prices=load_prices(price_table),
    )
