import torch
from problem import Problem


class softmax(Problem):
    parameters = [
        {"name": "input", "type": "float", "pointer": True, "const": True},
        {"name": "dim", "type": "int", "pointer": False, "const": False},
        {"name": "output", "type": "float", "pointer": True, "const": False},
        {"name": "shape", "type": "size_t", "pointer": True, "const": True},
        {"name": "ndim", "type": "size_t", "pointer": False, "const": False},
    ]

    def reference_solution(self, input_tensor, dim):
        return torch.nn.functional.softmax(input_tensor, dim=dim)

    def generate_test_cases(self):
        cases = []
        for shape, dim in (((16, 33), 1), ((5, 6, 7), 1)):
            seed = Problem.get_seed(f"{shape} {dim}")
            cases.append({
                "name": f"shape={shape}, dim={dim}",
                "shape": shape,
                "dim": dim,
                "create_inputs": lambda shape=shape, dim=dim, seed=seed: (
                    torch.randn(shape, device="cuda", generator=torch.Generator("cuda").manual_seed(seed)),
                    dim,
                ),
            })
        return cases

    def get_extra_params(self, test_case):
        return [list(test_case["shape"]), len(test_case["shape"])]

    def verify_result(self, expected, actual):
        return torch.allclose(actual, expected, rtol=1e-4, atol=1e-6), {}
