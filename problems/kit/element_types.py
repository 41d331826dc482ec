"""The floating-point types that a problem can be defined in: their C and numpy types, precision and header."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import ml_dtypes
import numpy as np

_FLOAT_BYTES = 4


@dataclass(frozen=True)
class ElementType:
    """A floating-point type. `spellings` are its names in C, the first of them ours; `header` declares them."""

    name: str
    dtype: np.dtype[Any]
    spellings: tuple[str, ...]
    header: str = ""

    @property
    def ctype(self) -> str:
        """The name that our own sources use."""
        return self.spellings[0]

    @property
    def eps(self) -> float:
        """The spacing of its values at 1."""
        return spacing_at_one(self.dtype)


# float8 without more is what the nvfp4 problems of the catalogue call their scales. The fnuz types are those of the
# MI300X's matrix units, the others the OCP's.
ELEMENT_TYPES: Mapping[str, ElementType] = {
    element.name: element
    for element in (
        ElementType("float32", np.dtype(np.float32), ("float",)),
        ElementType("float64", np.dtype(np.float64), ("double",)),
        ElementType("float16", np.dtype(np.float16), ("__half", "half", "_Float16", "float16"), "hip/hip_fp16.h"),
        ElementType(
            "bfloat16",
            np.dtype(ml_dtypes.bfloat16),
            ("__hip_bfloat16", "hip_bfloat16", "__nv_bfloat16", "nv_bfloat16"),
            "hip/hip_bf16.h",
        ),
        ElementType("float8_e4m3fnuz", np.dtype(ml_dtypes.float8_e4m3fnuz), ("__hip_fp8_e4m3_fnuz",), "hip/hip_fp8.h"),
        ElementType("float8_e5m2fnuz", np.dtype(ml_dtypes.float8_e5m2fnuz), ("__hip_fp8_e5m2_fnuz",), "hip/hip_fp8.h"),
        ElementType(
            "float8_e4m3fn",
            np.dtype(ml_dtypes.float8_e4m3fn),
            ("__hip_fp8_e4m3", "__nv_fp8_e4m3", "float8"),
            "hip/hip_fp8.h",
        ),
        ElementType(
            "float8_e5m2", np.dtype(ml_dtypes.float8_e5m2), ("__hip_fp8_e5m2", "__nv_fp8_e5m2"), "hip/hip_fp8.h"
        ),
    )
}
"""Every floating-point type, by the name that people ask for it with."""

_FLOAT_POINTER = re.compile(r"\bfloat(?=(?:\s+const)?\s*\*)")
_FIRST_INCLUDE = re.compile(r"^#include <hip/hip_runtime\.h>\n", re.MULTILINE)


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Whether elements are floating-point numbers, those that numpy itself does not know included."""
    return np.issubdtype(dtype, np.floating) or any(dtype == element.dtype for element in ELEMENT_TYPES.values())


def spacing_at_one(dtype: np.dtype[Any]) -> float:
    """The eps of a floating-point type: 2^-23 for float, 2^-10 for half, 2^-7 for bfloat16."""
    return float(cast("Any", ml_dtypes.finfo(dtype)).eps)


def largest_finite(dtype: np.dtype[Any]) -> float:
    """The largest number of a floating-point type."""
    return float(cast("Any", ml_dtypes.finfo(dtype)).max)


def underflow(dtype: np.dtype[Any]) -> float:
    """How far off a result may be that is too small for full precision.

    Devices may flush those of float and bfloat16 to zero: the smallest normal number. HIP keeps the small results of
    half and narrower types, by default: one spacing of theirs.
    """
    figures = cast("Any", ml_dtypes.finfo(dtype))
    flushes = dtype.itemsize >= _FLOAT_BYTES or dtype == ELEMENT_TYPES["bfloat16"].dtype
    return float(figures.smallest_normal if flushes else figures.smallest_subnormal)


def with_element_type(text: str, element: ElementType) -> str:
    """C text with every pointer to float made one to another type; scalars and arrays stay float.

    Reading such an element gives a float, and a float that is stored is rounded to it: the arithmetic in between stays
    what it was.
    """
    return _FLOAT_POINTER.sub(element.ctype, text)


def source_with_element_type(source: str, element: ElementType) -> str:
    """A whole HIP source in another type: pointers changed, and the type's header included."""
    included = _FIRST_INCLUDE.sub(lambda found: f"{found[0]}#include <{element.header}>\n", source, count=1)
    return with_element_type(included, element)
