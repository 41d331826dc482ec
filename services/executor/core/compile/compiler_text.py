"""Turns the compiler's output into one sentence for the author."""

from __future__ import annotations

import re

from services.executor.core.model.failure import Failure, InfrastructureFailure
from services.executor.core.model.verdict import Verdict
from services.executor.core.sandbox.exit_reasons import exit_signal, signal_name
from services.executor.sandboxes.sandbox import Exit

_ERROR_LINE = re.compile(r"solution\.hip:(\d+):(?:\d+:)? (?:fatal )?error: ([^\n]*)")
# Messages of clang, nvcc and gcc when one of their parts has crashed but they themselves have not.
_CRASH = re.compile(r"PLEASE (?:submit a bug report|ATTACH THE FOLLOWING)|died due to signal|internal compiler error")
_CRASH_STATUSES = {70: "fatal error in its back end", 254: "crash of a part of it"}
"""Exit statuses of clang's driver: EX_SOFTWARE, and -2 if a signal ended one of its parts."""
_MOST_LAST_WORDS = 200
# A device's own advice; compilers' notes begin with a place.
_NOTE = re.compile(r"^note: ([^\n]+)", re.MULTILINE)
_WITHOUT_LINE = re.compile(r"solution\.hip: error: ([^\n]*)")
_ANY_DECLARATION = 'extern "C" void solution(...)'
# An optimiser's warning about code whose lines it does not know, e.g. `warning: <unknown>:0:0: loop not unrolled: ...`.
_PLACELESS = re.compile(r"^warning: <unknown>:0:0: [^\n]*(?:\n|\Z)", re.MULTILINE)
_UNDEFINED = re.compile(r"undefined (?:symbol|reference)[^\n]*\b(solution|main)\b")


def compile_error(text: str, declaration: str) -> Failure:
    """The verdict on a source that does not compile; `declaration` is the definition that it must have."""
    return Failure(Verdict.COMPILE_ERROR, _sentence(text, declaration), details=text)


def without_placeless_warnings(text: str) -> str:
    """The text without warnings that name no line: the author could not act on them."""
    return _PLACELESS.sub("", text)


def crash_of(end: Exit, text: str) -> str | None:
    """Says in a few words how the compiler crashed; None if it did not crash."""
    number = exit_signal(end)
    if number is not None:
        return signal_name(number)
    if end.code in _CRASH_STATUSES:
        return _CRASH_STATUSES[end.code]
    found = _CRASH.search(text) if end.code and not _ERROR_LINE.search(text) else None
    return f"`{found[0]}`" if found else None


def compiler_crash(how: str, text: str) -> Failure:
    """The verdict on a source that crashes a compiler which works on other sources."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    last = f" Its last words: {lines[-1][:_MOST_LAST_WORDS]}" if lines else ""
    message = (
        f"The compiler itself crashed on this source ({how}), and works on others: you have met a bug of the compiler. "
        f"Take back what you changed last, or write it in another way.{last}"
    )
    return Failure(Verdict.COMPILE_ERROR, message, details=text, reason="compiler_crash")


def missing_build(text: str) -> InfrastructureFailure:
    """The failure for a compiler that failed through no fault of the source."""
    return InfrastructureFailure("The compiler itself failed; run again elsewhere.", details=text)


def _sentence(text: str, declaration: str) -> str:
    said = text.replace(_ANY_DECLARATION, declaration) if declaration else text
    if found := _ERROR_LINE.search(said):
        advice = f"{note[1].strip()}. Details" if (note := _NOTE.search(said)) else "Correct it; details"
        return f"The compiler rejected line {found[1]}: {found[2].strip()}. {advice} have the whole text."
    if found := _WITHOUT_LINE.search(said):
        return f"The source cannot be built: {found[1].strip()}. Correct it; details have the whole text."
    if _UNDEFINED.search(text):
        return (
            f"The source compiles but does not define `{declaration}`; define it with exactly this name"
            ' (and extern "C", so that its name stays as it is).'
        )
    first = next((line.strip() for line in text.splitlines() if "error" in line.lower()), "no reason given")
    return f"The build failed: {first}. Correct it; details have the whole text."
