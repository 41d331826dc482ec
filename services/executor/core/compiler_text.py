"""What the compiler said, put into one sentence for the author."""

from __future__ import annotations

import re

from services.executor.core.failure import Failure, InfrastructureFailure
from services.executor.core.verdict import Verdict

_ERROR_LINE = re.compile(r"solution\.hip:(\d+):(?:\d+:)? (?:fatal )?error: ([^\n]*)")
_UNDEFINED = re.compile(r"undefined (?:symbol|reference)[^\n]*\b(solution|main)\b")


def compile_error(text: str, declaration: str) -> Failure:
    """The verdict on a source that does not compile; `declaration` is what it has to define."""
    return Failure(Verdict.COMPILE_ERROR, _sentence(text, declaration), details=text)


def missing_build(text: str) -> InfrastructureFailure:
    """The verdict on a compiler that failed in a way that is not the source's fault."""
    return InfrastructureFailure("The compiler itself failed; run again elsewhere.", details=text)


def _sentence(text: str, declaration: str) -> str:
    if found := _ERROR_LINE.search(text):
        return f"The compiler rejected line {found[1]}: {found[2].strip()}. Correct it; details have the whole text."
    if _UNDEFINED.search(text):
        return (
            f"The source compiles but does not define `{declaration}`; define it with exactly this name"
            ' (and extern "C", so that its name stays as it is).'
        )
    first = next((line.strip() for line in text.splitlines() if "error" in line.lower()), "no reason given")
    return f"The build failed: {first}. Correct it; details have the whole text."
