"""Counts the operations of a reference, in case its definition does not say how many a case has."""

# pyright: basic
# Types are checked without torch, and nearly all types here are torch's.

from __future__ import annotations

import importlib
from typing import Any

torch: Any = importlib.import_module("torch")
_formulas: Any = importlib.import_module("torch.utils.flop_counter").flop_registry
_modes: Any = importlib.import_module("torch.utils._python_dispatch")


class OperationCount(_modes.TorchDispatchMode):  # type: ignore[misc]
    """Adds up the operations of its block: products by torch's formulas, everything else as one for each element."""

    def __init__(self) -> None:
        super().__init__()
        self.total = 0.0

    def __torch_dispatch__(self, operator: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        kwargs = kwargs or {}
        result = operator(*args, **kwargs)
        formula = _formulas.get(operator._overloadpacket)  # noqa: SLF001  torch's own counter asks so, too
        if formula is not None:
            self.total += float(formula(*args, **kwargs, out_val=result))
        elif not _is_view(operator):
            counts = [tensor.numel() for tensor in tensors_in((args, kwargs, result))]
            # Reading from a table, or writing into it, does not touch the rest of the table.
            self.total += (min if operator.__name__.startswith("index") else max)(counts, default=0)
        return result


def tensors_in(value: Any) -> list[Any]:  # noqa: ANN401
    """All tensors among arguments or results, also those in lists, tuples and dicts."""
    if torch.is_tensor(value):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list | tuple):
        return []
    return [tensor for item in value for tensor in tensors_in(item)]


def _is_view(operator: Any) -> bool:  # noqa: ANN401
    aliases = [returned.alias_info for returned in operator._schema.returns]  # noqa: SLF001  there is no other way
    return any(alias is not None and not alias.is_write for alias in aliases)
