import torch
from problem import Problem


class everything(Problem):
    """Uses every part of the base class that is meant for authors, and checks which device its tensors are on."""

    parameters = [
        {"name": "codes", "type": "float8", "pointer": True, "const": True},
        {"name": "pairs", "type": "float4", "pointer": True, "const": True},
        {"name": "weights", "type": "uint64_t", "pointer": True, "const": True},
        {"name": "total", "type": "uint64_t", "pointer": True, "const": False},
        {"name": "same", "type": "float8", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
    ]

    def __init__(self):
        super().__init__(name="everything")
        assert self.time_limit == 100
        assert not self.supports_flops()

    def reference_solution(self, codes, pairs, weights):
        assert codes.device.type == "cuda" and codes.is_cuda and not codes.is_cpu and weights.get_device() == 0
        assert (weights + 1).device == torch.zeros(1, device=weights.device).device
        assert codes.float().cpu().device.type == "cpu" and torch.zeros(3).device.type == "cpu"
        assert torch.zeros(3).cuda().device.type == "cuda" and torch.zeros(3).to(codes.device).is_cuda
        moved = torch.zeros(3)
        moved.cuda().fill_(1.0)
        assert moved.sum() == 0, "a move is a copy"
        low, high = pairs.view(torch.uint8) & 15, pairs.view(torch.uint8) >> 4
        return (weights * (low + high).long() * 2**40).sum().reshape(1), codes

    def generate_test_cases(self):
        def create(n):
            assert self.param_dtype("weights") is self.param_dtype("n") is torch.int64
            assert self.param_dtype("codes") is self.param_dtype(0) is torch.float8_e4m3fn
            assert self.param_dtype("pairs") is torch.float4_e2m1fn_x2
            generator = torch.Generator(device="cuda").manual_seed(Problem.get_seed(f"{self.name} {n}"))
            codes = torch.rand(n, device="cuda", generator=generator).to(self.param_dtype("codes"))
            pairs = torch.randint(0, 256, (n,), dtype=torch.uint8, device="cuda", generator=generator)
            weights = torch.randint(0, 999, (n,), dtype=self.param_dtype("weights"), device="cuda", generator=generator)
            return codes, pairs.view(torch.float4_e2m1fn_x2), weights

        return [{"name": f"n = {n}", "n": n, "create_inputs": lambda n=n: create(n)} for n in (5, 1000)]

    def verify_result(self, expected, actual):
        assert actual[0].dtype is expected[0].dtype is torch.int64
        assert actual[1].dtype is expected[1].dtype is torch.float8_e4m3fn
        return all(torch.equal(a.view(torch.uint8), b.view(torch.uint8)) for a, b in zip(expected, actual)), {}
