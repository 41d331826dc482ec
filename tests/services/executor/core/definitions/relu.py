import torch
from problem import Problem


class relu(Problem):
    is_exact = False
    parameters = [
        {"name": "input", "type": "float", "pointer": True, "const": True},
        {"name": "output", "type": "float", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
        {"name": "m", "type": "size_t", "pointer": False, "const": False},
    ]

    def __init__(self):
        super().__init__(name="relu", time_limit=5)

    def reference_solution(self, input_matrix):
        with torch.no_grad(), torch.autocast("cuda", enabled=False):
            return torch.relu(input_matrix)

    def generate_test_cases(self):
        cases = []
        for m, n in ((64, 33), (128, 100), (4096, 8192)):
            seed = Problem.get_seed(f"{self.name}_{m}_{n}")
            cases.append(
                {
                    "name": f"{m}x{n}",
                    "rows": m,
                    "cols": n,
                    "create_inputs": lambda m=m, n=n, seed=seed: (self._draw(m, n, seed),),
                }
            )
        return cases

    def _draw(self, m, n, seed):
        generator = torch.Generator(device="cuda").manual_seed(seed)
        return torch.rand((m, n), device="cuda", dtype=self.param_dtype(0), generator=generator) * 10.0 - 5.0

    def generate_sample(self):
        return {
            "name": "sample",
            "rows": 2,
            "cols": 4,
            "create_inputs": lambda: (torch.arange(-4, 4, device="cuda", dtype=torch.float32).reshape(2, 4),),
        }

    def verify_result(self, expected_output, actual_output):
        close = torch.allclose(actual_output, expected_output, rtol=1e-5, atol=1e-5)
        debug = {}
        if not close:
            difference = torch.abs(actual_output - expected_output)
            debug = {"max_difference": difference.max().item(), "message": "too far off"}
        return close, debug

    def get_flops(self, test_case):
        return test_case["rows"] * test_case["cols"]

    def get_extra_params(self, test_case):
        return [test_case["cols"], test_case["rows"]]
