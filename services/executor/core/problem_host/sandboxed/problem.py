"""The base class of problem definitions, which authors import with `from problem import Problem`."""

# pyright: basic
# Types are checked without torch, and nearly all types here are torch's.

from __future__ import annotations

import hashlib
import importlib
from typing import Any

torch: Any = importlib.import_module("torch")

# The torch type that is passed to `solution`, by the C type that a parameter is declared with.
DTYPES: dict[str, Any] = {
    "float": torch.float32,
    "double": torch.float64,
    "half": torch.float16,
    "__half": torch.float16,
    "float16": torch.float16,
    "__hip_bfloat16": torch.bfloat16,
    "hip_bfloat16": torch.bfloat16,
    "__nv_bfloat16": torch.bfloat16,
    "__hip_fp8_e4m3_fnuz": torch.float8_e4m3fnuz,
    "__hip_fp8_e5m2_fnuz": torch.float8_e5m2fnuz,
    "__hip_fp8_e4m3": torch.float8_e4m3fn,
    "__hip_fp8_e5m2": torch.float8_e5m2,
    "bool": torch.bool,
    "int": torch.int32,
    "int8_t": torch.int8,
    "int16_t": torch.int16,
    "int32_t": torch.int32,
    "int64_t": torch.int64,
    "uint8_t": torch.uint8,
    "uint16_t": torch.uint16,
    "uint32_t": torch.uint32,
    "uint64_t": torch.uint64,
    "unsigned": torch.uint32,
    "unsigned int": torch.uint32,
    "size_t": torch.uint64,
}

# Other names of types, as torch and people write them.
ALIASES = {
    "bfloat16": "__hip_bfloat16",
    "nv_bfloat16": "__hip_bfloat16",
    "float8_e4m3fnuz": "__hip_fp8_e4m3_fnuz",
    "float8_e5m2fnuz": "__hip_fp8_e5m2_fnuz",
    "float8_e4m3fn": "__hip_fp8_e4m3",
    "float8_e5m2": "__hip_fp8_e5m2",
}
# Narrow types; torch has several of each name, and the bytes of any of them are passed.
OPAQUE = frozenset({"float8", "float4"})
# The types that authors make tensors of, if they differ from those that are passed: torch does little with unsigned
# numbers. The bits are the same.
_AUTHORS_DTYPES = {
    **DTYPES,
    **{alias: DTYPES[name] for alias, name in ALIASES.items()},
    "uint32_t": torch.int32,
    "uint64_t": torch.int64,
    "size_t": torch.int64,
    "float8": torch.float8_e4m3fn,
    "float4": torch.float4_e2m1fn_x2,
}
_SEED_LIMIT = 1 << 31


class Problem:
    """A problem by its author; these methods are the defaults for a definition."""

    is_exact = False
    time_limit: float = 100.0
    parameters: list[dict[str, Any]] | None = None
    is_timed = False
    """Set by us: True if the run times calls."""
    returned_inputs: frozenset[int] = frozenset()
    """The places of inputs that the reference returns, which are outputs of `solution`."""
    call_seed = 0
    """Set by us, differently for each call; the result of `get_seed` changes with it."""

    def __init__(self, name: str = "", time_limit: float | None = None) -> None:
        self.name = name or type(self).__name__
        if time_limit is not None:
            self.time_limit = time_limit

    @staticmethod
    def get_seed(text: str = "") -> int:
        """A seed for a case's inputs, different for every call."""
        digest = hashlib.sha256(f"{Problem.call_seed} {text}".encode(errors="replace")).digest()
        return int.from_bytes(digest[:8], "little") % _SEED_LIMIT

    def param_dtype(self, key: str | int) -> Any:  # noqa: ANN401  torch has no types here
        """The torch type of a parameter, by name or index; raises ValueError, KeyError or IndexError."""
        if not self.parameters:
            raise ValueError("param_dtype: this class has no `parameters`")
        if isinstance(key, int):
            return _AUTHORS_DTYPES.get(self.parameters[key]["type"], torch.float32)
        for parameter in self.parameters:
            if parameter["name"] == key:
                return _AUTHORS_DTYPES.get(parameter["type"], torch.float32)
        raise KeyError(f"param_dtype: no parameter is called {key!r}")

    def get_flops(self, test_case: dict[str, Any]) -> float | None:
        """The operations of a test case; None if they are not known."""
        del test_case

    def supports_flops(self) -> bool:
        """True if the class counts operations itself."""
        return type(self).get_flops is not Problem.get_flops

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        """The parameters after the outputs. If a class does not define this, the test case has them by name."""
        del test_case
        return []

    def inputs_of(self, test_case: dict[str, Any]) -> tuple[Any, ...]:
        """The inputs of the reference for a test case."""
        return _tuple(test_case["create_inputs"]())

    def data_places(self, inputs: int) -> list[int]:
        """The places of those parameters that are a contest's data; empty if the class is none of a contest."""
        del inputs
        return []

    def settle(self, test_case: dict[str, Any]) -> None:
        """Called once the reference of a case is known."""
        del test_case

    def verify_result(self, expected: Any, actual: Any) -> tuple[bool, dict[str, Any]]:  # noqa: ANN401
        """Compares with the reference: the outputs must be close or, if the problem is exact, equal."""
        pairs = zip(_tuple(expected), _tuple(actual), strict=True)
        differences = [(right.double() - got.double()).abs() for right, got in pairs]
        largest = max((float(difference.max()) for difference in differences if difference.numel()), default=0.0)
        if self.is_exact:
            return largest == 0.0, {"max_difference": largest}
        close = all(
            torch.allclose(got.double(), right.double(), rtol=1e-3, atol=1e-3)
            for right, got in zip(_tuple(expected), _tuple(actual), strict=True)
        )
        return close, {"max_difference": largest}


def _tuple(value: Any) -> tuple[Any, ...]:  # noqa: ANN401
    return tuple(value) if isinstance(value, tuple | list) else (value,)
