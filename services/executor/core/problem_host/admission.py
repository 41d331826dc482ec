"""What is looked for in the text of a source before anything compiles it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.executor.core.compile.forbidden import check_source
from services.executor.core.compile.source import source_fault
from services.executor.core.model.failure import Failure
from services.executor.core.model.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.core.compile.forbidden import Rule


def admit(source: str, declaration: str, held: Sequence[Rule]) -> None:
    """Raises Failure where `source` can be no submission that defines `declaration`, or a rule forbids a word of it."""
    if fault := source_fault(source, declaration):
        raise Failure(Verdict.COMPILE_ERROR, fault)
    check_source(source, held)
