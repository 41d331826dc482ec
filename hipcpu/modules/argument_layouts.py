"""The size of each argument of a kernel, and which of its bytes are not padding.

Who keeps a launch, in a graph or in a recording, copies its arguments; padding holds whatever was there before.
"""

from __future__ import annotations

from typing import Any

from hipcpu.modules import back_end
from hipcpu.modules.host_module import HostModule, Kernel


def argument_masks(host: HostModule) -> dict[str, list[bytes]]:
    """Return a byte mask for each argument of each kernel: 0 for padding, and throughout if it has no value.

    A kernel whose arguments have unknown types is left out.
    """
    known = [kernel for kernel in host.kernels if all(kernel.argument_types)]
    lines = [
        f"@argument.{number}.{at} = external global {kind}"
        for number, kernel in enumerate(known)
        for at, kind in enumerate(kernel.argument_types)
    ]
    module = back_end.parse("\n".join([*host.module.type_lines, *lines, ""]))
    data = back_end.target_machine().target_data
    return {kernel.symbol: _masks(module, number, kernel, data) for number, kernel in enumerate(known)}


def _masks(module: back_end.LlvmModule, number: int, kernel: Kernel, data: Any) -> list[bytes]:  # noqa: ANN401 - llvmlite has no types
    filled = {place.index for place in kernel.places}
    masks: list[bytes] = []
    for at in range(len(kernel.argument_types)):
        kind = module.get_global_variable(f"argument.{number}.{at}").global_value_type
        mask = bytearray(data.get_abi_size(kind))
        if at in filled:
            _fill(mask, kind, 0, data)
        masks.append(bytes(mask))
    return masks


def _fill(mask: bytearray, kind: Any, at: int, data: Any) -> None:  # noqa: ANN401 - llvmlite has no types
    if kind.is_struct:
        for number, element in enumerate(kind.elements):
            _fill(mask, element, at + data.get_element_offset(kind, number), data)
    elif kind.is_array:
        element = next(iter(kind.elements))
        for number in range(kind.element_count):
            _fill(mask, element, at + number * data.get_abi_size(element), data)
    else:
        size = data.get_abi_size(kind)
        mask[at : at + size] = b"\x01" * size
