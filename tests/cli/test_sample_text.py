"""The values of a sample run, formatted for people."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wavepool_client.text.samples import sample_text

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def test_input_output_and_what_was_expected_are_printed_by_name() -> None:
    fields = {"input": {"x": [1.0, 0.1], "n": 2}, "output": [2.0, None], "expected_output": [2.0, 0.2]}
    assert sample_text(fields) == [
        "input:",
        "  x = 1  0.1",
        "  n = 2",
        "your output:",
        "  2  NaN or inf",
        "expected output:",
        "  2  0.2",
    ]


def test_a_matrix_has_a_line_a_row_below_its_name() -> None:
    assert sample_text({"input": {"a": [[1, 2], [3, 4]]}, "output": 1, "expected_output": 1})[1:3] == [
        "  a = 1  2",
        "      3  4",
    ]


def test_matrices_of_a_stack_are_apart() -> None:
    lines = sample_text({"input": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], "output": 1, "expected_output": 1})
    assert lines[1:7] == ["  1  2", "  3  4", "", "  5  6", "  7  8", ""]


def test_several_outputs_are_printed_by_name() -> None:
    several = {"multi": True, "names": ["values", "indices"], "values": [[0.5], [3]]}
    expected = ["expected output:", "  values = 0.5", "  indices = 3"]
    lines = sample_text({"input": {}, "output": several, "expected_output": several})
    assert lines == ["input:", "your output:", "  values = 0.5", "  indices = 3", *expected]


def test_an_event_without_values_has_no_lines() -> None:
    assert sample_text({"status": "ACCEPTED"}) == []


@given(JSON, JSON)
def test_values_of_any_kind_are_no_harm(value: Any, other: Any) -> None:
    lines = sample_text({"input": value, "output": other, "expected_output": {"multi": True, "values": value}})
    assert all(isinstance(line, str) for line in lines)
