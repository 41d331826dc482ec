import torch
from problem import Problem


class argmax(Problem):
    is_exact = True
    parameters = [
        {"name": "input", "type": "float", "pointer": True, "const": True},
        {"name": "dim", "type": "int", "pointer": False, "const": False},
        {"name": "output", "type": "int", "pointer": True, "const": False},
        {"name": "shape", "type": "int", "pointer": True, "const": True},
        {"name": "ndim", "type": "int", "pointer": False, "const": False},
    ]

    def reference_solution(self, input_tensor, dim):
        return torch.argmax(input_tensor, dim=dim).to(torch.int32)

    def generate_test_cases(self):
        return [
            {
                "name": f"shape={shape}, dim={dim}",
                "shape": shape,
                "dim": dim,
                "create_inputs": lambda shape=shape, dim=dim: (torch.rand(shape, device="cuda"), dim),
            }
            for shape, dim in (((7, 12, 5), 1), ((9, 31), 0))
        ]

    def get_extra_params(self, test_case):
        return [torch.tensor(test_case["shape"], dtype=torch.int64), len(test_case["shape"])]

    def verify_result(self, expected, actual):
        return torch.equal(expected, actual), {"wrong": (expected != actual).sum()}
