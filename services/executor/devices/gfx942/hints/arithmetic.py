"""Hints about arithmetic: accidental double precision, divisions in loops, matrix products without matrix cores.

Rates are from AMD's CDNA3 white paper, per compute unit and clock: 256 operations in float (half of it if the compiler
does not pack two into one instruction), 128 in double; on the matrix cores 256 in float, 2048 in fp16 and bf16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from hipcpu.ir.instruction import Instruction
from services.executor.devices.gfx942.accesses import Access
from services.executor.devices.gfx942.addresses import Addresses
from services.executor.devices.gfx942.hints.hint import Hint
from services.executor.devices.gfx942.kernel import Kernel

_DOUBLE_ARITHMETIC = frozenset({"fadd", "fsub", "fmul", "fdiv", "frem"})
_INTEGER_DIVISIONS = frozenset({"udiv", "sdiv", "urem", "srem"})
_REGISTER_BITS = 32
_FMA = ("@llvm.fma.", "@llvm.fmuladd.")
_THROUGH = frozenset({"fpext", "bitcast", "zext", "shl", "extractelement", "shufflevector", "freeze", "fneg"})
_SIXTEEN_BIT = ("half", "bfloat", "i16")


def arithmetic_hints(
    kernel: Kernel,
    addresses: Addresses,
    accesses: Mapping[str, Access],
    line_of: Callable[[Instruction], int],
) -> Iterator[Hint]:
    """Yield hints about one kernel; `accesses` holds its loads by the names of their results."""
    yield from _doubles(kernel, line_of)
    yield from _divisions(kernel, addresses, line_of)
    yield from _matrix_products(kernel, accesses, line_of)


def _doubles(kernel: Kernel, line_of: Callable[[Instruction], int]) -> Iterator[Hint]:
    """Find double arithmetic in a kernel that has no double data: a literal caused it."""
    given = ("double" in parameter.type for parameter in kernel.function.parameters)
    if any(given) or any(_carries_double(one, kernel) for one in kernel.instructions):
        return
    for one in kernel.instructions:
        if one.opcode in _DOUBLE_ARITHMETIC and "double" in one.type:
            yield Hint(
                "double",
                line_of(one),
                "this line computes in double precision though no data of the kernel is double",
                f"the compiler emits a double {one.opcode} there, at half the rate of float and with two"
                " registers for each value",
                "write float literals (1.0f, not 1.0) and call the float functions (expf, not exp)",
            )


def _carries_double(one: Instruction, kernel: Kernel) -> bool:
    if not one.pointer and one.opcode != "phi":
        return False
    return "double" in kernel.types.get(one.accessed_type, one.accessed_type)


def _divisions(kernel: Kernel, addresses: Addresses, line_of: Callable[[Instruction], int]) -> Iterator[Hint]:
    """Find repeated divisions by a variable, for which there is no instruction.

    A 32-bit one in a simple loop over elements is not worth a hint.
    """
    for one, depth in kernel.instructions_in_loops:
        if one.opcode not in _INTEGER_DIVISIONS or not one.type[1:].isdigit() or _is_number(one.operands[1].value):
            continue
        width = int(one.type[1:])
        if depth < (1 if width > _REGISTER_BITS else 2) or not _moves(addresses, one):
            continue
        cost = "over 100" if width > _REGISTER_BITS else "about 25"
        yield Hint(
            "division",
            line_of(one),
            f"a {width}-bit integer division or remainder by a variable runs in every turn of a loop",
            f"the GPU has no instruction for it; the compiler emits {cost} others",
            "work out quotients before the loop and count along, use 32-bit types, or make the divisor a constant"
            " (a template parameter)",
        )


def _is_number(value: str) -> bool:
    return value.lstrip("-").isdigit()


def _moves(addresses: Addresses, one: Instruction) -> bool:
    """Return True if the division varies by thread or iteration, and so stays in the loop and on the vector unit."""
    return any(
        part in {"x", "y", "z"} or part.startswith(("v:", "loop:"))
        for operand in one.operands
        for part in addresses.of(operand.value).unknowns
    )


def _matrix_products(
    kernel: Kernel, accesses: Mapping[str, Access], line_of: Callable[[Instruction], int]
) -> Iterator[Hint]:
    """Find a sum of products in a loop with one factor that is constant along x and one that is constant along y."""
    for one, depth in kernel.instructions_in_loops:
        if not depth:
            continue
        factors = [_origin(name, kernel, accesses) for name in _product(one, kernel)]
        if len(factors) != 2 or factors[0] is None or factors[1] is None:  # noqa: PLR2004  a product of two
            continue
        if not (_is_outer(factors[0], factors[1]) or _is_outer(factors[1], factors[0])):
            continue
        kinds = [factor.instruction.accessed_type for factor in factors if factor]
        small = all(any(narrow in kind for narrow in _SIXTEEN_BIT) for kind in kinds)
        rates = "2048" if small else "256 in float, or 2048 in fp16 and bf16,"
        yield Hint(
            "no-mfma",
            line_of(one),
            "this loop multiplies matrices without the matrix cores (MFMA)",
            "it sums products of one factor that threads along x share and one that threads along y share, which is a"
            " matrix product; a compute unit does 128 operations a clock with v_fma (256 where two are packed),"
            f" {rates} with MFMA",
            "use __builtin_amdgcn_mfma_f32_* (in rocWMMA: mma_sync) for the inner tile",
        )
        return


def _product(one: Instruction, kernel: Kernel) -> list[str]:
    """Return the factors of a multiply-add, whether fused or not; empty for other instructions."""
    values = [operand.value for operand in one.operands]
    if one.calls(*_FMA):
        return [value for value in values if value[0] == "%"][:2]
    if one.opcode != "fadd":
        return []
    for value in values:
        product = kernel.definitions.get(value)
        if product is not None and product.opcode == "fmul":
            return [operand.value for operand in product.operands if operand.value[0] == "%"]
    return []


def _origin(name: str, kernel: Kernel, accesses: Mapping[str, Access]) -> Access | None:
    """Return the load that a factor comes from, through conversions."""
    for _ in range(8):
        if name in accesses:
            return accesses[name]
        one = kernel.definitions.get(name)
        if one is None or one.opcode not in _THROUGH:
            return None
        name = one.operands[0].value
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
