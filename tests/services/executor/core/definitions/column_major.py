import torch
from problem import Problem


class column_major(Problem):
    parameters = [
        {"name": "a", "type": "float", "pointer": True, "const": True},
        {"name": "c", "type": "float", "pointer": True, "const": False},
        {"name": "m", "type": "int", "pointer": False, "const": False},
        {"name": "k", "type": "int", "pointer": False, "const": False},
    ]

    def reference_solution(self, a):
        return a.sum(1)

    def generate_test_cases(self):
        return [{"name": "64x48", "m": 64, "k": 48, "create_inputs": lambda: (torch.randn(48, 64, device="cuda").T,)}]

    def verify_result(self, expected, actual):
        return torch.allclose(actual, expected, rtol=1e-3, atol=1e-3), {}

    def get_extra_params(self, case):
        return [case["m"], case["k"]]
