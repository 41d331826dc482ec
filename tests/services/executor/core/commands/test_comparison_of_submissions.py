from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.commands.compare_command import compare_files
from services.executor.core.commands.comparison_of_submissions import (
    NotComparableError,
    Order,
    TimedCase,
    compare_reports,
    compare_times,
)

OPPOSITE = {
    Order.FASTER: Order.SLOWER,
    Order.SLOWER: Order.FASTER,
    Order.SAME: Order.SAME,
    Order.UNCLEAR: Order.UNCLEAR,
}
TIMES = st.lists(st.tuples(st.floats(1, 1e9), st.floats(0.001, 0.3), st.floats(0.001, 0.3)), min_size=1, max_size=6)


def _cases(times: list[tuple[float, float, float]]) -> list[TimedCase]:
    return [TimedCase(str(at), ns, ns * (1 - low), ns * (1 + high)) for at, (ns, low, high) in enumerate(times)]


def _scaled(cases: list[TimedCase], factor: float) -> list[TimedCase]:
    return [replace(c, ns=c.ns * factor, low_ns=c.low_ns * factor, high_ns=c.high_ns * factor) for c in cases]


@given(TIMES, TIMES)
def test_who_is_faster_does_not_depend_on_who_is_first(first: list[Any], second: list[Any]) -> None:
    count = min(len(first), len(second))
    a, b = _cases(first[:count]), _cases(second[:count])
    there, back = compare_times(a, b), compare_times(b, a)
    assert back.order is OPPOSITE[there.order]
    assert back.ratio == pytest.approx(1 / there.ratio)
    assert there.low <= there.ratio <= there.high


@given(TIMES)
def test_a_submission_is_never_faster_or_slower_than_itself(times: list[Any]) -> None:
    assert compare_times(_cases(times), _cases(times)).order in {Order.SAME, Order.UNCLEAR}


@given(TIMES, st.floats(0.01, 0.5))
def test_half_the_time_is_faster_where_the_intervals_are_narrow(times: list[Any], factor: float) -> None:
    cases = _cases([(ns, low / 10, high / 10) for ns, low, high in times])
    compared = compare_times(cases, _scaled(cases, factor))
    assert compared.order is Order.FASTER
    assert compared.ratio == pytest.approx(factor)


def test_a_difference_below_what_sessions_may_differ_by_is_none() -> None:
    cases = [TimedCase("a", 1000, 999, 1001)]
    assert compare_times(cases, _scaled(cases, 0.995)).order is Order.SAME
    assert compare_times(cases, _scaled(cases, 0.98)).order is Order.FASTER
    assert compare_times(cases, [TimedCase("a", 1000, 900, 1100)]).order is Order.UNCLEAR


def _report(ns: float, **changes: object) -> dict[str, Any]:
    result = {"name": "a", "runtime_ns": ns, "ci_low_ns": ns * 0.999, "ci_high_ns": ns * 1.001}
    report: dict[str, Any] = {
        "problem": "relu",
        "dtype": "float32",
        "size_set": "gpu",
        "device": {"name": "rocm", "title": "MI300X", "architecture": "gfx942"},
        "benchmark": {"timing": "VALID", "results": [result]},
    }
    return report | changes


def test_times_that_cannot_be_ranked_are_not_compared() -> None:
    assert compare_reports(_report(1000.0), _report(500.0)).order is Order.FASTER
    for timing in ("UNSTABLE", "UNPROVEN", "INVALID", "OF_A_NEWER_CORE"):
        benchmark = {"timing": timing, "results": _report(500.0)["benchmark"]["results"]}
        compared = compare_reports(_report(1000.0), _report(500.0, benchmark=benchmark))
        assert (compared.order, compared.unclear_because) == (Order.UNCLEAR, f"the timing of the second is {timing}")


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"device": {"name": "cpu"}}, "device"),
        ({"problem": "gelu"}, "problem"),
        ({"simulated": True}, "simulated"),
        ({"timing_mode": "hot"}, "timing_mode"),
        ({"benchmark": None}, "benchmark"),
        ({"benchmark": {"results": [{"name": "a"}]}}, "benchmark.results"),
        ({"benchmark": {"results": []}}, "cases"),
        ({"benchmark": {"results": [{"name": "a", "runtime_ns": 0, "ci_low_ns": 0, "ci_high_ns": 0}]}}, "no time"),
    ],
)
def test_reports_of_different_kinds_are_refused_with_the_field(changes: dict[str, Any], word: str) -> None:
    with pytest.raises(NotComparableError, match=word):
        compare_reports(_report(1000.0), _report(1000.0, **changes))


def test_the_command_takes_results_and_signed_reports(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain, signed = tmp_path / "plain.json", tmp_path / "signed.json"
    plain.write_text(json.dumps({"verdict": "ACCEPTED", "report": _report(1000.0)}))
    payload = json.dumps({"run_id": "r", "report": _report(500.0)}).encode()
    signed.write_text(json.dumps({"payload": base64.b64encode(payload).decode(), "signatures": []}))
    assert compare_files(plain, signed) == 0
    assert capsys.readouterr().out.startswith("FASTER: the second is faster; the second's time is 0.5000")


@pytest.mark.parametrize(
    ("changes", "note"),
    [
        ({"device": {"name": "cpu"}}, "; times of `cpu` never rank\n"),
        ({"simulated": True}, "; a simulated device's times are made up, and never rank\n"),
        ({}, "0.5010)\n"),
    ],
)
def test_the_command_says_if_the_times_never_rank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], note: str
) -> None:
    paths = tmp_path / "slow.json", tmp_path / "fast.json"
    for path, ns in zip(paths, (1000.0, 500.0), strict=True):
        path.write_text(json.dumps({"report": _report(ns, **changes)}))
    assert compare_files(*paths) == 0
    said = capsys.readouterr().out
    assert said.startswith("FASTER: ")
    assert said.endswith(note)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"payload": "!!"}', '{"report": 3}'])
def test_a_file_that_is_no_result_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(text)
    assert compare_files(broken, broken) == 2
    assert str(broken) in capsys.readouterr().err
