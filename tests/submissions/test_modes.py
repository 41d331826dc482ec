from __future__ import annotations

import re

import pytest
from wavepool.submission.v1.submission_pb2 import RunMode, TimingMode

from submissions import modes
from tests.needs import REPOSITORY
from wavepool_client import submission as client


def test_every_number_of_the_protos_is_a_mode_of_its_name() -> None:
    assert {number: f"RUN_MODE_{mode.name}" for number, mode in modes.MODES.items()} == {
        number: name for name, number in RunMode.items() if number
    }
    timing = {number: name for name, number in TimingMode.items()}
    assert {number: timing[modes.timing_number(mode)] for number, mode in modes.TIMING_MODES.items()} == timing
    words = {name.removeprefix("TIMING_MODE_").lower().replace("_", "-") for name in timing.values()}
    assert words == {"unspecified", *modes.TimingMode}


def test_the_client_has_the_same_modes() -> None:
    assert {*client.Mode} == {*modes.Mode}
    assert {*client.TimingMode} == {*modes.TimingMode}


@pytest.mark.parametrize(
    ("name", "known", "clients"),
    [
        ("TIMED", modes.TIMED_MODES, client.TIMED_MODES),
        ("PROFILED", modes.PROFILED_MODES, client.PROFILED_MODES),
    ],
)
def test_the_client_and_the_page_time_and_profile_the_same_modes(
    name: str, known: frozenset[str], clients: frozenset[str]
) -> None:
    page = (REPOSITORY / "web/src/request/form.ts").read_text("utf-8")
    (words,) = re.findall(rf"const {name}: readonly Mode\[\] = \[(.*)\]", page)
    assert set(re.findall(r'"(\w+)"', words)) == set(known) == set(clients)
