"""What is put around the core's harness, so that calls take the time that a script asks for.

The call itself is real: it is made on the host, and its answers are checked as ever. It then lasts until the simulated
time is over. The runner's events say that time and no other, less what goes on aside, and the device's clock says both
(the linker puts our functions in the places of hipEventElapsedTime and wavepool_device_spans). Each process takes one
of several series of noise, by the first word of its first input: so a run with the same seed is the same run again.
"""

from __future__ import annotations

from itertools import islice
from random import Random
from typing import TYPE_CHECKING

from services.executor.devices.sim import gpu
from services.executor.devices.sim.noise import MODELS

if TYPE_CHECKING:
    from services.executor.devices.sim.script import Script

GPU_VARIABLE = "SIM_GPU"
"""Names the environment variable of the build, and of the device: `1` for a simulated GPU."""
SERIES = 16
CALLS = 512
_DOES_NOTHING = "wavepool_call(void**) {}"


def link_options(*, is_gpu: bool) -> tuple[str, ...]:
    """What puts our functions in the places of others'."""
    names = ("--wrap=hipEventElapsedTime", "--wrap=wavepool_device_spans")
    return (*names, *gpu.LINK_OPTIONS) if is_gpu else names


def simulated_harness(harness: str, script: Script, *, is_gpu: bool = False) -> str:
    """The harness with the simulation around it; one that calls nothing takes no time either."""
    # The first line may be a comment that the build reads.
    comment, rest = harness.split("\n", 1) if harness.startswith("//") else ("", harness)
    first_us = 0.0 if _DOES_NOTHING in harness else script.latency_us
    factors = ",".join(f"{factor:.6f}f" for series in range(SERIES) for factor in _factors(script, series))
    figures = (
        f"static const double latency_ns = {first_us * 1e3!r};\nstatic const double claim = {script.claim!r};\n"
        f"static const double aside = {script.aside!r};\n"
        f"static const long crash_at = {script.crash_at}, exit_at = {script.exit_at}, hang_at = {script.hang_at};\n"
        f"static const float factors[{SERIES}][{CALLS}] = {{{factors}}};\n"
    )
    renamed = "#define wavepool_call wavepool_real_call\n"
    timed = gpu.CALL.replace("{SERIES}", f"{SERIES}").replace("{CALLS}", f"{CALLS}") if is_gpu else _CALL
    return f"{comment}\n{renamed}{rest}\n#undef wavepool_call\n{_INCLUDES}namespace {{\n{figures}{_STATE}{timed}"


def _factors(script: Script, series: int) -> list[float]:
    draw = Random(f"{script.seed} {script.noise} {series}")  # noqa: S311 - a simulation
    return list(islice(MODELS[script.noise](draw), CALLS))


_INCLUDES = """#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
"""

_STATE = """
long calls = 0;
uint32_t series = 0;
double claimed_ns = 0;

void meet_fate() {
  if (calls == crash_at) abort();
  if (calls == exit_at) _exit(0);
  while (calls == hang_at) pause();
}

void begin_call(void** arguments) {
  if (calls++ == 0 && latency_ns > 0) {
    uint32_t word = 0;
    memcpy(&word, arguments[0], sizeof word);
    series = (word * 2654435761u) >> 28;
  }
  meet_fate();
}
"""

_CALL = f"""
double now_ns() {{
  timespec now{{}};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}}

// Sleeps through most of it, and waits for the rest.
void last_until(double end_ns) {{
  const double asleep_ns = end_ns - now_ns() - 100e3;
  if (asleep_ns > 0) {{
    const uint64_t whole_ns = static_cast<uint64_t>(asleep_ns);
    const timespec time{{static_cast<time_t>(whole_ns / 1000000000u), static_cast<long>(whole_ns % 1000000000u)}};
    nanosleep(&time, nullptr);
  }}
  while (now_ns() < end_ns) {{
  }}
}}
}}  // namespace

extern "C" int __wrap_hipEventElapsedTime(float* milliseconds, void*, void*) {{
  *milliseconds = static_cast<float>((1 - aside) * claimed_ns / 1e6);
  return 0;
}}

extern "C" void __wrap_wavepool_device_spans(uint64_t* spans) {{
  spans[0] = static_cast<uint64_t>((1 - aside) * claimed_ns);
  spans[1] = static_cast<uint64_t>(claimed_ns);
}}

extern "C" void wavepool_call(void** arguments) {{
  const double begin_ns = now_ns();
  begin_call(arguments);
  const double time_ns = latency_ns * factors[series % {SERIES}u][(calls - 1) % {CALLS}];
  wavepool_real_call(arguments);
  last_until(begin_ns + time_ns);
  claimed_ns = claim * time_ns;
}}
"""
