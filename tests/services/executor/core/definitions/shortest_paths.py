import torch
from problem import Problem


class shortest_paths(Problem):
    """Work that grows with the cube of a side, without get_flops, on graphs that cannot be made without data."""

    is_exact = True
    parameters = [
        {"name": "lengths", "type": "float", "pointer": True, "const": True},
        {"name": "distances", "type": "float", "pointer": True, "const": False},
        {"name": "n", "type": "size_t", "pointer": False, "const": False},
    ]

    def reference_solution(self, lengths):
        distances = lengths.clone()
        for k in range(len(lengths)):
            distances = torch.minimum(distances, distances[:, k : k + 1] + distances[k : k + 1, :])
        return distances

    def generate_test_cases(self):
        return [{"name": f"n = {n}", "n": n, "create_inputs": lambda n=n: (self._graph(n),)} for n in (900, 40, 17)]

    def _graph(self, n):
        lengths = torch.randint(1, 100, (n, n), device="cuda").float()
        for node in range(3):
            lengths[torch.randint(0, n, (1,)).item(), node] = 1.0
        lengths[lengths > 90] = float("inf")
        return lengths
