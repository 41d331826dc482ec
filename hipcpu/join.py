"""Join the two sides of a HIP program into object files.

Theory of operation
-------------------
Clang parses the source twice, both times for the host's architecture: as the host side, in which each kernel is a
launch stub, and as the kernel side, in which only device code exists. The host side keeps HIP's real launch protocol:

    k<<<grid, block>>>(x)   calls the stub, which calls hipLaunchKernel(&handle of k, grid, block, {&x}, ...);
    a module constructor    passes __hipRegisterFatBinary a "fat binary" and registers (handle, "k") with it.

The fat binary is an external symbol. On a GPU it holds machine code; here the join defines it as a table of names and
addresses (`kernel_table.h`), so the host side needs no change. Our runtime implements the functions.

The kernel side is changed in our own model of IR (`hipcpu.ir`), since llvmlite cannot edit parsed modules; LLVM then
parses and verifies the result. Each kernel gets a thunk (`thunks`) that unpacks the array of argument addresses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from hipcpu.forms.kernel_forms import with_forms
from hipcpu.ir.module import Module
from hipcpu.ir.text import plain, unescaped
from hipcpu.modules import back_end
from hipcpu.modules.back_end import LlvmModule, Machine
from hipcpu.modules.constructors import with_init_array
from hipcpu.modules.device_module import (
    DYNAMIC_SHARED,
    DeviceModule,
    device_module_from_text,
    kernel_symbol,
    refused_assembly,
    refused_modifiers,
    shared_variables_of,
    uses_dynamic_shared,
    without_cpu_attributes,
    without_lines,
)
from hipcpu.modules.foreign_calls import ForeignCallError, refuse_foreign_calls
from hipcpu.modules.host_module import HostModule
from hipcpu.modules.lockstep import with_lockstep_stores
from hipcpu.modules.thunks import LaunchLimits, table
from hipcpu.sanitizer.device_side import PUBLIC, sanitized

__all__ = [
    "ForeignAssemblyError",
    "ForeignCallError",
    "Joined",
    "RefusedAssemblyError",
    "UnknownIntrinsicError",
    "join",
    "join_kernels",
]

KERNEL_TABLE = "wavepool_kernels"
"""Symbol of the kernel table in a build of kernels alone."""
_MAIN = frozenset({"main"})


class ForeignAssemblyError(Exception):
    """Device code holds inline assembly for another processor."""


class RefusedAssemblyError(Exception):
    """A kernel reaches an instruction of AMD's that cannot run here, in `line`; the text says why and what to write."""

    def __init__(self, text: str, line: int) -> None:
        super().__init__(text)
        self.line = line


class UnknownIntrinsicError(Exception):
    """Device code calls an intrinsic of AMD's back end, by its label, that our headers do not define."""


@dataclass(frozen=True)
class Joined:
    """The object files of both sides, and what launches of their kernels are held to.

    `device_fault` says why the device side cannot run alone, in a process without the host side; empty if it can.
    """

    host: bytes
    device: bytes
    limits: Mapping[str, LaunchLimits]
    device_fault: str


def join(host: HostModule, device_text: str, *, sanitize: bool = False, own_main: bool = False) -> Joined:
    """Return the two sides of a program; with `sanitize`, its kernels check their memory accesses.

    Only with `own_main` can other objects see its `main`: a `main` that people keep beside `solution` is not run.
    Raises ForeignAssemblyError, RefusedAssemblyError, UnknownIntrinsicError, and ValueError if clang's output is not
    understood.
    """
    back_end.initialise()
    host_object = _host_object(host, frozenset() if own_main else _MAIN)
    # For kernels only: host code does not gain from it.
    back_end.unroll_more()
    faults: list[str] = []

    def note_faults(module: Module) -> None:
        try:
            refuse_foreign_calls(module)
        except ForeignCallError as error:
            faults.append(str(error))

    device_object, limits = _device_object(host, device_text, note_faults, sanitize=sanitize)
    return Joined(host_object, device_object, limits, "".join(faults))


def join_kernels(host: HostModule, device_text: str) -> list[bytes]:
    """Return the object file of the kernels alone, with `wavepool_kernels` as their table and no host code.

    Raises ForeignAssemblyError, RefusedAssemblyError and UnknownIntrinsicError, and ForeignCallError if device code
    needs more than a device has.
    """
    back_end.initialise()
    back_end.unroll_more()
    alone = replace(host, variables=(), table=KERNEL_TABLE)
    return [_device_object(alone, device_text, refuse_foreign_calls)[0]]


def _host_object(host: HostModule, hidden: frozenset[str]) -> bytes:
    machine = back_end.target_machine()
    fitting = with_init_array(without_cpu_attributes(host.module.without_metadata("dbg")))
    module = back_end.parse(fitting.text)
    back_end.hide(module, hidden)
    back_end.optimise(module, machine, level=3)
    return back_end.object_file(module, machine)


def _device_object(
    host: HostModule,
    text: str,
    check: Callable[[Module], None],
    *,
    sanitize: bool = False,
) -> tuple[bytes, dict[str, LaunchLimits]]:
    module = device_module_from_text(text, [kernel.symbol for kernel in host.kernels])
    if module.assembly:
        raise ForeignAssemblyError(module.assembly[0])
    if refused := refused_assembly(module, [kernel_symbol(kernel.symbol) for kernel in host.kernels]):
        raise RefusedAssemblyError(*refused)
    if unknown := [symbol for symbol in sorted(module.module.declarations) if "llvm.amdgcn." in symbol]:
        raise UnknownIntrinsicError(unknown[0][unknown[0].index("llvm.amdgcn.") :].rstrip('"'))
    machine = back_end.target_machine()
    parsed = back_end.parse(module.module.text)
    limits = _limits(host, module, parsed, machine)
    # Public, so that LLVM keeps their parameters as the launch stubs expect them.
    kernels = frozenset(unescaped(plain(kernel_symbol(kernel.symbol))[1:]) for kernel in host.kernels)
    variables = frozenset(unescaped(variable.symbol) for variable in host.variables)
    back_end.internalise(parsed, kernels | variables)
    back_end.inline_everything(parsed, kernels)
    if sanitize:
        back_end.values_in_registers(parsed)
        joined, rows = sanitized(with_lockstep_stores(Module.from_text(str(parsed))), host.kernels, limits)
        dynamic: frozenset[str] = frozenset()
    else:
        back_end.optimise(parsed, machine, level=2, vectorise=False)
        back_end.name_everything(parsed, machine)
        joined, rows = with_forms(with_lockstep_stores(_admitted(Module.from_text(str(parsed)))), host.kernels, limits)
        dynamic = _with_dynamic_shared(host, module) if DYNAMIC_SHARED in joined.variables else frozenset()
    tables = [table(host, rows, dynamic)] if host.table else []
    final = back_end.parse(joined.followed_by(*tables).text)
    back_end.internalise(final, frozenset({host.table or "", *(PUBLIC if sanitize else ())}))
    back_end.optimise(final, machine, level=1 if sanitize else 3)
    check(Module.from_text(str(final)))
    return back_end.object_file(final, machine), limits


def _admitted(optimised: Module) -> Module:
    """Return an optimised module without its source lines; raises RefusedAssemblyError with one of them."""
    if refused := refused_modifiers(optimised):
        raise RefusedAssemblyError(*refused)
    return without_lines(optimised)


def _with_dynamic_shared(host: HostModule, module: DeviceModule) -> frozenset[str]:
    """Return the kernels that use dynamic shared memory."""
    symbols = [kernel.symbol for kernel in host.kernels]
    return frozenset(symbol for symbol in symbols if uses_dynamic_shared(module, kernel_symbol(symbol)))


def _limits(host: HostModule, module: DeviceModule, parsed: LlvmModule, machine: Machine) -> dict[str, LaunchLimits]:
    """Return what launches of each kernel are held to."""
    data = machine.target_data
    sizes = {
        f"@{variable.name}": data.get_abi_size(variable.global_value_type)
        for variable in parsed.global_variables
        if f"@{variable.name}" in module.shared
    }
    return {
        kernel.symbol: LaunchLimits(
            sum(sizes[name] for name in shared_variables_of(module, kernel_symbol(kernel.symbol))),
            module.most_threads.get(kernel.symbol, 0),
        )
        for kernel in host.kernels
    }
