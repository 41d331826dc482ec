from __future__ import annotations

import io

import pytest
from rich.console import Console

from wavepool_client.http.event_stream import Event
from wavepool_client.terminal.machine_progress import Clock, start_shown_on
from wavepool_client.text.machines import seconds_text
from wavepool_client.text.narration import narrate

PROVISIONING = Event(1, "PROVISIONING", {"status": "PROVISIONING", "stage": "pulling", "elapsed_seconds": 10})


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59.6, "1 min"), (75, "1 min 15 s"), (3600, "1 h"), (5400, "1 h 30 min"), (None, ""), ("x", "")],
)
def test_lengths_of_time_are_written_as_people_do(seconds: object, text: str) -> None:
    assert seconds_text(seconds) == text


def test_the_clock_goes_on_between_two_events() -> None:
    now = 100.0
    clock = Clock(lambda: now)
    clock.show(PROVISIONING)
    now += 25
    assert clock.__rich__().plain == "Provisioning: pulling; 35 s so far"


def test_on_a_terminal_each_event_stays_above_the_clock() -> None:
    console = Console(file=io.StringIO(), force_terminal=True, width=200)
    with start_shown_on(console) as show:
        show(PROVISIONING)
    assert isinstance(console.file, io.StringIO)
    assert "pulling; 10 s so far" in console.file.getvalue()


def test_a_cold_start_tells_how_long_it_has_taken_and_will_take() -> None:
    fields = {
        "vm_state": "COLD_START",
        "stage": "pulling",
        "message": "Starting a machine: pulling",
        "elapsed_seconds": 12,
        "estimate_seconds": 40,
        "estimate_p90_seconds": 90,
    }
    reported = narrate(Event(1, "PROVISIONING", fields))
    assert reported == "Starting a machine: pulling (12 s so far, usually 40 s, 9 of 10 within 1 min 30 s)"


def test_a_machine_that_is_there_is_printed_without_waiting_times() -> None:
    machine = {"id": "mach_1", "device_title": "AMD EPYC"}
    fields = {"vm_state": "WARM_REUSE", "stage": "ready", "machine": machine, "elapsed_seconds": 0}
    assert narrate(Event(1, "PROVISIONING", fields)) == "The machine is ready (AMD EPYC)"
    fields["message"] = "Reusing warm machine mach_1"
    assert narrate(Event(1, "PROVISIONING", fields)) == "Reusing warm machine mach_1 (AMD EPYC)"
