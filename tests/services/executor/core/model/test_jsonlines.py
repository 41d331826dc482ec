from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.model import events
from services.executor.core.model.job import CoreJob
from services.executor.core.model.jsonlines import LineError, decode_job, encode_job, plain, read_as
from submissions.modes import Mode


@given(st.builds(CoreJob))
def test_a_job_survives_the_way_through_a_line(job: CoreJob) -> None:
    assert decode_job(encode_job(job)) == job


def test_floats_that_json_lacks_are_words() -> None:
    text = json.dumps(plain(events.Mismatch("y", (1, 2), math.nan, -math.inf, math.inf)), allow_nan=False)
    values = json.loads(text)
    assert (values["expected"], values["actual"], values["difference"]) == ("NaN", "-Infinity", "Infinity")
    again = read_as(events.Mismatch, values)
    assert math.isnan(again.expected)
    assert (again.index, again.actual, again.difference) == ((1, 2), -math.inf, math.inf)


def test_fields_of_a_newer_writer_are_skipped() -> None:
    assert decode_job('{"source": "", "mode": "check", "mood": "good"}') == CoreJob("", Mode.CHECK)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"source": ""}', "mode"),
        ('{"source": 3, "mode": "check"}', "field `source` is 3; it must be str"),
        ('{"source": "", "mode": "check", "devices": 1}', "field `devices` is 1; it must be a list"),
        ('{"source": "", "mode": "check", "devices": [true]}', "field `devices`"),
    ],
)
def test_a_bad_line_is_refused_by_name(line: str, fault: str) -> None:
    with pytest.raises(LineError, match=fault.replace("[", r"\[")):
        decode_job(line)


def test_a_job_with_an_unknown_mode_is_refused() -> None:
    with pytest.raises(LineError, match="field `mode`"):
        decode_job(encode_job(CoreJob("", Mode.CHECK)).replace("check", "guess"))
