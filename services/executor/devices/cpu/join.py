"""Join the two sides of a HIP program into object files.

Theory of operation
-------------------
Clang parses the source twice, for the host's architecture both times: as the host side, where each kernel is a launch
stub, and as the kernel side, where only device code exists. The host side keeps HIP's real launch protocol:

    k<<<grid, block>>>(x)   calls the stub, which calls hipLaunchKernel(&handle of k, grid, block, {&x}, ...);
    a module constructor    passes __hipRegisterFatBinary a "fat binary" and registers (handle, "k") with it.

The fat binary is an external symbol. On a GPU it holds machine code; here the join defines it as a table of names and
addresses (`kernel_table.h`), so the host side needs no change at all. Our runtime implements the functions.

The kernel side is changed as text (`device_module`), since llvmlite cannot edit parsed modules; LLVM then parses and
verifies the result. Each kernel gets a thunk (`thunks`) that unpacks the array of argument addresses.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from services.executor.devices.cpu import back_end
from services.executor.devices.cpu.constructors import with_init_array
from services.executor.devices.cpu.device_module import (
    device_module_from_text,
    kernel_symbol,
    shared_variables_of,
    without_cpu_attributes,
)
from services.executor.devices.cpu.thunks import TableRow, table, thunk, thunk_symbol

if TYPE_CHECKING:
    import llvmlite.binding as llvm

    from services.executor.devices.cpu.device_module import DeviceModule
    from services.executor.devices.cpu.host_module import HostModule

_FORM_THREAD = 0


class ForeignAssemblyError(Exception):
    """Device code holds inline assembly, which is for another processor."""


def join(host: HostModule, device_text: str) -> list[bytes]:
    """The object files of a program; raises ForeignAssemblyError, and ValueError where clang's output is not as known."""
    back_end.initialise()
    with ThreadPoolExecutor(1) as pool:
        host_object = pool.submit(_host_object, host)
        device_object = _device_object(host, device_text)
        return [host_object.result(), device_object]


def _host_object(host: HostModule) -> bytes:
    machine = back_end.target_machine()
    module = back_end.parse(with_init_array(without_cpu_attributes(host.text)))
    back_end.optimise(module, machine, level=2)
    return back_end.object_file(module, machine)


def _device_object(host: HostModule, text: str) -> bytes:
    module = device_module_from_text(text, [kernel.symbol for kernel in host.kernels])
    if module.assembly:
        raise ForeignAssemblyError(module.assembly[0])
    thunks = [thunk(kernel, module) for kernel in host.kernels]
    machine = back_end.target_machine()
    sizes = _shared_sizes(module, machine)
    rows = [
        TableRow(
            kernel.symbol,
            thunk_symbol(kernel.symbol),
            _FORM_THREAD,
            sum(sizes[name] for name in shared_variables_of(module, kernel_symbol(kernel.symbol))),
        )
        for kernel in host.kernels
    ]
    tables = [table(host, rows)] if host.table else []
    parsed = back_end.parse("\n".join([module.text, *thunks, *tables]))
    back_end.internalise(parsed, frozenset({host.table or ""}))
    back_end.optimise(parsed, machine, level=3)
    return back_end.object_file(parsed, machine)


def _shared_sizes(module: DeviceModule, machine: llvm.TargetMachine) -> dict[str, int]:
    if not module.shared:
        return {}
    parsed = back_end.parse(module.text)
    data = machine.target_data
    return {
        f"@{v.name}": data.get_abi_size(v.global_value_type)
        for v in parsed.global_variables
        if f"@{v.name}" in module.shared or f'@"{v.name}"' in module.shared
    }
