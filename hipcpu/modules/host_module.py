"""Facts for the join from the host side's IR: its kernels' handles and parameters, and its device variables.

Clang writes a launch stub per kernel. Its unoptimised body puts every parameter of the kernel into memory and the
addresses of those into an array, in source order; `hipLaunchKernel` receives that array, and our thunk for the kernel
unpacks it again. The x86-64 calling convention splits small structs over several IR parameters and may merge several
members into one, so the place of each IR parameter in a source parameter is read from the stub:

    %10 = getelementptr inbounds nuw { <2 x float>, <2 x float> }, ptr %5, i32 0, i32 1
    store <2 x float> %2, ptr %10          IR parameter %2 is the second eightbyte of what %5 points to
    %18 = getelementptr ptr, ptr %17, i32 1
    store ptr %5, ptr %18                  which is source parameter 1
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hipcpu.ir.function import Function
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.module import Module
from hipcpu.ir.text import plain

MANAGED = "@__hipRegisterManagedVar"
"""Function that the host side calls for each managed variable."""
_VARIABLES = ("@__hipRegisterVar", MANAGED)
_KERNEL = "@__hipRegisterFunction"
_TABLE = "@__hip_fatbin"
_EIGHTBYTE = 8


@dataclass(frozen=True)
class Place:
    """Place of an IR parameter's value: at `offset` bytes from the address in `arguments[index]`.

    If `is_address` is set, the IR parameter is that address itself (a struct passed by value in memory).
    """

    index: int
    offset: int = 0
    is_address: bool = False


@dataclass(frozen=True)
class Kernel:
    """A kernel that the host side can launch: its symbol on the kernel side and the places of its IR parameters."""

    symbol: str
    places: tuple[Place, ...]
    argument_types: tuple[str, ...]
    """IR type of each source parameter; empty if it is unknown."""


@dataclass(frozen=True)
class Variable:
    """A device variable that the host side knows: its symbol on the kernel side and its size."""

    symbol: str
    size_bytes: int


@dataclass(frozen=True)
class HostModule:
    """The host side of a submission; `table` is the symbol under which it expects the KernelTable, if any."""

    module: Module
    """IR as clang wrote it, with the lines of its instructions."""
    kernels: tuple[Kernel, ...]
    variables: tuple[Variable, ...]
    table: str | None

    @property
    def functions(self) -> dict[str, Function]:
        """The functions by their plain symbols."""
        return self.module.functions


def host_module_from_text(text: str) -> HostModule:
    """Parse the unoptimised IR of the host pass."""
    module = Module.from_text(text)
    names = module.variables.items()
    table = next((name[1:] for name, each in names if name.startswith(_TABLE) and "external" in each.qualifiers), None)
    return HostModule(module, tuple(_kernels(module)), tuple(_registered(module)), table)


def _kernels(module: Module) -> Iterator[Kernel]:
    for call in module.calls_of(_KERNEL):
        handle, name = (module.variables.get(plain(operand.value)) for operand in call.operands[1:3])
        stub = module.functions.get(plain(handle.value)) if handle else None
        if stub and name and name.string:
            yield _kernel(name.string, stub)


def _registered(module: Module) -> Iterator[Variable]:
    for call in (each for symbol in _VARIABLES for each in module.calls_of(symbol)):
        name = module.variables.get(plain(call.operands[3].value))
        size = next(operand.value for operand in call.operands if operand.type == "i64")
        if name and name.string and size.isdigit():
            yield Variable(name.string, int(size))


def _kernel(symbol: str, stub: Function) -> Kernel:
    reader = _StubReader(stub)
    return Kernel(symbol, reader.places(), reader.argument_types())


def places_of(stub: Function) -> tuple[Place, ...]:
    """Return the place of each IR parameter of a launch stub; raises ValueError if it is not as clang 22 writes it."""
    return _StubReader(stub).places()


class _StubReader:
    """Collects the facts in a stub's instructions, one by one."""

    def __init__(self, stub: Function) -> None:
        self._parameters = [parameter.value for parameter in stub.parameters]
        self._elements: dict[str, tuple[str, int]] = {}
        self._slots: dict[str, int] = {}
        self._index_of: dict[str, int] = {}
        self._widened: dict[str, str] = {}
        self._stored_at: dict[str, tuple[str, int]] = {}
        self._copied_to: dict[str, str] = {}
        # For a struct that is passed in memory, the type that the parameter points to.
        self._types = {parameter.value: parameter.by_value or parameter.type for parameter in stub.parameters}
        for one in stub.instructions:
            self._read(one)

    def _read(self, one: Instruction) -> None:
        values = [operand.value for operand in one.operands]
        if one.opcode == "alloca":
            self._types[one.result] = one.element_type
        elif one.opcode == "getelementptr" and values[1:-1] == ["0"]:
            self._elements[one.result] = (values[0], _EIGHTBYTE if int(values[2]) else 0)
        elif one.opcode == "getelementptr" and one.element_type == "ptr" and values[1].isdigit():
            self._slots[one.result] = int(values[1])
        elif one.opcode == "zext":
            self._widened[one.result] = values[0]
        elif one.calls("@llvm.memcpy."):
            self._copied_to[values[1]] = values[0]
        elif one.opcode == "store":
            self._read_store(values[0], values[1])

    def _read_store(self, value: str, target: str) -> None:
        parameter = self._widened.get(value, value)
        if target in self._slots:
            self._index_of[value] = self._slots[target]
        elif parameter in self._parameters:
            self._stored_at[parameter] = self._root(target)

    def _root(self, address: str) -> tuple[str, int]:
        offset = 0
        while address in self._elements:
            address, step = self._elements[address]
            offset += step
        return address, offset

    def places(self) -> tuple[Place, ...]:
        """Return the place of each parameter, in order."""
        return tuple(self._place(value) for value in self._parameters)

    def argument_types(self) -> tuple[str, ...]:
        """Return the IR type behind each slot, in the order of the source's parameters; empty if it is unknown."""
        by_index = {index: self._types.get(value, "") for value, index in self._index_of.items()}
        return tuple(by_index.get(index, "") for index in range(len(by_index)))

    def _place(self, value: str) -> Place:
        if value in self._index_of:
            return Place(self._index_of[value], is_address=True)
        if value not in self._stored_at:
            raise ValueError(f"launch stub does not store {value}")
        address, offset = self._stored_at[value]
        address = address if address in self._index_of else self._copied_to.get(address, address)
        if address not in self._index_of:
            raise ValueError(f"launch stub does not pass on {address}")
        return Place(self._index_of[address], offset)
