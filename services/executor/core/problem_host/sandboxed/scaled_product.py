"""`torch.nn.functional.scaled_mm` on the processor, for formats that torch supports only on GPUs."""

# pyright: basic
# Types are checked without torch, and nearly all types here are torch's.

from __future__ import annotations

import importlib
import inspect
from typing import Any

torch: Any = importlib.import_module("torch")
_functional: Any = importlib.import_module("torch.nn.functional")
_SIGNATURE = inspect.signature(_functional.scaled_mm)
# The values of e2m1, by its four bits.
_E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0)
# Swizzled scales lie in tiles of this size, each laid out as 32 x 4 x 4.
_TILE_ROWS, _TILE_COLUMNS = 128, 4


def scaled_mm(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  torch has no types here
    """mat_a @ mat_b with their scales, computed in float; raises NotImplementedError for formats unknown here."""
    bound = _SIGNATURE.bind(*args, **kwargs)
    bound.apply_defaults()
    given = bound.arguments
    if len(given["contraction_dim"]):
        raise NotImplementedError("scaled_mm: contraction_dim is not known on the processor")
    left = _scaled(given["mat_a"], given["scale_a"], given["scale_recipe_a"], given["swizzle_a"])
    right = _scaled(given["mat_b"].t(), given["scale_b"], given["scale_recipe_b"], given["swizzle_b"])
    product = left @ right.t()
    if given["bias"] is not None:
        product = product + given["bias"]
    return product.to(given["output_dtype"])


def _scaled(matrix: Any, scales: Any, recipes: Any, swizzles: Any) -> Any:  # noqa: ANN401
    """The rows to multiply, as floats, with every kind of scale applied to each element."""
    values = _unpacked(matrix)
    swizzles = _list(swizzles) or [_functional.SwizzleType.NO_SWIZZLE] * len(_list(scales))
    for scale, recipe, swizzle in zip(_list(scales), _list(recipes), swizzles, strict=True):
        values = values * _spread(scale.float(), recipe, swizzle, values.shape)
    return values


def _unpacked(matrix: Any) -> Any:  # noqa: ANN401
    if matrix.dtype is not torch.float4_e2m1fn_x2:
        return matrix.float()
    pairs = matrix.contiguous().view(torch.uint8)
    codes = torch.stack((pairs & 15, pairs >> 4), dim=-1).reshape(pairs.shape[0], -1)
    return torch.tensor(_E2M1)[codes.long()]


def _spread(scale: Any, recipe: Any, swizzle: Any, shape: Any) -> Any:  # noqa: ANN401
    kinds = _functional.ScalingType
    rows, columns = shape
    if recipe == kinds.TensorWise:
        return scale.reshape(1, 1)
    if recipe == kinds.RowWise:
        return scale.reshape(rows, 1)
    block = {kinds.BlockWise1x16: 16, kinds.BlockWise1x32: 32}.get(recipe)
    if block is None:
        raise NotImplementedError(f"scaled_mm: {recipe} is not known on the processor")
    blocks = -(-columns // block)
    if swizzle == _functional.SwizzleType.SWIZZLE_32_4_4:
        tiles = -(-rows // _TILE_ROWS), -(-blocks // _TILE_COLUMNS)
        laid = scale.reshape(*tiles, 32, 4, _TILE_COLUMNS).permute(0, 3, 2, 1, 4)
        scale = laid.reshape(tiles[0] * _TILE_ROWS, tiles[1] * _TILE_COLUMNS)[:rows, :blocks]
    return scale.reshape(rows, blocks).repeat_interleave(block, dim=1)[:, :columns]


def _list(value: Any) -> list[Any]:  # noqa: ANN401
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]
