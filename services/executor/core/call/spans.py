"""Whether the instruments on the device agree: events, and the device's own clock around the same work.

Kernels of ours note the device's clock before a call, behind it on the default stream, and when the whole device is
idle (`runner/spans.hpp`). So there are two spans beside the time between events:

- the stream's, of the same work as the events', which must agree with it;
- the device's, which is longer only by the way to the host and back, unless work went on that the default stream does
  not wait for: on another stream, or on threads of the submission's own.

All of them are claims, as the clocks are in the runner's process. Whoever forges one has to forge all, and still meets
the judge's clock. A device without such a clock (`cpu`) has events alone, and its spans are 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.core.call.runner_session import CallTimes


@dataclass(frozen=True)
class SpanRule:
    """How far spans may be apart: by a share of the longer one, and by some time that each call takes anyway.

    A call is disturbed where the host is slow to see that the device is idle. So `disturbed_share` of the calls may
    look untrue: whoever leaves work for later does so in nearly all of them.
    """

    share: float = 0.1
    events_slack_ns: float = 10e3
    idle_slack_ns: float = 100e3
    disturbed_share: float = 0.75


SPAN_RULE = SpanRule()
"""Proposed, and to be calibrated on hardware."""


@dataclass(frozen=True)
class Spans:
    """Medians over the calls of a case, in ns."""

    stream_ns: float
    device_ns: float


def spans_of(times: Sequence[CallTimes]) -> Spans | None:
    """The spans of calls; None where the device has no clock of its own, or was silent about one of them."""
    if not times or not all(one.stream_ns > 0 and one.device_ns > 0 for one in times):
        return None
    return Spans(float(np.median([one.stream_ns for one in times])), float(np.median([one.device_ns for one in times])))


def span_fault(times: Sequence[CallTimes], rule: SpanRule, *, has_clock: bool) -> str | None:
    """Why the spans of one case say that its times cannot be true, or None.

    `has_clock` says that the device has a clock which the runner reads: then every call must have its spans.
    """
    if spans_of(times) is None:
        silent = any(one.stream_ns == 0 or one.device_ns == 0 for one in times)
        return "the device's own clock was not read for every call" if has_clock and silent else None
    events, streams, devices = (
        np.array(column, np.float64)
        for column in zip(*((one.event_ns, one.stream_ns, one.device_ns) for one in times), strict=True)
    )
    late = devices - streams > rule.share * devices + rule.idle_slack_ns
    if late.mean() > rule.disturbed_share:
        return (
            f"the default stream is said to have ended after {np.median(streams[late]) / 1e3:.1f} us, but the device "
            f"went on for {np.median(devices[late] - streams[late]) / 1e3:.1f} us more"
        )
    apart = np.abs(events - streams) > rule.share * np.maximum(events, streams) + rule.events_slack_ns
    if apart.mean() > rule.disturbed_share:
        return (
            f"events say {np.median(events[apart]) / 1e3:.1f} us, and the device's own clock "
            f"{np.median(streams[apart]) / 1e3:.1f} us, of the same work"
        )
    return None
