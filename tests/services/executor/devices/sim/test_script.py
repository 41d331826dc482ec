from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.devices.sim.noise import MODELS
from services.executor.devices.sim.script import Script, ScriptError, script_of
from services.executor.devices.sim.simulation import simulation_source


@given(
    st.floats(0, 1e6),
    st.sampled_from(sorted(MODELS)),
    st.integers(0, 1000),
    st.floats(0, 10),
)
def test_what_is_written_is_what_is_read(latency_us: float, noise: str, number: int, claim: float) -> None:
    source = (
        f"#include <x>\n  // sim: latency_us={latency_us!r} noise={noise}\nint main();\n"
        f"//sim: crash_at={number} claim={claim!r}\n"
    )
    assert script_of(source) == Script(latency_us=latency_us, noise=noise, crash_at=number, claim=claim)


@given(st.text())
def test_any_source_has_a_script_or_a_reason_why_not(source: str) -> None:
    with suppress(ScriptError):
        assert script_of(source).noise in MODELS


def test_a_source_without_a_script_has_the_usual_one() -> None:
    assert script_of("// simulated, similar: no\nint x; // a sim: of its own\n") == Script()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("speed=3", "known are latency_us="),
        ("noise=pink", "known are quiet, skewed"),
        ("latency_us=fast", "is not a number"),
        ("latency_us=nan", "must be from 0"),
        ("crash_at=-1", "must be from 0"),
        ("crash_at=1.5", "is not a number"),
    ],
)
def test_what_is_not_understood_is_named_with_what_is_known(line: str, words: str) -> None:
    with pytest.raises(ScriptError, match=words):
        script_of(f"// sim: {line}\n")


def test_a_build_that_does_nothing_takes_no_time() -> None:
    assert "latency_ns = 250000.0" in simulation_source(Script(latency_us=250))
    assert "latency_ns = 0.0" in simulation_source(Script(), does_nothing=True)


def test_the_same_seed_gives_the_same_times_and_another_gives_others() -> None:
    first = simulation_source(Script())
    assert first == simulation_source(Script())
    assert first != simulation_source(Script(seed=2))
