"""Reads the output of LLVM's AMDGPU back end: each kernel's instructions with their source lines, and its figures.

Figures come from the `.amdgpu_metadata` note, which ROCm's own loader reads, so output of hipcc (`--save-temps`, `-S`)
reads the same. A `.loc` directive is followed by a comment with the chain of inlined places, innermost first; the first
one in the submission's file is the line that an author knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MATRIX_INSTRUCTIONS = ("v_mfma_", "v_smfmac_")
"""Prefixes of the mnemonics for the matrix cores."""

_LABEL = re.compile(r"^(?P<name>[^\s.;:#][^\s:]*|\"[^\"]+\"):")
_END = re.compile(r"^\.Lfunc_end\d+:")
_INSTRUCTION = re.compile(r"^\s+(?P<mnemonic>[a-z]\w*)(?P<rest>.*)$")
_BRANCH_TARGET = re.compile(r"^\.LBB\d+_\d+:")
_FIGURE = re.compile(r"^(?:  - |    )\.(?P<name>\w+):\s+(?P<value>\S.*)$")
_UNCOUNTED = re.compile(r"; wavepool-call (\w+)")


@dataclass(frozen=True)
class Instruction:
    """One instruction; `line` is the submission's, 0 if it has none. `note` is the compiler's comment."""

    mnemonic: str
    operands: str
    note: str
    line: int


@dataclass(frozen=True)
class Code:
    """A function as assembly: instructions and, between them, branch targets as text."""

    name: str
    body: tuple[Instruction | str, ...]
    uncounted: frozenset[str]
    """Functions that are called but have no code here (see `math/as_calls.hip`)."""

    @property
    def instructions(self) -> Iterator[Instruction]:
        """The instructions of the body."""
        return (item for item in self.body if isinstance(item, Instruction))


@dataclass(frozen=True)
class Figures:
    """Numbers from a kernel's metadata; a missing one is 0."""

    name: str
    numbers: Mapping[str, int]

    def __getitem__(self, figure: str) -> int:
        return self.numbers.get(figure, 0)


def codes_from_assembly(text: str, source: str) -> dict[str, Code]:
    """Return every function of the text by symbol; `source` is the name of the submission's file."""
    place = re.compile(rf"(?:^|[\s/\[]){re.escape(source)}:(\d+):\d+")
    codes: dict[str, Code] = {}
    name = ""
    rows: list[str] = []
    for row in text.splitlines():
        if found := _LABEL.match(row):
            name, rows = found["name"].strip('"'), []
        elif _END.match(row):
            codes[name] = _code(name, rows, place)
        else:
            rows.append(row)
    return codes


def _code(name: str, rows: list[str], place: re.Pattern[str]) -> Code:
    line = 0
    body: list[Instruction | str] = []
    for row in rows:
        if row.lstrip().startswith(".loc"):
            match = place.search(row.partition(";")[2])
            line = int(match[1]) if match else 0
        elif _BRANCH_TARGET.match(row):
            body.append(row.partition(":")[0] + ":")
        elif instruction := _instruction(row, line):
            body.append(instruction)
    return Code(name, tuple(body), frozenset(_UNCOUNTED.findall("\n".join(rows))))


def figures_from_assembly(text: str) -> list[Figures]:
    """Return the figures of the kernels in the metadata note, in its order."""
    _, _, note = text.partition(".amdgpu_metadata")
    note, _, _ = note.partition(".end_amdgpu_metadata")
    kernels: list[dict[str, str]] = []
    for row in note.splitlines():
        if row.startswith("  - "):
            kernels.append({})
        found = _FIGURE.match(row)
        if found and kernels:
            kernels[-1][found["name"]] = found["value"].strip().strip("'\"")
    return [_figures(kernel) for kernel in kernels if "name" in kernel]


def _figures(kernel: Mapping[str, str]) -> Figures:
    numbers = {name: int(value) for name, value in kernel.items() if value.isdigit()}
    return Figures(kernel["name"], numbers)


def _instruction(row: str, line: int) -> Instruction | None:
    code, _, note = row.partition(";")
    found = _INSTRUCTION.match(code.rstrip())
    return Instruction(found["mnemonic"], found["rest"].strip(), note.strip(), line) if found else None
