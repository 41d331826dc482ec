"""What a chain does between its calls, as kernels and as loops: one source, the same bits."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.core import chain
from services.executor.core.job import CoreJob, Mode
from services.executor.core.run import run
from services.executor.core.verdict import Verdict

if TYPE_CHECKING:
    from services.executor.core.equipment import Equipment

RUNNER = Path(chain.__file__).with_name("runner")
HEADERS = ("chain_arithmetic.hpp", "parallel.hpp", "chain_bodies.hpp")
MAIN = """
#include <stdio.h>
#include <string.h>
#include <vector>
using namespace wavepool;

constexpr std::uint64_t kBytes = 40'003;
static int faults = 0;

template <typename Make>
void compare(const char* name, std::uint64_t count, Make make) {
  std::vector<unsigned char> base(kBytes + 8), by_kernel(kBytes + 8), by_loop(kBytes + 8);
  std::uint64_t state = 7;
  for (unsigned char& byte : base) byte = static_cast<unsigned char>(state = chain::mixed(state + 1));
  const std::uint64_t key = 42;
  for_each_index(count, make(key, base.data(), by_kernel.data()));
  (void)hipDeviceSynchronize();
  const auto body = make(key, base.data(), by_loop.data());
  for (std::uint64_t at = 0; at < count; ++at) body(at);
  const bool written = by_loop != std::vector<unsigned char>(kBytes + 8);
  const bool kept = by_kernel[kBytes] == 0 && hipGetLastError() == hipSuccess;
  if (by_kernel != by_loop || !written || !kept) printf("%s differs\\n", name), ++faults;
}

template <typename Body>
void compare_target(const char* name, std::uint64_t count, std::uint64_t first, std::uint64_t second) {
  compare(name, count, [=](const std::uint64_t& key, const unsigned char* base, unsigned char* data) {
    return Body{chain::Target{&key, 3, base, data, kBytes, first, second}};
  });
}

int main() {
  const std::uint64_t words = chain::words_of(kBytes);
  compare_target<chain::Poison>("poison", words, 0, 0);
  compare_target<chain::FlipBits<32>>("flip 32", words, 0x7fffff, 0x7f800000);
  compare_target<chain::DrawIntegers<1>>("integers", kBytes, 200, 50);
  compare_target<chain::DrawWholes>("wholes", kBytes / 4, 0ull - 9, 100);
  compare_target<chain::Roll<2>>("roll", kBytes / 2, 0, 0);
  for (std::uint64_t kind = 0; kind < 4; ++kind) {
    const std::uint64_t limit = 0x42200000, scale = 0x3f400000, spike = 0x45800000;
    compare_target<chain::DrawSamples>("draw", kBytes / 4, kind | 10 << 8 | limit << 32, scale | spike << 32);
  }
  compare("symmetric", 10'000, [=](const std::uint64_t& key, const unsigned char* base, unsigned char* data) {
    return chain::FlipSymmetricBits<4>{{&key, 3, base, data, kBytes, 0x7fffff, 0x7f800000}, 100};
  });
  compare("weights", 10'000, [=](const std::uint64_t& key, const unsigned char* base, unsigned char* data) {
    return chain::DrawWeights{{&key, 3, base, data, kBytes, 1, 20}, 100};
  });
  const std::uint64_t strips = chain::strips_of(words);
  compare("strips", strips, [=](const std::uint64_t& key, const unsigned char* base, unsigned char* data) {
    return chain::FoldStrips{base, kBytes, &key, 1, 0, strips, reinterpret_cast<std::uint64_t*>(data)};
  });
  printf("%d faults\\n", faults);
  return faults;
}
"""


def _source() -> str:
    parts = [(RUNNER / name).read_text() for name in HEADERS]
    plain = re.sub(r'^#(pragma once|include "[^"]*")$', "", "\n".join(parts), flags=re.MULTILINE)
    return f"#include <hip/hip_runtime.h>\n{plain}{MAIN}"


async def test_kernels_and_loops_of_a_chain_give_the_same_bits(equipment: Equipment) -> None:
    finished = await run(CoreJob(_source(), Mode.SANDBOX), equipment, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.program is not None
    assert finished.program.stdout == "0 faults\n"
