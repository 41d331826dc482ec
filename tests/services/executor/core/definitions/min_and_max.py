import ctypes

import torch
from problem import Problem


class min_and_max(Problem):
    parameters = [
        {"name": "int", "type": "half", "pointer": True, "const": True},
        {"name": "low", "type": "half", "pointer": True, "const": False},
        {"name": "high", "type": "float", "pointer": True, "const": False},
        {"name": "weights", "type": "uint8_t", "pointer": True, "const": True},
        {"name": "rows", "type": "uint32_t", "pointer": False, "const": False},
        {"name": "cols", "type": "uint32_t", "pointer": False, "const": False},
    ]

    def reference_solution(self, values):
        low, high = torch.aminmax(values.float(), dim=1)
        return low.half(), high * self.weight

    def generate_test_cases(self):
        self.weight = 3
        return [
            {"name": "rows", "rows": 40, "cols": 21, "create_inputs": lambda: (torch.randn(40, 21).to("cuda").half(),)},
        ]

    def get_extra_params(self, test_case):
        return [(ctypes.c_uint8 * 1)(self.weight), test_case["rows"], test_case["cols"]]

    def verify_result(self, expected, actual):
        assert len(expected) == len(actual) == 2
        assert actual[0].dtype == torch.float16 and actual[1].dtype == torch.float32
        return all(torch.equal(left, right) for left, right in zip(expected, actual)), {"several": True}
