"""A program that executes matrix instructions on words that it reads."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.hipcpu.matrix_reference import (
    INDEX,
    INSTRUCTIONS,
    LANES,
    TYPES,
    WORDS,
    A,
    B,
    D,
    Instruction,
    Modifiers,
    Words,
)

_MAIN = f"""
template <class T, int COUNT> struct Vector {{ typedef T type __attribute__((ext_vector_type(COUNT))); }};
template <class T> struct Vector<T, 1> {{ typedef T type; }};
template <class T> __device__ T loaded(const unsigned* words, int first) {{
    unsigned own[sizeof(T) / 4];
    for (int i = 0; i < sizeof(T) / 4; ++i) own[i] = words[(first + i) * {LANES} + threadIdx.x % {LANES}];
    T value;
    memcpy(&value, own, sizeof(T));
    return value;
}}
template <class T> __device__ void stored(unsigned* words, T value) {{
    unsigned own[sizeof(T) / 4];
    memcpy(own, &value, sizeof(T));
    for (int i = 0; i < sizeof(T) / 4; ++i) words[({D} + i) * {LANES} + threadIdx.x % {LANES}] = own[i];
}}
"""
_END = f"""
int main() {{
    const size_t bytes = {WORDS * LANES} * sizeof(unsigned);
    unsigned *words, here[{WORDS * LANES}], number;
    if (hipMalloc(&words, bytes) != hipSuccess) return 1;
    while (fread(&number, sizeof number, 1, stdin) == 1 && fread(here, bytes, 1, stdin) == 1) {{
        hipMemcpy(words, here, bytes, hipMemcpyHostToDevice);
        kernels[number](words);
        hipMemcpy(here, words, bytes, hipMemcpyDeviceToHost);
        fwrite(here, bytes, 1, stdout);
    }}
    return 0;
}}
"""


@dataclass(frozen=True)
class Case:
    """An instruction with its modifiers; the program knows it by its number in CASES."""

    one: Instruction
    how: Modifiers

    def __str__(self) -> str:
        return f"{self.one.builtin} cbsz={self.how.cbsz} abid={self.how.abid} blgp={self.how.blgp}"


_ALL_PATTERNS = ("mfma_f32_4x4x1f32", "mfma_f32_16x16x4f32", "mfma_f64_16x16x4f64")


def _modifiers(one: Instruction) -> Iterator[Modifiers]:
    yield Modifiers()
    if one.sparse:
        yield Modifiers(abid=16 // one.counts[0] - 1)
    if one.modifiers == "broadcast":
        most = one.blocks.bit_length() - 1
        yield from (Modifiers(cbsz, (1 << cbsz) - 1, cbsz + 1) for cbsz in range(1, most + 1))
    if one.builtin in _ALL_PATTERNS:
        yield from (Modifiers(blgp=blgp) for blgp in range(1, 8))
    if one.builtin == "smfmac_f32_16x16x32_f16":
        yield Modifiers(cbsz=1, abid=1)


CASES = [Case(one, how) for one in INSTRUCTIONS for how in _modifiers(one)]


def _type(kind: str, count: int, *, sparse: bool = False) -> str:
    """Return the type of a parameter."""
    if TYPES[kind].itemsize == 1:
        whole = {4: "int", 8: "long"}.get(count, "")
        return f"Vector<int, {count // 4}>::type" if sparse else whole
    name = {"f32": "float", "xf32": "float", "f16": "_Float16", "bf16": "short", "i32": "int", "f64": "double"}[kind]
    return f"Vector<{name}, {count}>::type"


def _types(one: Instruction) -> tuple[str, str, str]:
    in_a, in_b, in_d = one.counts
    return _type(one.a, in_a, sparse=one.sparse), _type(one.b, in_b, sparse=one.sparse), _type(one.d, in_d)


def call(case: Case, prefix: str = "__builtin_amdgcn_") -> str:
    """Return the body of a kernel that executes the instruction on `words`; `prefix` is what its function is called."""
    one, how = case.one, case.how
    types = _types(one)
    operands = [f"loaded<{kind}>(words, {first})" for kind, first in zip(types, (A, B, D), strict=True)]
    last = f"int(words[{INDEX * LANES} + threadIdx.x % {LANES}])" if one.sparse else f"{how.cbsz}"
    immediates = f"{how.cbsz}, {how.abid}" if one.sparse else f"{how.abid}, {how.blgp}"
    value = f"{prefix}{one.builtin}({', '.join(operands)}, {last}, {immediates})"
    return f"const {types[2]} d = {value}; stored<{types[2]}>(words, d);"


def kernels(cases: Sequence[Case]) -> str:
    """Return device code: a kernel for each case."""
    return _kernels(call(case) for case in cases)


def _kernels(calls: Iterable[str]) -> str:
    bodies = (f"__global__ void k{number}(unsigned* words) {{ {body} }}\n" for number, body in enumerate(calls))
    return f"#include <hip/hip_runtime.h>\n{_MAIN}{''.join(bodies)}"


def _labelled(one: Instruction) -> str:
    """Return a declaration of LLVM's intrinsic for this instruction, by its label."""
    a, b, d = _types(one)
    label = f"llvm.amdgcn.{one.builtin.replace('_', '.')}"
    return f'__device__ {d} labelled_{one.builtin}({a}, {b}, {d}, int, int, int) __asm("{label}");'


def source_with_labels() -> str:
    """Return a program with the same kernels that calls LLVM's intrinsics instead of clang's builtins."""
    declared = (f"{_labelled(case.one)} {call(case, 'labelled_')}" for case in CASES)
    return _program(_kernels(declared))


def source() -> str:
    """Return the program's source."""
    return _program(kernels(CASES))


def _program(device_code: str) -> str:
    launches = ", ".join(f"[](unsigned* words) {{ k{number}<<<1, {LANES}>>>(words); }}" for number in range(len(CASES)))
    return f"{device_code}static void (*const kernels[])(unsigned*) = {{{launches}}};\n{_END}"


def executed(program: Path, asked: Sequence[tuple[Case, Words]]) -> list[Words]:
    """Return the words of each case's lanes after it was executed on these."""
    orders = (np.uint32(CASES.index(case)).tobytes() + words.astype(np.uint32).tobytes() for case, words in asked)
    done = subprocess.run([program], input=b"".join(orders), capture_output=True, timeout=100, check=True)
    answers = np.frombuffer(done.stdout, np.uint32).reshape(-1, WORDS, LANES)
    assert len(answers) == len(asked), done.stderr
    return list(answers)
