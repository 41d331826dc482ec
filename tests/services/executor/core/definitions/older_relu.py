import ctypes
from typing import Any

import torch
from problem import Problem


class relu(Problem):
    def __init__(self):
        super().__init__(name="relu")

    def reference_solution(self, input_matrix: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            return torch.relu(input_matrix)

    def generate_test_cases(self, dtype: torch.dtype) -> list[dict[str, Any]]:
        return [
            {
                "name": f"{m}x{n}",
                "rows": m,
                "cols": n,
                "create_inputs": lambda m=m, n=n: (torch.rand((m, n), device="cuda", dtype=dtype) * 10.0 - 5.0,),
            }
            for m, n in [(64, 32), (33, 17)]
        ]

    def generate_sample(self, dtype: torch.dtype = torch.float32) -> list[dict[str, Any]]:
        values = [[1.0, -2.0], [-0.5, 3.0]]
        create = lambda: (torch.tensor(values, device="cuda", dtype=dtype),)
        return [{"name": "2x2", "rows": 2, "cols": 2, "create_inputs": create}]

    def verify_result(
        self, expected_output: torch.Tensor, actual_output: torch.Tensor, dtype: torch.dtype
    ) -> tuple[bool, dict[str, Any]]:
        return torch.allclose(actual_output, expected_output, rtol=1e-3, atol=1e-3), {}

    def get_function_signature(self) -> dict[str, Any]:
        pointer = ctypes.POINTER(ctypes.c_float)
        return {"argtypes": [pointer, pointer, ctypes.c_size_t, ctypes.c_size_t], "restype": None}

    def get_flops(self, test_case: dict[str, Any]) -> int:
        return test_case["rows"] * test_case["cols"]

    def get_extra_params(self, test_case: dict[str, Any]) -> list[Any]:
        return [test_case["rows"], test_case["cols"]]
