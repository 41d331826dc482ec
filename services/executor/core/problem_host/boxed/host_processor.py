"""Lets definitions that ask for a GPU work on the host's processor: `device="cuda"` means `cpu` here."""

# pyright: basic
# torch is not installed where types are checked, and everything here is its.

from __future__ import annotations

import importlib
from typing import Any

torch: Any = importlib.import_module("torch")
_overrides: Any = importlib.import_module("torch.overrides")


def _on_cpu(value: Any) -> Any:  # noqa: ANN401  any argument of any torch function
    if isinstance(value, str) and value.split(":")[0] in {"cuda", "hip"}:
        return "cpu"
    return torch.device("cpu") if isinstance(value, torch.device) else value


class HostProcessorMode(_overrides.TorchFunctionMode):  # type: ignore[misc]
    """Every torch function in its block works on the cpu."""

    def __torch_function__(self, function: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        if function is torch.Tensor.cuda:
            return args[0]
        changed = {name: _on_cpu(value) for name, value in (kwargs or {}).items()}
        return function(*(_on_cpu(value) for value in args), **changed)


class _Generator(torch.Generator):  # type: ignore[misc]
    def __new__(cls, device: Any = "cpu") -> Any:  # noqa: ANN401
        return super().__new__(cls, _on_cpu(device))


def install() -> None:
    """Replace what the mode does not see."""
    torch.Generator = _Generator
    for name in ("synchronize", "empty_cache", "manual_seed", "manual_seed_all"):
        setattr(torch.cuda, name, lambda *_, **__: None)
