"""What the join needs to know from the host side's IR: its kernels' handles and parameters, and its device variables.

Clang writes a launch stub per kernel. Its unoptimised body puts every parameter of the kernel into memory and the
addresses of those into an array, in source order; `hipLaunchKernel` receives that array, and our thunk for the kernel
takes it apart again. The x86-64 calling convention splits small structs over several IR parameters and may merge
several members into one, so which IR parameter lies where in which source parameter is read off the stub:

    %10 = getelementptr inbounds nuw { <2 x float>, <2 x float> }, ptr %5, i32 0, i32 1
    store <2 x float> %2, ptr %10          IR parameter %2 is the second eightbyte of what %5 points to
    %18 = getelementptr ptr, ptr %17, i32 1
    store ptr %5, ptr %18                  which is source parameter 1
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hipcpu.ir.ir_text import Function, Parameter, bracketed, functions_of, plain

_NAME = r'(?:"[^"]*"|[-\w$.]+)'
_HANDLE = re.compile(rf"^(@{_NAME}) = .*constant ptr (@{_NAME})(?:,|$)", re.MULTILINE)
_STRING = re.compile(rf'^(@{_NAME}) = .*constant \[\d+ x i8\] c"([^"]*)\\00"', re.MULTILINE)
_REGISTER_KERNEL = re.compile(rf"@__hipRegisterFunction\(ptr [^,]*, ptr (@{_NAME}), ptr (@{_NAME}),")
_REGISTER_VARIABLE = re.compile(
    rf"@__hipRegister(?:Managed)?Var\(ptr [^,]*, ptr @{_NAME}, ptr (?:@{_NAME}), (?:ptr (@{_NAME}), i32 \d+, i64 (\d+)"
    rf"|ptr (@{_NAME}), i64 (\d+))"
)
_TABLE = re.compile(r"^@(__hip_fatbin_?\w*) = external", re.MULTILINE)

_STORE = re.compile(r"^\s*store (.+) (%[-\w.]+), ptr (%[-\w.]+), align")
_ELEMENT = re.compile(r"^\s*(%[-\w.]+) = getelementptr .*ptr (%[-\w.]+), i32 0, i32 (\d+)$")
_SLOT = re.compile(r"^\s*(%[-\w.]+) = getelementptr ptr, ptr (%[-\w.]+), i32 (\d+)$")
_WIDEN = re.compile(r"^\s*(%[-\w.]+) = zext i1 (%[-\w.]+) to i8$")
_ALLOCATION = re.compile(r"^\s*(%[-\w.]+) = alloca (.+?), align \d+$")
_BY_VALUE = re.compile(r"\bbyval\(")
_COPY = re.compile(r"@llvm\.memcpy\.\w+\.\w+\.\w+\(ptr [^%]*(%[-\w.]+), ptr [^%]*(%[-\w.]+),")
_EIGHTBYTE = 8


@dataclass(frozen=True)
class Place:
    """Where an IR parameter's value lies: at `offset` bytes in what `arguments[index]` points to.

    `is_address` means that the IR parameter is that address itself (a struct passed by value in memory).
    """

    index: int
    offset: int = 0
    is_address: bool = False


@dataclass(frozen=True)
class Kernel:
    """A kernel that the host side can launch: its symbol on the kernel side and where its IR parameters lie."""

    symbol: str
    places: tuple[Place, ...]
    argument_types: tuple[str, ...]
    """The IR type of each source parameter; empty if it is unknown."""


@dataclass(frozen=True)
class Variable:
    """A device variable that the host side knows: its symbol on the kernel side and its size."""

    symbol: str
    size_bytes: int


@dataclass(frozen=True)
class HostModule:
    """The host side of a submission; `table` is the symbol under which it expects the KernelTable, if any."""

    text: str
    functions: dict[str, Function]
    kernels: tuple[Kernel, ...]
    variables: tuple[Variable, ...]
    table: str | None


def host_module_from_text(text: str) -> HostModule:
    """Read the unoptimised IR of the host pass."""
    functions = functions_of(text)
    strings = dict(_STRING.findall(text))
    stubs = dict(_HANDLE.findall(text))
    kernels = [
        _kernel(strings[name], functions[plain(stubs[handle])]) for handle, name in _REGISTER_KERNEL.findall(text)
    ]
    variables = [
        Variable(strings[match[1] or match[3]], int(match[2] or match[4]))
        for match in _REGISTER_VARIABLE.finditer(text)
    ]
    table = _TABLE.search(text)
    return HostModule(text, functions, tuple(kernels), tuple(variables), table[1] if table else None)


def _kernel(symbol: str, stub: Function) -> Kernel:
    reader = _StubReader(stub)
    return Kernel(symbol, reader.places(), reader.argument_types())


def places_of(stub: Function) -> tuple[Place, ...]:
    """Where each IR parameter of a launch stub lies; raises ValueError where the stub is not as clang 22 writes it."""
    return _StubReader(stub).places()


class _StubReader:
    """What the lines of a stub say, collected line by line."""

    def __init__(self, stub: Function) -> None:
        self._parameters = [parameter.value for parameter in stub.parameters]
        self._elements: dict[str, tuple[str, int]] = {}
        self._slots: dict[str, int] = {}
        self._index_of: dict[str, int] = {}
        self._widened: dict[str, str] = {}
        self._stored_at: dict[str, tuple[str, int]] = {}
        self._copied_to: dict[str, str] = {}
        self._types = {parameter.value: _passed_type(parameter) for parameter in stub.parameters}
        for line in stub.body:
            self._read(line)

    def _read(self, line: str) -> None:
        if match := _ALLOCATION.match(line):
            self._types[match[1]] = match[2]
        elif match := _ELEMENT.match(line):
            self._elements[match[1]] = (match[2], _EIGHTBYTE if int(match[3]) else 0)
        elif match := _SLOT.match(line):
            self._slots[match[1]] = int(match[3])
        elif match := _WIDEN.match(line):
            self._widened[match[1]] = match[2]
        elif match := _COPY.search(line):
            self._copied_to[match[2]] = match[1]
        elif match := _STORE.match(line):
            self._read_store(match[2], match[3])

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
        """The place of each parameter, in order."""
        return tuple(self._place(value) for value in self._parameters)

    def argument_types(self) -> tuple[str, ...]:
        """The IR type of what each slot points to, in the order of the source's parameters; empty if it is unknown."""
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


def _passed_type(parameter: Parameter) -> str:
    """The type of a parameter, or of what it points to where a struct is passed in memory."""
    found = _BY_VALUE.search(parameter.declaration)
    return bracketed(parameter.declaration, found.end() - 1) if found else parameter.type
