"""Traces that were recorded by rocprofv3, and what a submission could write in their place.

The recorded ones are from github.com/ROCm/rocprofiler-sdk, source/docs/data/kernel_trace.csv, at commits 481f7ff4
(with registers) and 029ff02a (before them; its first two launches).
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.devices.kernel_trace import FILE_NAME, MOST_BYTES, MOST_LAUNCHES, parse_trace, read_trace
from services.executor.devices.profiling import Dispatch, Extent, LaunchFacts, kernels_of

TRACES = Path(__file__).parent / "traces"
RECORDED = (TRACES / "rocprofv3-rocm-7.csv").read_text()
OLDER = (TRACES / "rocprofv3-rocm-6.csv").read_text()
ADDITION = "void addition_kernel<float>(float*, float const*, float const*, int, int)"
COLUMNS = '"Kernel_Name","Start_Timestamp","End_Timestamp"\n'


def test_a_recorded_launch_has_its_time_its_shape_in_blocks_and_its_resources() -> None:
    first = parse_trace(RECORDED)[0]
    facts = LaunchFacts(ADDITION, Extent(16, 1024, 1), Extent(64, 1, 1), 8, 0, 16, 0, 0)
    assert first == Dispatch(facts, 12_800)


def test_a_trace_of_an_older_release_lacks_the_registers_alone() -> None:
    first = parse_trace(OLDER)[0]
    facts = LaunchFacts(ADDITION, Extent(16, 1024, 1), Extent(64, 1, 1), lds_bytes=0, scratch_bytes=0)
    assert first == Dispatch(facts, 16_157)


def test_the_kernels_of_a_recorded_trace_are_counted_and_added_up() -> None:
    kernels = {kernel.name.partition("_")[0]: kernel for kernel in kernels_of(parse_trace(RECORDED))}
    assert {name: kernel.calls for name, kernel in kernels.items()} == {
        "void addition": 3,
        "divide": 2,
        "multiply": 2,
        "subtract": 2,
    }
    addition = kernels["void addition"]
    assert (addition.total_ns, addition.min_ns, addition.max_ns) == (34_040, 9_840, 12_800)
    assert addition.mean_ns == pytest.approx(34_040 / 3)
    assert (kernels["divide"].vgpr, kernels["divide"].agpr, kernels["divide"].sgpr) == (12, 4, 16)


def test_a_trace_without_launches_is_empty() -> None:
    assert parse_trace(RECORDED.splitlines()[0]) == []
    assert parse_trace("") == []


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ("kernel", "no kernel with its times"),
        (",1,2", "no kernel with its times"),
        ("kernel,later,2", "Start_Timestamp is no number"),
        ("kernel,20,10", "ended before it began"),
        (f"kernel,0,{3601 * 10**9}", "more than an hour"),
        ("kernel,-1,2", "Start_Timestamp is out of range"),
        (f"kernel,1,{2**63}", "End_Timestamp is out of range"),
        (f"kernel,1,{'9' * 5000}", "End_Timestamp is no number"),
        (f"{'k' * 200_000},1,2", "field larger than field limit"),
    ],
)
def test_a_row_that_makes_no_sense_is_reported_with_its_line(row: str, fault: str) -> None:
    with pytest.raises(ValueError, match=rf"line [23]: .*{fault}"):
        parse_trace(f"{COLUMNS}right,1,2\n{row}\n")


@pytest.mark.parametrize(
    "row", ["k,1,2,0,1,1,8,8,8", "k,1,2,x,1,1,8,8,8", "k,1,2,1,1,1,8,8,-8", "k,1,2,1,1,1,8,8,99999999999999"]
)
def test_a_shape_that_no_launch_has_is_reported(row: str) -> None:
    axes = ",".join(f"{name}_{axis}" for name in ("Workgroup_Size", "Grid_Size") for axis in "XYZ")
    with pytest.raises(ValueError, match="line 2"):
        parse_trace(f"{COLUMNS.strip()},{axes}\n{row}\n")


def test_a_name_is_cut_and_nothing_in_it_moves_a_terminal() -> None:
    [dispatch] = parse_trace(f'{COLUMNS}"\x1b[2Jbell\a\u202eabc\n{"x" * 2000}",1,2\n')
    assert dispatch.launch.name.startswith("?[2Jbell??abc?xxx")
    assert len(dispatch.launch.name) == 512


def test_no_more_launches_are_read_than_the_judge_has_time_for() -> None:
    trace = COLUMNS + "k,1,2\n" * (MOST_LAUNCHES + 1)
    begin = time.process_time()
    with pytest.raises(ValueError, match=f"more than {MOST_LAUNCHES:,} launches"):
        parse_trace(trace)
    assert time.process_time() - begin < 5


def test_the_sums_of_the_largest_trace_fit_into_64_bits() -> None:
    assert MOST_LAUNCHES * 3600 * 10**9 < 2**63


@given(st.text(max_size=200) | st.text(alphabet='abc,"\n019\0', max_size=200).map(lambda text: COLUMNS + text))
def test_any_text_is_a_trace_or_a_reported_fault(text: str) -> None:
    try:
        for dispatch in parse_trace(text):
            assert dispatch.launch.name.isprintable()
            assert dispatch.duration_ns >= 0
    except ValueError as error:
        assert FILE_NAME in str(error)  # noqa: PT017  both ends are right


@given(st.binary(max_size=200))
def test_bytes_of_no_encoding_are_a_trace_or_a_reported_fault(data: bytes) -> None:
    try:
        parse_trace((COLUMNS.encode() + data).decode(errors="replace"))
    except ValueError as error:
        assert FILE_NAME in str(error)  # noqa: PT017


def test_a_link_is_not_followed_and_a_missing_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(RECORDED)
    (tmp_path / FILE_NAME).symlink_to(tmp_path / "secret")
    with pytest.raises(ValueError, match="rocprofv3 left no trace"):
        read_trace(tmp_path, "rocprofv3")
    (tmp_path / FILE_NAME).unlink()
    with pytest.raises(ValueError, match="rocprofv3 left no trace"):
        read_trace(tmp_path, "rocprofv3")


def test_neither_a_pipe_nor_a_file_without_end_is_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / FILE_NAME)
    with pytest.raises(ValueError, match="no regular file"):
        read_trace(tmp_path, "rocprofv3")
    (tmp_path / FILE_NAME).unlink()
    with (tmp_path / FILE_NAME).open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    with pytest.raises(ValueError, match="at most"):
        read_trace(tmp_path, "rocprofv3")
