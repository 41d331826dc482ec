from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wavepool_client.http.event_stream import Event
from wavepool_client.text.isa import isa_text
from wavepool_client.text.narration import narrate

HINT = {"line": 7, "what": "it spills", "why": "too many values", "advice": "fewer of them"}
KERNEL: dict[str, Any] = {
    "vgpr": 128,
    "sgpr": 16,
    "agpr": 0,
    "lds_bytes": 512,
    "spills": 3,
    "mfma": 4,
    "occupancy": 4,
    "limited_by": "vgpr",
    "hints": [HINT],
}


def test_a_kernel_is_a_line_and_its_hints_say_what_why_and_what_to_do() -> None:
    figures = "128 VGPR, 16 SGPR, 512 B LDS, 4 MFMA, 3 spilled, 4 of 8 wavefronts (limited by vector registers)"
    assert isa_text({"isa": {"gemm": KERNEL}, "isa_note": "sinf is not counted"}).splitlines() == [
        f"  MI300X gemm: {figures}",
        "    line 7: it spills",
        "      why: too many values",
        "      do:  fewer of them",
        "  sinf is not counted",
    ]


def test_progress_tells_it_after_the_compile() -> None:
    event = Event(1, "COMPILED", {"duration_ms": 12, "warnings": "", "isa": {"gemm": KERNEL}})
    assert narrate(event).startswith("Compiled in 12 ms\n  MI300X gemm: 128 VGPR")


def test_a_gateway_that_knows_nothing_of_it_adds_nothing() -> None:
    assert isa_text({}) == ""


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.dictionaries(st.sampled_from(["isa", "isa_note", "hints"]), json_values))
def test_fields_of_any_kind_are_no_harm(fields: dict[str, Any]) -> None:
    isa_text(fields)


@given(st.dictionaries(st.sampled_from([*KERNEL]), json_values))
def test_kernels_of_any_kind_are_no_harm(kernel: dict[str, Any]) -> None:
    isa_text({"isa": {"k": kernel}})
