"""Hints about arithmetic: double precision by accident, divisions in loops, matrix products without matrix cores.

Rates are those of AMD's CDNA3 white paper, per compute unit and clock: 256 operations in float (half of it where the
compiler does not pack two into one instruction), 128 in double; on the matrix cores 256 in float, 2048 in fp16 and
bf16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from services.executor.devices.gfx942.hints.hint import Hint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from hipcpu.ir.instruction import Instruction
    from services.executor.devices.gfx942.accesses import Access
    from services.executor.devices.gfx942.addresses import Addresses
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
    """Hints about one kernel; `accesses` are its loads by the value that they give."""
    yield from _doubles(kernel, line_of)
    yield from _divisions(kernel, addresses, line_of)
    yield from _matrix_products(kernel, accesses, line_of)


def _doubles(kernel: Kernel, line_of: Callable[[Instruction], int]) -> Iterator[Hint]:
    """Double arithmetic in a kernel that neither reads, writes, is given nor carries a double: a literal did it."""
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
    """Divisions by a value that is no constant, over and over: there is no instruction for them.

    A 32-bit one in a simple loop over elements is not worth a word.
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
    """Whether it differs by thread or by turn, so that it stays in the loop and on the vector unit."""
    return any(
        part in {"x", "y", "z"} or part.startswith(("v:", "loop:"))
        for operand in one.operands
        for part in addresses.of(operand.value).unknowns
    )


def _matrix_products(
    kernel: Kernel, accesses: Mapping[str, Access], line_of: Callable[[Instruction], int]
) -> Iterator[Hint]:
    """A sum of products in a loop, of one factor that is the same along x and one that is the same along y."""
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
    """The factors of a multiply-add, whether or not it is one operation yet."""
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
    """The load that a factor is from, through conversions."""
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
