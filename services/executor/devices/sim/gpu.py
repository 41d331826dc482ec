"""A simulated GPU's own time, which it puts around a runner's calls, for clocks, events, sweeps and calls.

Nothing takes as long as it claims. A virtual clock advances by the time of each call (`noise.py` says how far it
differs from the script's) and of each event; events, the device's clock and the runner's host clock all read it. So a
kernel of 1 us can be simulated on a busy host, and its true time is known: the script's, which no clock of the judge's
reads.

The judge's clock is the virtual one plus the way to the runner and back. The host's own clock would include the whole
simulation; so this cannot show a submission that tampers with the simulation itself. Only the runner's code reads the
virtual clock: `clock_gettime` of the submission is the host's.

Caches: a call after a sweep of 512 MiB or more takes the script's time, any other HOT_SHARE of it; the judge's probe
for the size of a sweep shows the same limit.
"""

from __future__ import annotations

import math
from random import Random

WAY_NS = 20e3
"""Time to the runner and back: an order, two wake-ups, an answer."""
WAY_SIGMA = 0.15
LATE_SHARE = 0.03
LATE_FACTOR = 3.0
EVENT_NS = 4e3
"""Time between an event and its neighbour in the stream; the null call has two events as well."""
HOT_SHARE = 0.9
CACHE_BYTES = 512 << 20
SERIES = 16
CALLS = 512
"""Number of calls in a series, whose second half then repeats."""
EVENT_TICK_NS = 10.0
"""Step of an AMD GPU's clock of 100 MHz."""

_draw = Random()  # noqa: S311 - a simulation


def judged_ns(host_ns: int) -> int:
    """Return the judge's time, in ns, of an order that took `host_ns` of virtual time; 0 means a null call."""
    late = LATE_FACTOR if _draw.random() < LATE_SHARE else 1.0
    way_ns = WAY_NS * math.exp(_draw.gauss(0, WAY_SIGMA)) * late
    return round(way_ns + (host_ns or 2 * EVENT_NS))


WRAPPED = (
    "hipEventRecord",
    "hipDeviceSynchronize",
    "clock_gettime",
    "_ZN8wavepool6Sweeps5flushEm",
    "_ZN8wavepool6Sweeps5probeEmmRm",
)
"""Functions of the runner that the simulation replaces, besides those of simulation.py."""

TIMED = f"""
constexpr double event_ns = {EVENT_NS!r}, hot_share = {HOT_SHARE!r}, tick_ns = {EVENT_TICK_NS!r};
constexpr unsigned long cache_bytes = {CACHE_BYTES}ul;
constexpr int most_events = 4096;
struct Recorded {{
  void* event;
  double ns;
}};
Recorded recorded[most_events];
double virtual_ns = 1e6;
bool is_serving = false, is_cold = false, in_chain = false;
thread_local bool in_submission = false;

double& recorded_ns(void* event) {{
  int at = 0;
  while (at + 1 < most_events && recorded[at].event != nullptr && recorded[at].event != event) ++at;
  recorded[at].event = event;
  return recorded[at].ns;
}}

double ticks(double ns) {{ return tick_ns * static_cast<double>(static_cast<uint64_t>(ns / tick_ns + 0.5)); }}

// Slow starts are at the head of a series; they do not come again in a process that makes more calls than it has.
long place() {{
  const long at = calls - 1;
  return at < {CALLS} ? at : {CALLS} / 2 + at % ({CALLS} / 2);
}}

template <typename Call>
void timed(void** arguments, Call call) {{
  begin_call(arguments);
  in_submission = true;
  call();
  in_submission = false;
  const double factor = speed_factor * factors[series % {SERIES}u][place()];
  const double time_ns = latency_ns * factor * (is_cold ? 1.0 : hot_share);
  is_cold = false;
  virtual_ns += time_ns;
  claimed_ns = claim * time_ns;
}}
}}  // namespace

extern "C" int __real_hipEventRecord(void* event, void* stream);
extern "C" int __real_hipDeviceSynchronize();
extern "C" int __real_clock_gettime(clockid_t clock, timespec* now);

extern "C" int __wrap_hipEventRecord(void* event, void* stream) {{
  const int status = __real_hipEventRecord(event, stream);
  virtual_ns += event_ns / 2;
  recorded_ns(event) = virtual_ns;
  virtual_ns += event_ns / 2;
  return status;
}}

extern "C" int __wrap_hipEventElapsedTime(float* milliseconds, void* start, void* stop) {{
  const double lasted_ns = recorded_ns(stop) - recorded_ns(start) - event_ns;
  *milliseconds = static_cast<float>((1 - aside) * (in_chain ? claim_in_chains : claim) * ticks(lasted_ns) / 1e6);
  return 0;
}}

extern "C" int __wrap_hipDeviceSynchronize() {{
  if (!in_submission) is_serving = true;
  if (!in_submission && ++waits == lost_at) return lost_as;
  return __real_hipDeviceSynchronize();
}}

extern "C" int __wrap_clock_gettime(clockid_t clock, timespec* now) {{
  if (!is_serving || in_submission || gettid() != getpid()) return __real_clock_gettime(clock, now);
  const uint64_t whole_ns = static_cast<uint64_t>(virtual_ns);
  *now = {{static_cast<time_t>(whole_ns / 1000000000u), static_cast<long>(whole_ns % 1000000000u)}};
  return 0;
}}

extern "C" int __wrap__ZN8wavepool6Sweeps5flushEm(void*, unsigned long bytes) {{
  is_cold = bytes >= cache_bytes;
  return 0;
}}

extern "C" int __wrap__ZN8wavepool6Sweeps5probeEmmRm(void*, unsigned long bytes, unsigned long, unsigned long* ns) {{
  *ns = static_cast<unsigned long>(20e3 * (bytes >= cache_bytes ? 1.0 : bytes > 0 ? 0.7 : 0.4));
  return 0;
}}

extern "C" void __wrap_wavepool_device_spans(uint64_t* spans) {{
  spans[0] = static_cast<uint64_t>(ticks((1 - aside) * claimed_ns));
  spans[1] = static_cast<uint64_t>(ticks(claimed_ns));
}}
"""
