from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.call.runner_session import CallTimes
from services.executor.core.call.spans import SPAN_RULE, Spans, span_fault, spans_of

works = st.integers(1_000, 10**10)
ways = st.lists(st.integers(0, 90_000), min_size=1, max_size=40)


def calls(event_ns: int, stream_ns: int, device_ns: Sequence[int]) -> list[CallTimes]:
    return [CallTimes(event_ns, event_ns, event_ns, stream_ns, device) for device in device_ns]


def fault(times: Sequence[CallTimes]) -> str | None:
    return span_fault(times, SPAN_RULE, has_clock=True)


@given(works, ways, st.integers(0, 9_000))
def test_instruments_that_agree_are_no_fault(work_ns: int, way_ns: list[int], launch_ns: int) -> None:
    stream_ns = work_ns + launch_ns
    assert fault(calls(work_ns, stream_ns, [stream_ns + way for way in way_ns])) is None


@given(st.integers(200_000, 10**10), ways)
def test_half_of_the_work_aside_is_found(work_ns: int, way_ns: list[int]) -> None:
    said = fault(calls(work_ns // 2, work_ns // 2, [work_ns + 100_000 + way for way in way_ns])) or ""
    assert "the device went on for" in said


@given(st.integers(250_000, 10**10), ways, st.sampled_from([0.5, 0.8, 1.25, 4.0]))
def test_events_that_tell_another_time_than_the_clock_are_found(work_ns: int, way_ns: list[int], share: float) -> None:
    said = fault(calls(round(share * work_ns), work_ns, [work_ns + way for way in way_ns])) or ""
    assert "of the same work" in said


@given(works, st.integers(4, 100))
def test_a_host_that_is_late_for_some_calls_accuses_nobody(work_ns: int, count: int) -> None:
    late, usual = calls(work_ns, work_ns, [work_ns + 10**12]), calls(work_ns, work_ns, [work_ns])
    disturbed = int(SPAN_RULE.disturbed_share * count)
    assert fault(late * disturbed + usual * (count - disturbed)) is None
    assert fault(late * count) is not None


def test_a_device_without_a_clock_has_no_spans_and_is_at_no_fault() -> None:
    silent = calls(1000, 0, [0, 0])
    assert spans_of(silent) is None
    assert span_fault(silent, SPAN_RULE, has_clock=False) is None
    assert span_fault([], SPAN_RULE, has_clock=True) is None


@pytest.mark.parametrize("change", [{"stream_ns": 0}, {"device_ns": 0}])
def test_a_clock_that_was_not_read_for_one_call_is_a_fault(change: dict[str, int]) -> None:
    times = calls(10**6, 10**6, [10**6] * 9)
    assert fault(times) is None
    assert "not read for every call" in (fault([*times, replace(times[0], **change)]) or "")


def test_spans_are_medians() -> None:
    assert spans_of(calls(90, 100, [110, 150, 120])) == Spans(100.0, 120.0)
