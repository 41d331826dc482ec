from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.model import events
from services.executor.core.model.job import CoreJob
from services.executor.core.model.jsonlines import LineError, decode_event, decode_job, encode_event, encode_job
from services.executor.core.model.verdict import Verdict
from services.executor.core.timing.benchmark_result import BenchmarkResult
from submissions.modes import Mode

anything = st.one_of(
    st.builds(events.Compiled),
    st.builds(events.TestResult),
    st.builds(BenchmarkResult),
    st.builds(events.ProgramOutput),
    st.builds(events.Finished, report=st.just({})),
)


def _same(left: object, right: object) -> bool:
    return repr(left) == repr(right)


@given(anything)
def test_an_event_survives_the_way_through_a_line(event: events.Event) -> None:
    line = encode_event(event)
    assert "\n" not in line
    assert _same(decode_event(line), event)


@given(st.builds(CoreJob))
def test_a_job_survives_the_way_through_a_line(job: CoreJob) -> None:
    assert decode_job(encode_job(job)) == job


def test_lines_are_strict_json_even_with_nan() -> None:
    mismatch = events.Mismatch("y", (1, 2), math.nan, -math.inf, math.inf)
    line = encode_event(
        events.Finished(
            Verdict.WRONG_ANSWER, "WRONG_ANSWER", "", wrong_answer=events.WrongAnswer(0, 0, 1, 4, (mismatch,))
        )
    )

    def refuse(name: str) -> None:
        raise AssertionError(name)

    first = json.loads(line, parse_constant=refuse)["wrong_answer"]["first_mismatches"][0]
    assert (first["expected"], first["actual"], first["difference"]) == ("NaN", "-Infinity", "Infinity")


def test_fields_of_a_newer_writer_are_skipped() -> None:
    assert decode_event('{"event": "CHECKING", "total_tests": 3, "mood": "good"}') == events.Checking(3)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"event": "DANCING"}', "unknown event 'DANCING'"),
        ('{"event": ["CHECKING"]}', "unknown event"),
        ('{"event": "CHECKING"}', "total_tests"),
        ('{"event": "CHECKING", "total_tests": "3"}', "field `total_tests` is '3'; it must be int"),
        ('{"event": "CHECKING", "total_tests": true}', "field `total_tests`"),
    ],
)
def test_a_bad_event_line_is_refused_by_name(line: str, fault: str) -> None:
    with pytest.raises(LineError, match=fault.replace("[", r"\[")):
        decode_event(line)


def test_a_job_with_an_unknown_mode_is_refused() -> None:
    with pytest.raises(LineError, match="field `mode`"):
        decode_job(encode_job(CoreJob("", Mode.CHECK)).replace("check", "guess"))
