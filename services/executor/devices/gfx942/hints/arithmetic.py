"""Hints about arithmetic: double precision by accident, divisions in loops, matrix products without matrix cores.

Rates are those of AMD's CDNA3 white paper, per compute unit and clock: 256 operations in float (half of it where the
compiler does not pack two into one instruction), 128 in double; on the matrix cores 256 in float, 2048 in fp16 and
bf16.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from services.executor.devices.gfx942.accesses import value_type
from services.executor.devices.gfx942.hints.hint import Hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from services.executor.devices.gfx942.accesses import Access
    from services.executor.devices.gfx942.addresses import Addresses
    from services.executor.devices.gfx942.ir import Kernel, Operation

_DOUBLE_ARITHMETIC = frozenset({"fadd", "fsub", "fmul", "fdiv", "frem"})
_INTEGER_DIVISIONS = frozenset({"udiv", "sdiv", "urem", "srem"})
_WIDTH = re.compile(r"^(?:exact )?i(\d+) ")
_FMA = re.compile(r"@llvm\.fm(?:a|uladd)\.")
_THROUGH = frozenset({"fpext", "bitcast", "zext", "shl", "extractelement", "shufflevector", "freeze", "fneg"})
_SIXTEEN_BIT = re.compile(r"\b(?:half|bfloat|i16)\b")


def arithmetic_hints(
    kernel: Kernel,
    addresses: Addresses,
    depths: Mapping[str, int],
    accesses: Mapping[str, Access],
    line_of: Callable[[Operation], int],
) -> Iterator[Hint]:
    """Hints about one kernel; `accesses` are its loads by the value that they give."""
    yield from _doubles(kernel, line_of)
    yield from _divisions(kernel, addresses, depths, line_of)
    yield from _matrix_products(kernel, depths, accesses, line_of)


def _doubles(kernel: Kernel, line_of: Callable[[Operation], int]) -> Iterator[Hint]:
    """Double arithmetic in a kernel that neither reads, writes, is given nor carries a double: a literal did it."""
    if "double" in kernel.arguments or any(_carries_double(operation) for operation in kernel.operations):
        return
    for operation in kernel.operations:
        if operation.opcode in _DOUBLE_ARITHMETIC and re.search(r"\bdouble\b", operation.text):
            yield Hint(
                "double",
                line_of(operation),
                "this line computes in double precision though no data of the kernel is double",
                f"the compiler emits a double {operation.opcode} there, at half the rate of float and with two"
                " registers for each value",
                "write float literals (1.0f, not 1.0) and call the float functions (expf, not exp)",
            )


def _carries_double(operation: Operation) -> bool:
    if operation.opcode in {"load", "store"}:
        return "double" in value_type(operation)
    return operation.opcode == "phi" and "double" in operation.text.partition("[")[0]


def _divisions(
    kernel: Kernel, addresses: Addresses, depths: Mapping[str, int], line_of: Callable[[Operation], int]
) -> Iterator[Hint]:
    """Divisions by a value that is no constant, over and over: there is no instruction for them.

    A 32-bit one in a simple loop over elements is not worth a word.
    """
    for operation in kernel.operations:
        width = _WIDTH.match(operation.text) if operation.opcode in _INTEGER_DIVISIONS else None
        if width is None or not operation.operands or operation.text.split()[-1].lstrip("-").isdigit():
            continue
        least_depth = 1 if int(width[1]) > 32 else 2  # noqa: PLR2004  bits of a register
        if depths.get(operation.block, 0) < least_depth or not _moves(addresses, operation):
            continue
        cost = "over 100" if int(width[1]) > 32 else "about 25"  # noqa: PLR2004  the same
        yield Hint(
            "division",
            line_of(operation),
            f"a {width[1]}-bit integer division or remainder by a variable runs in every turn of a loop",
            f"the GPU has no instruction for it; the compiler emits {cost} others",
            "work out quotients before the loop and count along, use 32-bit types, or make the divisor a constant"
            " (a template parameter)",
        )


def _moves(addresses: Addresses, operation: Operation) -> bool:
    """Whether it differs by thread or by turn, so that it stays in the loop and on the vector unit."""
    return any(
        part in {"x", "y", "z"} or part.startswith(("v:", "loop:"))
        for operand in operation.operands
        for part in addresses.of(operand).unknowns
    )


def _matrix_products(
    kernel: Kernel, depths: Mapping[str, int], accesses: Mapping[str, Access], line_of: Callable[[Operation], int]
) -> Iterator[Hint]:
    """A sum of products in a loop, of one factor that is the same along x and one that is the same along y."""
    for operation in kernel.operations:
        if not depths.get(operation.block, 0):
            continue
        factors = [_origin(name, kernel, accesses) for name in _product(operation, kernel)]
        if len(factors) != 2 or factors[0] is None or factors[1] is None:  # noqa: PLR2004  a product of two
            continue
        if not (_is_outer(factors[0], factors[1]) or _is_outer(factors[1], factors[0])):
            continue
        small = all(_SIXTEEN_BIT.search(value_type(factor.operation)) for factor in factors if factor)
        rates = "2048" if small else "256 in float, or 2048 in fp16 and bf16,"
        yield Hint(
            "no-mfma",
            line_of(operation),
            "this loop multiplies matrices without the matrix cores (MFMA)",
            "it sums products of one factor that threads along x share and one that threads along y share, which is a"
            " matrix product; a compute unit does 128 operations a clock with v_fma (256 where two are packed),"
            f" {rates} with MFMA",
            "use __builtin_amdgcn_mfma_f32_* (in rocWMMA: mma_sync) for the inner tile",
        )
        return


def _product(operation: Operation, kernel: Kernel) -> list[str]:
    """The factors of a multiply-add, whether or not it is one operation yet."""
    if operation.opcode == "call" and _FMA.search(operation.text):
        return [name for name in operation.operands if name[0] == "%"][:2]
    if operation.opcode != "fadd":
        return []
    for name in operation.operands:
        product = kernel.definitions.get(name)
        if product is not None and product.opcode == "fmul":
            return product.operands
    return []


def _origin(name: str, kernel: Kernel, accesses: Mapping[str, Access]) -> Access | None:
    """The load that a factor is from, through conversions."""
    for _ in range(8):
        if name in accesses:
            return accesses[name]
        operation = kernel.definitions.get(name)
        if operation is None or operation.opcode not in _THROUGH or not operation.operands:
            return None
        name = operation.operands[0]
    return None


def _is_outer(along_y: Access, along_x: Access) -> bool:
    return (
        along_y.is_known
        and along_x.is_known
        and not _depends(along_y, "x")
        and _depends(along_y, "y")
        and _depends(along_x, "x")
        and not _depends(along_x, "y")
    )


def _depends(access: Access, name: str) -> bool:
    return name in set(access.address.unknowns)
