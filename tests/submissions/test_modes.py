from __future__ import annotations

from wavepool.submission.v1.submission_pb2 import RunMode, TimingMode

from submissions import modes


def test_every_number_of_the_protos_is_a_mode_of_its_name() -> None:
    assert {number: f"RUN_MODE_{mode.name}" for number, mode in modes.MODES.items()} == {
        number: name for name, number in RunMode.items() if number
    }
    timing = {number: name for name, number in TimingMode.items()}
    assert {number: timing[modes.timing_number(mode)] for number, mode in modes.TIMING_MODES.items()} == timing
    words = {name.removeprefix("TIMING_MODE_").lower().replace("_", "-") for name in timing.values()}
    assert words == {"unspecified", *modes.TimingMode}
