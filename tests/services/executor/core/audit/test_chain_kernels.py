"""A chain's work between its calls, as kernels and as loops: one source, the same bits."""

from __future__ import annotations

import re
from pathlib import Path

from services.executor.core.audit import chain
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.run.context import RunContext
from services.executor.core.run.one_run import run
from submissions.modes import Mode

RUNNER = Path(chain.__file__).parents[1] / "runner"
HEADERS = ("chain_arithmetic.hpp", "protocol.hpp", "parallel.hpp", "chain_bodies.hpp", "chain_rules.hpp")
MAIN = """
#include <stdio.h>
#include <string.h>
#include <vector>
using namespace wavepool;

constexpr std::uint64_t kBytes = 40'003;
static int faults = 0, expected = 0, compared = 0;

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

void compare_rule(const char* name, Rule rule, std::uint32_t bytes, std::uint64_t first = 0, std::uint64_t second = 0) {
  const chain::Target none{nullptr, 3, nullptr, nullptr, kBytes, first, second};
  ++expected;
  chain::with_body(rule, bytes, none, [=](const auto& empty, std::uint64_t count) {
    ++compared;
    compare(name, count, [=](const std::uint64_t& key, const unsigned char* base, unsigned char* data) {
      auto filled = empty;
      filled.body.target.link_key = &key;
      filled.body.target.base = base;
      filled.body.target.data = data;
      return filled;
    });
  });
}

int main() {
  compare_rule("copy", Rule::kCopy, 4);
  compare_rule("poison", Rule::kPoison, 4);
  compare_rule("flip 32", Rule::kFlipBits, 4, 0x7fffff, 0x7f800000);
  compare_rule("integers", Rule::kIntegers, 1, 200, 50);
  compare_rule("wholes", Rule::kWholes, 4, 0ull - 9, 100);
  compare_rule("roll", Rule::kRoll, 2, 1);
  for (std::uint32_t bytes : {2, 4}) compare_rule("blocks", Rule::kBlocks, bytes, 23 | 8 << 8 | 1 << 16, 16);
  compare_rule("codes", Rule::kCodes, 1, 0xff, 8 << 8 | 0x7f);
  for (std::uint64_t kind = 0; kind < 4; ++kind) {
    const std::uint64_t limit = 0x42200000, scale = 0x3f400000, spike = 0x45800000;
    compare_rule("turned", Rule::kDraw, 4, kind | 10 << 8 | 9ull << 24 | limit << 32, scale | spike << 32);
    for (std::uint64_t form = 0; form < 5; ++form) {
      compare_rule("draw", Rule::kDraw, 4, kind | 10 << 8 | form << 16 | limit << 32, scale | spike << 32);
    }
  }
  compare_rule("symmetric", Rule::kSymmetricBits, 4, 0x7fffff, 0x7f800000);
  compare_rule("weights", Rule::kWeights, 4, 1, 20);
  const std::uint64_t words = chain::words_of(kBytes);
  const std::uint64_t strips = chain::strips_of(words);
  compare("strips", strips, [=](const std::uint64_t& key, const unsigned char* base, unsigned char* data) {
    return chain::FoldStrips{base, kBytes, &key, 1, 0, strips, reinterpret_cast<std::uint64_t*>(data)};
  });
  faults += expected != compared;
  printf("%d faults\\n", faults);
  return faults;
}
"""


def _source() -> str:
    parts = [(RUNNER / name).read_text() for name in HEADERS]
    plain = re.sub(r'^#(pragma once|include "[^"]*")$', "", "\n".join(parts), flags=re.MULTILINE)
    return f"#include <hip/hip_runtime.h>\n{plain}{MAIN}"


async def test_kernels_and_loops_of_a_chain_give_the_same_bits(context: RunContext) -> None:
    finished = await run(CoreJob(_source(), Mode.SANDBOX), context, lambda _: None)
    assert finished.verdict is Verdict.ACCEPTED, finished
    assert finished.program is not None
    assert finished.program.stdout == "0 faults\n"
