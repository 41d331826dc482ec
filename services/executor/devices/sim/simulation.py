"""C++ code around a runner's calls, so that they seem to take the time that a script asks for.

The call itself is real, whether `solution` makes it or a launch program does: it runs on the host, and its answers are
checked as usual. The runner's events show only the simulated time, without the part that runs aside, and the device's
clock shows both (the linker replaces their functions by ours: `gpu.py`). The first word of a process's first input
selects one of several series of noise, and the process's speed. So a process with the same seed behaves the same again;
but a run on a busy machine may start more processes than one on a quiet machine, and its sessions then differ.
"""

from __future__ import annotations

from itertools import islice
from random import Random

from services.executor.devices.sim import gpu
from services.executor.devices.sim.noise import MODELS
from services.executor.devices.sim.script import Script

DOES_NOTHING = "wavepool_call(void**) {}"
"""Text of a harness that calls nothing."""
_REPLAY = "_ZN8wavepool6Replay4callEPPv"
_TELL_CHAIN = "_ZNK8wavepool5Chain4tellEPNS_10LinkRecordE"
_WRAPPED = ("hipEventElapsedTime", "wavepool_device_spans", "wavepool_call", _REPLAY, _TELL_CHAIN)
LINK_OPTIONS = tuple(f"--wrap={name}" for name in (*_WRAPPED, *gpu.WRAPPED))
"""Linker options that put our functions in place of the runner's."""


def simulation_source(script: Script, *, does_nothing: bool = False) -> str:
    """Return the C++ source of the simulation; calls of a build that does nothing take no time."""
    first_us = 0.0 if does_nothing else script.latency_us
    in_chains = script.claim if script.claim_in_chains is None else script.claim_in_chains
    factors = ",".join(f"{factor:.6f}f" for series in range(gpu.SERIES) for factor in _factors(script, series))
    figures = (
        f"static const double latency_ns = {first_us * 1e3!r};\nstatic const double claim = {script.claim!r};\n"
        f"static const double claim_in_chains = {in_chains!r};\n"
        f"static const double aside = {script.aside!r}, apart = {script.apart!r};\n"
        f"static const long crash_at = {script.crash_at}, exit_at = {script.exit_at}, hang_at = {script.hang_at};\n"
        f"static const long lost_at = {script.lost_at};\nstatic const int lost_as = {script.lost_as};\n"
        f"static const float factors[{gpu.SERIES}][{gpu.CALLS}] = {{{factors}}};\n"
    )
    return f"{_INCLUDES}namespace {{\n{figures}{_STATE}{gpu.TIMED}{_CALLS}"


def _factors(script: Script, series: int) -> list[float]:
    draw = Random(f"{script.seed} {script.noise} {series}")  # noqa: S311 - a simulation
    return list(islice(MODELS[script.noise](draw), gpu.CALLS))


_INCLUDES = """#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
"""

_STATE = """
long calls = 0, waits = 0;
uint32_t series = 0;
double claimed_ns = 0, speed_factor = 1;

void meet_fate() {
  if (calls == crash_at) abort();
  if (calls == exit_at) _exit(0);
  while (calls == hang_at) pause();
}

void begin_call(void** arguments) {
  if (calls++ == 0 && latency_ns > 0) {
    uint32_t word = 0;
    memcpy(&word, arguments[0], sizeof word);
    const uint32_t hash = word * 2654435761u;
    series = hash >> 28;
    speed_factor = 1 + apart * (hash / 4294967296.0);
  }
  meet_fate();
}
"""

# An executable has only one of the two.
_CALLS = f"""
extern "C" __attribute__((weak)) void __real_wavepool_call(void** arguments);
extern "C" __attribute__((weak)) void __real_{_REPLAY}(void* replay, void** arguments);

extern "C" __attribute__((weak)) int __real_{_TELL_CHAIN}(const void* chain, void* records);

extern "C" int __wrap_{_TELL_CHAIN}(const void* chain, void* records) {{
  in_chain = true;
  const int status = __real_{_TELL_CHAIN}(chain, records);
  in_chain = false;
  return status;
}}

extern "C" void __wrap_wavepool_call(void** arguments) {{
  timed(arguments, [arguments] {{ __real_wavepool_call(arguments); }});
}}

extern "C" void __wrap_{_REPLAY}(void* replay, void** arguments) {{
  timed(arguments, [replay, arguments] {{ __real_{_REPLAY}(replay, arguments); }});
}}
"""
