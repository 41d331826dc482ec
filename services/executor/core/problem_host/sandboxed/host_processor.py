"""Lets definitions that ask for a GPU work on the host's processor: it holds their tensors on `cuda`.

A definition that asks is told that such tensors are on `cuda`, as some check it; torch and other packages are not.
"""

# pyright: basic
# Types are checked without torch, and nearly all types here are torch's.

from __future__ import annotations

import importlib
import sys
from typing import Any

from author_class import FILE_NAME
from deadline import raise_if_up
from operation_count import tensors_in
from scaled_product import scaled_mm

torch: Any = importlib.import_module("torch")
_overrides: Any = importlib.import_module("torch.overrides")
_GPU = torch.device("cuda", 0)
_MARK = "_wavepool_is_on_gpu"
# The answers of a tensor on a GPU.
_SAID = {
    torch.Tensor.device.__get__: _GPU,
    torch.Tensor.is_cuda.__get__: True,
    torch.Tensor.is_cpu.__get__: False,
    torch.Tensor.get_device: _GPU.index,
}


class HostProcessorMode(_overrides.TorchFunctionMode):  # type: ignore[misc]
    """Sends the GPU work of its block to `place`: `cpu`, or `meta`, where tensors have no elements."""

    def __init__(self, place: str = "cpu") -> None:
        super().__init__()
        self._place = place

    def __torch_function__(self, function: Any, _: Any, args: Any = (), kwargs: Any = None) -> Any:  # noqa: ANN401
        kwargs = kwargs or {}
        raise_if_up()
        if function in _SAID and _is_on_gpu(args[0]) and _asked_by_definition():
            return _SAID[function]
        target = _target(function, args, kwargs)
        if function is torch.Tensor.cuda or (function is torch.Tensor.cpu and args[0].is_meta):
            result = args[0].to(self._place)
        else:
            changed = {name: self._there(value) for name, value in kwargs.items()}
            result = function(*(self._there(value) for value in args), **changed)
        if target is None:
            if any(map(_is_on_gpu, tensors_in((args, kwargs)))):
                _mark_as_on_gpu(result)
            return result
        if any(result is value for value in args) and _is_on_gpu(result) is not (target == "gpu"):
            # Between the two memories there is always a copy.
            result = result.clone()
        if target == "gpu":
            _mark_as_on_gpu(result)
        return result

    def _there(self, value: Any) -> Any:  # noqa: ANN401  any argument of any torch function
        return self._place if _place_named(value) == "gpu" else value


class _Generator(torch.Generator):  # type: ignore[misc]
    def __new__(cls, device: Any = "cpu") -> Any:  # noqa: ANN401
        return super().__new__(cls, "cpu" if _place_named(device) == "gpu" else device)


def install() -> None:
    """Replace the parts of torch that the mode does not see, and those that only GPUs have."""
    torch.Generator = _Generator
    for name in ("synchronize", "empty_cache", "manual_seed", "manual_seed_all"):
        setattr(torch.cuda, name, lambda *_, **__: None)
    torch.nn.functional.scaled_mm = scaled_mm


def _mark_as_on_gpu(value: Any) -> None:  # noqa: ANN401
    """Mark tensors, so that definitions are told that they are on a GPU."""
    for tensor in tensors_in(value):
        setattr(tensor, _MARK, True)


def _is_on_gpu(value: Any) -> bool:  # noqa: ANN401
    return _MARK in getattr(value, "__dict__", ())


def _target(function: Any, args: Any, kwargs: Any) -> str | None:  # noqa: ANN401
    """`gpu` or `cpu` if the call names the memory for its result; otherwise None."""
    if function is torch.Tensor.cuda:
        return "gpu"
    if function is torch.Tensor.cpu:
        return "cpu"
    return next(filter(None, map(_place_named, (*args, *kwargs.values()))), None)


def _place_named(value: Any) -> str | None:  # noqa: ANN401
    if not isinstance(value, str | torch.device):
        return None
    name = str(value).split(":")[0]
    return "gpu" if name in {"cuda", "hip"} else name if name == "cpu" else None


def _asked_by_definition() -> bool:
    return sys._getframe(2).f_code.co_filename == FILE_NAME  # noqa: SLF001  the way to see a caller
