"""Kernels that do not do the work, made for any problem from its signature and its honest solution.

A problem that lets one of them pass is a bad problem. All of them are in one source, which acts on each call as a table
says: so that one compile and one runner serve all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from problems.definition import Case, Problem
    from problems.signature import Parameter

LAST_TILE_ELEMENTS = 16


class Lazy(IntEnum):
    """The ways of being lazy; PREPARE is an honest call whose answer PREVIOUS_ANSWER then gives again."""

    ZERO = 0
    CONSTANT = 1
    INPUT_COPY = 2
    MEAN = 3
    NOTHING_WRITTEN = 4
    MOST_OF_THE_WORK = 5
    WRONG_LAST_TILE = 6
    LOW_PRECISION = 7
    PREPARE = 8
    PREVIOUS_ANSWER = 9


@dataclass(frozen=True)
class LazyCall:
    """One entry of the table: how to be lazy, on a case with so many elements."""

    lazy: Lazy
    case: Case
    case_index: int


def lazy_calls(problem: Problem, cases: Sequence[Case]) -> list[LazyCall]:
    """The table: each way on each case."""
    ways = [way for way in Lazy if way is not Lazy.LOW_PRECISION or _has_float_output(problem)]
    return [LazyCall(way, case, index) for index, case in enumerate(cases) for way in ways]


def lazy_source(problem: Problem, honest: str, calls: Sequence[LazyCall]) -> str:
    """The HIP source that acts as `calls` say, in that order."""
    parameters = problem.parameters
    outputs = [parameter for parameter in parameters if parameter.output]
    source = next(parameter for parameter in parameters if parameter.pointer and not parameter.output)
    rows = ",\n  ".join(_row(problem, call, outputs, source) for call in calls)
    return (
        f"#define solution wavepool_honest\n{honest}\n#undef solution\n{_PRELUDE}\n"
        f"struct Call {{ int lazy; size_t input; size_t outputs[{len(outputs)}]; }};\n"
        f"static const Call table[] = {{\n  {rows}\n}};\nstatic size_t next_call = 0;\n}}\n\n"
        f'extern "C" void solution({", ".join(parameter.declaration for parameter in parameters)}) {{\n'
        "  using namespace wavepool_lazy;\n  const Call& call = table[next_call++];\n"
        f"{''.join(_saved(output, at) for at, output in enumerate(outputs))}"
        f"  if (call.lazy >= 5 && call.lazy <= 8) wavepool_honest({', '.join(p.name for p in parameters)});\n"
        f"{''.join(_act(output, at, source) for at, output in enumerate(outputs))}"
        "  (void)hipDeviceSynchronize();\n}\n"
    )


def _has_float_output(problem: Problem) -> bool:
    return any(parameter.output and parameter.ctype == "float" for parameter in problem.parameters)


def _row(problem: Problem, call: LazyCall, outputs: Sequence[Parameter], source: Parameter) -> str:
    shapes = problem.output_shapes(call.case)
    counts = ", ".join(str(math.prod(shapes[output.name])) for output in outputs)
    inputs = problem.inputs(call.case, np.random.default_rng(0))
    return f"{{{int(call.lazy)}, {np.size(inputs[source.name])}, {{{counts}}}}}"


def _saved(output: Parameter, at: int) -> str:
    n = f"call.outputs[{at}]"
    return f"  Tail<{output.ctype}> tail{at}({output.name}, {n}, unwritten(call.lazy, {n}));\n"


def _act(output: Parameter, at: int, source: Parameter) -> str:
    n = f"call.outputs[{at}]"
    return (
        f"  static {output.ctype}* previous{at} = nullptr;\n"
        f"  act(call.lazy, {output.name}, {n}, {source.name}, call.input, tail{at}, previous{at});\n"
    )


_PRELUDE = f"""
#include <stdlib.h>
#include <string.h>
namespace wavepool_lazy {{

template <typename T>
__global__ void fill(T* out, size_t n, T value) {{
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = value;
}}

template <typename T, typename S>
__global__ void copy(T* out, size_t n, const S* in, size_t m) {{
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = static_cast<T>(in[i % m]);
}}

__global__ void round_to_bf16(float* out, size_t n) {{
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  unsigned bits;
  memcpy(&bits, &out[i], 4);
  bits = (bits + 0x7fffu + ((bits >> 16) & 1u)) & 0xffff0000u;
  memcpy(&out[i], &bits, 4);
}}

inline unsigned blocks(size_t n) {{ return static_cast<unsigned>((n + 255) / 256); }}

inline void lower_precision(float* out, size_t n) {{ round_to_bf16<<<blocks(n), 256>>>(out, n); }}
template <typename T>
void lower_precision(T*, size_t) {{}}

inline size_t unwritten(int lazy, size_t n) {{
  if (lazy == 5) return n / 100 + 1;
  return n < {LAST_TILE_ELEMENTS} ? n : {LAST_TILE_ELEMENTS};
}}

// What the end of an output held before the honest solution wrote it.
template <typename T>
struct Tail {{
  T* at;
  size_t bytes;
  void* saved;
  Tail(T* out, size_t n, size_t count) : at(out + (n - count)), bytes(count * sizeof(T)), saved(malloc(bytes)) {{
    (void)hipMemcpy(saved, at, bytes, hipMemcpyDeviceToHost);
  }}
  ~Tail() {{ free(saved); }}
  void restore() {{ (void)hipMemcpy(at, saved, bytes, hipMemcpyHostToDevice); }}
}};

template <typename S>
double mean(const S* in, size_t m) {{
  S* host = static_cast<S*>(malloc(m * sizeof(S)));
  (void)hipMemcpy(host, in, m * sizeof(S), hipMemcpyDeviceToHost);
  double sum = 0;
  for (size_t i = 0; i < m; ++i) sum += static_cast<double>(host[i]);
  free(host);
  return sum / static_cast<double>(m);
}}

template <typename T, typename S>
void act(int lazy, T* out, size_t n, const S* in, size_t m, Tail<T>& tail, T*& previous) {{
  switch (lazy) {{
    case 0: fill<T><<<blocks(n), 256>>>(out, n, static_cast<T>(0)); break;
    case 1: fill<T><<<blocks(n), 256>>>(out, n, static_cast<T>(1)); break;
    case 2: copy<T, S><<<blocks(n), 256>>>(out, n, in, m); break;
    case 3: fill<T><<<blocks(n), 256>>>(out, n, static_cast<T>(mean(in, m))); break;
    case 5:
    case 6: tail.restore(); break;
    case 7: lower_precision(out, n); break;
    case 8:
      (void)hipMalloc(reinterpret_cast<void**>(&previous), n * sizeof(T));
      (void)hipMemcpy(previous, out, n * sizeof(T), hipMemcpyDeviceToDevice);
      break;
    case 9:
      (void)hipMemcpy(out, previous, n * sizeof(T), hipMemcpyDeviceToDevice);
      (void)hipFree(previous);
      break;
    default: break;
  }}
}}
"""
