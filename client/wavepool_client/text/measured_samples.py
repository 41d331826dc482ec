"""The samples of a benchmark, as a table for people and as lines for other programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any

from wavepool_client.text.narration import format_milliseconds

_INSTRUMENTS = ("clock_mhz", "temperature_celsius", "power_watts")
_UNITS = {"clock_mhz": "MHz", "temperature_celsius": "°C", "power_watts": "W"}
SAMPLE_COLUMNS = ("test_id", "name", "session", "sample", "ms", "replaced_ms", "cause", "time_ms", *_INSTRUMENTS)
"""`sample` counts from 0 over all sessions of a test case; the last four are empty where there was no reading."""
SESSION_COLUMNS = ("test", "session", "samples", "median", "least", "most", "taken again")


def session_rows(found: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """The rows of the table: each session of each test case."""
    for case in found["cases"]:
        for session in case["sessions"]:
            times = session["samples_ms"]
            spread = (median(times), min(times), max(times)) if times else (None,) * 3
            shown = (None if ms is None else format_milliseconds(ms) for ms in spread)
            again = ", ".join(str(one.get("cause")) for one in session["replaced"])
            yield case["name"], session["session"], len(times), *shown, again


def instrument_texts(found: Mapping[str, Any]) -> Iterator[str]:
    """A line for each test case with readings: from and to which values they went."""
    for case in found["cases"]:
        ranges: list[str] = []
        for name in _INSTRUMENTS:
            values = [one[name] for one in case["instruments"] if one.get(name) is not None]
            if values:
                ranges.append(f"{min(values):g} to {max(values):g} {_UNITS[name]}")
        if ranges:
            yield f"{case['name']}: {', '.join(ranges)}"


def sample_lines(found: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """The lines below SAMPLE_COLUMNS, one for each sample."""
    for case in found["cases"]:
        readings = {one["sample"]: one for one in case["instruments"]}
        first = 0
        for session in case["sessions"]:
            replaced = {one["index"]: one for one in session["replaced"]}
            for index, ms in enumerate(session["samples_ms"]):
                before, reading = replaced.get(index, {}), readings.get(first + index, {})
                own = (case["test_id"], case["name"], session["session"], first + index, ms)
                state = (reading.get(name) for name in ("time_ms", *_INSTRUMENTS))
                yield *own, before.get("ms"), before.get("cause"), *state
            first += len(session["samples_ms"])
