from __future__ import annotations

from services.executor.core.check.run_verdict import Pulse
from services.executor.core.model.events import BenchmarkProgress, BenchmarkStage, Event

PLACE = BenchmarkProgress(BenchmarkStage.MEASURING, 1, 3, 2, "n = 5", 4)


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_progress_comes_once_a_second_and_counts_all_samples() -> None:
    reported: list[Event] = []
    clock = Clock()
    pulse = Pulse(reported.append, clock)
    pulse.at(PLACE)
    for clock.seconds in (0.4, 0.9, 1.1, 1.5, 2.2):
        pulse.sample()
    assert [event.samples for event in reported if isinstance(event, BenchmarkProgress)] == [3, 5]
    assert reported[0] == BenchmarkProgress(BenchmarkStage.MEASURING, 1, 3, 2, "n = 5", 4, 3)


def test_a_new_case_is_reported_if_it_is_time() -> None:
    reported: list[Event] = []
    clock = Clock()
    pulse = Pulse(reported.append, clock)
    clock.seconds = 5.0
    pulse.at(PLACE)
    pulse.at(PLACE)
    assert len(reported) == 1


def test_a_quarter_of_an_hour_tells_about_a_hundred_times() -> None:
    reported: list[Event] = []
    clock = Clock()
    pulse = Pulse(reported.append, clock)
    pulse.at(PLACE)
    for tick in range(900 * 100):
        clock.seconds = tick / 100
        pulse.sample()
    assert 80 <= len(reported) <= 110
