"""A-MEM without its model calls: what is left is dense search over turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unbidden.errors import LLMError
from unbidden.llm import LLM
from unbidden.memory.amem.system import AMem
from unbidden.memory.embed import MINILM
from unbidden.memory.protocol import SystemInfo
from unbidden.memory.records import RecordStore

if TYPE_CHECKING:
    from collections.abc import Iterable

    from unbidden.llm import Call, Outcome
    from unbidden.memory.amem.notes import Form
    from unbidden.memory.records import Encodes
    from unbidden.memory.units import Protocol


class _NoModel(LLM):
    """Stands where a model would, and must never be asked."""

    def ask_many(self, calls: Iterable[Call], *, label: str = "") -> list[Outcome[Any]]:
        asked = [call.prompt_name for call in calls]
        if not asked:
            return []
        raise LLMError(
            "amem-noevo asked a model",
            expected="no call at all",
            got=", ".join(asked),
            next_step="this is a fault of unbidden; please report it",
        )


class AMemNoEvolution(AMem):
    """A-MEM with analysis and evolution off and the content alone embedded.

    LoCoMo-Conv generates its A-MEM replies with this setting (section 4: processing replaced by
    nothing). It then ranks exactly as `dense` does over the same text form.

    Parameters
    ----------
    form, protocol
        See `AMem`.
    """

    info = SystemInfo(
        name="amem-noevo",
        paper="Xu et al. 2025, A-MEM (arXiv 2502.12110), without evolution as in LoCoMo-Conv",
        needs_llm=False,
        provenance="exact",
        licence="Apache-2.0",
    )

    def __init__(
        self,
        *,
        embedder: str | Encodes = MINILM,
        protocol: Protocol = "paper",
        form: Form = "unit",
    ) -> None:
        super().__init__(
            llm=_NoModel(),
            embedder=embedder,
            protocol=protocol,
            form=form,
            analysis=False,
            evolution=False,
            link_expansion=False,
            query_mode="raw",
            embed="content",
        )

    def _new_store(self) -> RecordStore:
        # No request depends on a ranking here, so cosines may be compared to the last bit, as
        # `dense` does.
        return RecordStore(self.embedder, "note", decimals=None)
