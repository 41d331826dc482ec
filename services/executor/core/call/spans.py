"""Tests whether the instruments on the device agree: events, and the device's own clock around the same work.

Kernels of ours note the device's clock before a call, behind it on the default stream, and when the whole device is
idle (`runner/spans.hpp`). So there are two spans beside the time between events:

- the stream's span is of the same work as the events, and must agree with them;
- the device's span is longer only by the way to the host and back, unless work went on that the default stream does not
  wait for: on another stream, or on threads of the submission's own.

All of them are claims, because the clocks are in the runner's process. A program that forges one has to forge all, and
still meets the judge's clock. A device without such a clock (`cpu`) has events alone, and its spans are 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from services.executor.core.call.runner_session import CallTimes


@dataclass(frozen=True)
class SpanRule:
    """The tolerated difference of two spans: a share of the longer one, and some time that each call takes anyway.

    A call is disturbed if the host is slow to see that the device is idle. So `disturbed_share` of the calls may look
    untrue: a submission that leaves work for later does so in nearly all of them.
    """

    share: float = 0.1
    events_slack_ns: float = 10e3
    idle_slack_ns: float = 100e3
    disturbed_share: float = 0.75


SPAN_RULE = SpanRule()
"""A proposal, still to be calibrated on hardware."""


@dataclass(frozen=True)
class Spans:
    """Medians over the calls of a case, in ns."""

    stream_ns: float
    device_ns: float


def spans_of(times: Sequence[CallTimes]) -> Spans | None:
    """Returns the median spans of calls; None if a call lacks one, or if the device has no clock of its own."""
    if not times or not all(one.stream_ns > 0 and one.device_ns > 0 for one in times):
        return None
    return Spans(float(np.median([one.stream_ns for one in times])), float(np.median([one.device_ns for one in times])))


def span_fault(times: Sequence[CallTimes], rule: SpanRule, *, has_clock: bool) -> str | None:
    """Says why the spans of a case rule its times out; None if they do not.

    `has_clock` says that the device has a clock that the runner reads. Then every call must have its spans.
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
