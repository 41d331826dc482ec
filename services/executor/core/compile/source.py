"""Checks the text of a submission before it is compiled."""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.executor.core.compile.cpp_tokens import with_plain_line_ends
from services.executor.core.compile.forbidden import Rule, check_source
from services.executor.core.model.failure import Failure
from services.executor.core.model.verdict import Verdict
from vocabulary.limits import MAX_SOURCE_BYTES

# Comments, raw strings, strings and characters: text in them may look like code, but is none.
_NOT_CODE = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)|R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.DOTALL,
)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_ABSOLUTE_INCLUDE = re.compile(r"""^[ \t]*#[ \t]*(?:include|include_next|import|embed)\s*["<]\s*/""", re.MULTILINE)
_KERNEL_NAMED_SOLUTION = re.compile(r"__global__[^;{}]*\bsolution\s*\(")


def code_of(source: str) -> str:
    """The source with comments and literals blanked out."""
    return _NOT_CODE.sub(" ", source)


def admit(source: str, declaration: str, held: Sequence[Rule]) -> None:
    """Raises Failure if `source` cannot define `declaration`, or if a rule forbids a word of it."""
    if fault := source_fault(source, declaration):
        raise Failure(Verdict.COMPILE_ERROR, fault)
    check_source(source, held)


def source_fault(source: str, declaration: str) -> str | None:
    """Says to the author why `source` cannot define `declaration`; None if it may."""
    size_bytes = len(source.encode(errors="replace"))
    if size_bytes > MAX_SOURCE_BYTES:
        return f"The source has {size_bytes:,} bytes; at most {MAX_SOURCE_BYTES:,} are allowed. Send a smaller one."
    source = with_plain_line_ends(source)
    code = code_of(source)
    if not code.strip():
        return f"The source is empty. Define `{declaration}`." if declaration else "The source is empty. Define `main`."
    if found := _ABSOLUTE_INCLUDE.search(_COMMENT.sub(" ", source)):
        return (
            f"A file is included by its absolute path (`{found[0].strip()}...`); "
            "include headers of HIP and C++ by name: no other file is there."
        )
    if declaration and "__global__" not in declaration and _KERNEL_NAMED_SOLUTION.search(code):
        return (
            "`solution` is a __global__ kernel, but it is called from the host: give the kernel another name, and "
            f"define a host function `{declaration}` that launches it."
        )
    return None
