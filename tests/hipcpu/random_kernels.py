"""Programs of random kernels without races, which print a digest of the data that each launch wrote.

Barriers and cross-lane operations stand only in code that all threads of a block reach: inside conditions and loops on
`n`, `u` and `blockIdx`, which are the same for all threads. Values that differ between threads steer the rest. Numbers
are unsigned, because they overflow.
"""

from __future__ import annotations

from random import Random

_BLOCKS = (64, 96, 128, 256)
_COUNTS = (0, 3, 6, 13)
_DEEPEST = 3
_BARRIERS = (
    "__syncthreads();",
    "__syncthreads(); s[t] = mine[t]; __syncthreads();",
    "atomicAdd(&sum, a & 7); __syncthreads(); b += sum; __syncthreads();",
    "a += __shfl_xor(b, {width});",
    "b ^= __shfl_down(a, {width});",
    "b += __shfl_up(a, 1, 16);",
    "a += __shfl(b, {lane});",
    "a += __popcll(__ballot(b & 1));",
    "b += __syncthreads_count(a & 1);",
    "u += 1;",
)
_BEFORE = """#include <hip/hip_runtime.h>
#include <stdio.h>
static int written[1 << 14];
static void tell(int kernel, int n, int* o) {
  const int status = hipDeviceSynchronize();
  (void)hipMemcpy(written, o, sizeof written, hipMemcpyDeviceToHost);
  unsigned long long digest = 14695981039346656037ull;
  for (int each : written) digest = (digest ^ (unsigned)each) * 1099511628211ull;
  printf("kernel %d, n = %d: status %d, %016llx\\n", kernel, n, status, digest);
  (void)hipMemset(o, 0, sizeof written);
}
"""


class _Writer:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._loops = 0

    def kernel(self, number: int) -> str:
        block = self._random.choice(_BLOCKS)
        return (
            f"__global__ void k{number}(int* o, int n) {{ constexpr int B = {block}; "
            "__shared__ unsigned s[B], mine[B], sum; const unsigned t = threadIdx.x; "
            "unsigned a = t * 7, b = n - t, u = 0; s[t] = t; mine[t] = n * t; "
            f"if (t == 0) sum = 0; __syncthreads(); {self._statements(0, uniform=True)} __syncthreads(); "
            f"o[blockIdx.x * B + t] = a ^ b ^ mine[t] ^ u; }}\nconst int B{number} = {block};"
        )

    def _statements(self, depth: int, *, uniform: bool) -> str:
        return " ".join(self._statement(depth, uniform=uniform) for _ in range(self._random.randint(1, 4)))

    def _statement(self, depth: int, *, uniform: bool) -> str:
        kind = self._random.choices(("assign", "keep", "barrier", "if", "loop"), (3, 1, 2, 2, 2))[0]
        if kind == "barrier" and uniform:
            width, lane = self._random.choice((1, 2, 8, 16, 32)), self._random.randint(0, 63)
            return self._random.choice(_BARRIERS).format(width=width, lane=lane)
        if kind == "if" and depth < _DEEPEST:
            return self._branch(depth, uniform=uniform)
        if kind == "loop" and depth < _DEEPEST:
            return self._loop(depth, uniform=uniform)
        return f"mine[t] = {self._value()};" if kind == "keep" else f"{self._random.choice('ab')} += {self._value()};"

    def _branch(self, depth: int, *, uniform: bool) -> str:
        if uniform and self._random.random() < 0.6:
            number = self._random.randint(0, 9)
            condition = self._random.choice((f"n > {number}", f"n & {number}", f"u > {number}", "blockIdx.x == 1"))
            ways = [self._statements(depth + 1, uniform=True) for _ in range(2)]
            return f"if ({condition}) {{ {ways[0]} }} else {{ {ways[1]} }}"
        condition = self._random.choice(("t % 3 == 1", "t < 40", "a > b", "(a & 1) == 0", "t == 0"))
        return f"if ({condition}) {{ {self._statements(depth + 1, uniform=False)} }}"

    def _loop(self, depth: int, *, uniform: bool) -> str:
        self._loops += 1
        i, least = f"i{self._loops}", self._random.randint(0, 3)
        if uniform and self._random.random() < 0.6:
            leave = self._random.choice(("", "if (u > 9) break;", f"if ({i} == n) continue;"))
            body = f"{leave} {self._statements(depth + 1, uniform=True)}"
            return f"for (int {i} = 0; {i} < (n & 7) + {least}; ++{i}) {{ {body} }}"
        body = self._statements(depth + 1, uniform=False)
        return f"for (int {i} = t % 3; {i} < {least + 5}; ++{i}) {{ {body} }}"

    def _value(self, depth: int = 0) -> str:
        if depth == _DEEPEST or self._random.random() < 0.35:
            shared = f"s[(t + {self._random.randint(0, 70)}) % B]"
            return self._random.choice(("t", "a", "b", "n", "blockIdx.x", str(self._random.randint(0, 9)), shared))
        return f"({self._value(depth + 1)} {self._random.choice('+-*^&|')} {self._value(depth + 1)})"


def random_program(seed: int, kernels: int) -> str:
    """A program of this many kernels, each launched with several counts, by blocks of known and of unknown shape."""
    writer = _Writer(Random(seed))  # noqa: S311 - a test's choice, made again from its seed
    lines = [_BEFORE, *(writer.kernel(number) for number in range(kernels)), "int main(int count, char**) {"]
    lines.append("  int* o; (void)hipMalloc(&o, sizeof written); (void)hipMemset(o, 0, sizeof written);")
    for number in range(kernels):
        launches = ((n, block) for n in _COUNTS for block in (f"B{number}", f"B{number} * count"))
        lines += (f"  k{number}<<<2, {block}>>>(o, {n}); tell({number}, {n}, o);" for n, block in launches)
    return "\n".join([*lines, "}"])
