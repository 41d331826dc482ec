from __future__ import annotations

import re

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


def test_the_client_and_the_page_have_the_same_modes() -> None:
    assert {*client.Mode} == {*modes.Mode}
    assert {*client.TimingMode} == {*modes.TimingMode}
    assert set(modes.TIMED_MODES) == client.TIMED_MODES
    timing, index = ((REPOSITORY / "web" / name).read_text("utf-8") for name in ("request/timing.js", "index.html"))
    (timed,) = re.findall(r"TIMED_MODES = new Set\(\[(.*)\]\)", timing)
    (words,) = re.findall(r"WORDS = \{(.*?)\n\}", timing, re.DOTALL)
    (choices,) = re.findall(r'<select id="timing-select">(.*?)</select>', index, re.DOTALL)
    assert set(re.findall(r'"(.*?)"', timed)) == set(modes.TIMED_MODES)
    assert set(re.findall(r'^ *"?([\w-]+)"?: ', words, re.MULTILINE)) == {*modes.TimingMode}
    assert set(re.findall(r'value="(.*?)"', choices)) == {"", *modes.TimingMode}
    assert set(re.findall(r'name="mode"[^>]*value="(.*?)"', index)) == {*modes.Mode}


def test_the_page_and_the_client_profile_the_same_modes() -> None:
    page = (REPOSITORY / "web/request/profile.js").read_text("utf-8")
    (words,) = re.findall(r"PROFILED_MODES = new Set\(\[(.*)\]\)", page)
    assert set(re.findall(r'"(\w+)"', words)) == set(modes.PROFILED_MODES)
    assert set(modes.PROFILED_MODES) == client.PROFILED_MODES
