"""Compiler messages: clang's text taken apart, and hints for classic mistakes."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE = re.compile(
    r"^(?P<file>[^\s:]+):(?P<line>\d+):(?P<column>\d+): (?P<severity>fatal error|error|warning|note): (?P<message>.*)$",
    re.MULTILINE,
)
SOURCE = "solution.hip"

# Words in a source that have no meaning on the host processor, and why.
_NO_MEANING = (
    (re.compile(r"__builtin_amdgcn_\w*mfma\w*"), "MFMA matrix instructions exist only on AMD GPUs"),
    (
        re.compile(r"__builtin_amdgcn_(?!\w*mfma)\w+"),
        "this AMD GPU instruction has no counterpart on the host processor",
    ),
    (
        re.compile(r"\b(?:tex1D|tex2D|tex3D|texture|hipTextureObject_t|surf2D\w*)\b"),
        "textures are not supported by the cpu device",
    ),
    (
        re.compile(
            r"\b(?:rocblas|hipblas|hipblaslt|miopen|rocwmma|hipcub|rocprim|hipfft|rocfft|rocsolver|rocsparse|hipsparse|hiprand|rocrand|thrust|ck)\b[\w/.]*"
        ),
        "vendor libraries are not available on the cpu device",
    ),
)


@dataclass(frozen=True)
class Diagnostic:
    """One message; line and column count from 1, and are 0 where the message has no place."""

    line: int
    column: int
    severity: str
    message: str


def diagnostics_from_text(text: str) -> list[Diagnostic]:
    """The messages in clang's output that are about the submission's source."""
    found: list[Diagnostic] = []
    for match in _LINE.finditer(text):
        if match["file"].endswith(SOURCE):
            severity = "error" if match["severity"] == "fatal error" else match["severity"]
            found.append(Diagnostic(int(match["line"]), int(match["column"]), severity, match["message"]))
    return found


def hints(text: str) -> list[str]:
    """Why words in the compiler's errors, or in their source lines, have no meaning here; each once."""
    found: dict[str, None] = {}
    for pattern, reason in _NO_MEANING:
        for match in pattern.finditer(text):
            found.setdefault(f"{match[0]}: {reason}")
    return list(found)


def assembly_error(source: str, code: str) -> str:
    """The message for inline assembly, at its first place in the source."""
    before, found, _ = source.partition("asm")
    line, column = (before.count("\n") + 1, len(before) - before.rfind("\n")) if found else (1, 1)
    return f"{SOURCE}:{line}:{column}: error: inline assembly {code!r} is for a GPU; the cpu device cannot run it\n"
