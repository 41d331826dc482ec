import torch
from problem import Problem


class matrix_multiplication(Problem):
    parameters = [
        {"name": "a", "type": "float", "pointer": True, "const": True},
        {"name": "b", "type": "float", "pointer": True, "const": True},
        {"name": "c", "type": "float", "pointer": True, "const": False},
        {"name": "m", "type": "size_t", "pointer": False, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
        {"name": "k", "type": "size_t", "pointer": False, "const": False},
    ]

    def reference_solution(self, a, b):
        return torch.matmul(a, b)

    def generate_test_cases(self):
        return [
            {
                "name": f"{m}x{k} x {k}x{n}",
                "M": m,
                "N": n,
                "K": k,
                "create_inputs": lambda m=m, n=n, k=k: (
                    torch.randn(m, k, device="cuda"),
                    torch.randn((k, n), device=torch.device("cpu")).cuda(),
                ),
            }
            for m, n, k in ((33, 17, 65), (64, 64, 64), (8192, 8192, 8192))
        ]

    def get_flops(self, test_case):
        return 2 * test_case["M"] * test_case["N"] * test_case["K"]

    def verify_result(self, expected, actual):
        return torch.allclose(actual, expected, rtol=1e-4, atol=1e-3), {}
