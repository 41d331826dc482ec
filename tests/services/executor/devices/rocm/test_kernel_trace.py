from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.devices.profiling import Dispatch
from services.executor.devices.rocm.kernel_trace import FILE_NAME, parse_trace, read_trace

if TYPE_CHECKING:
    from pathlib import Path

# The columns are those of rocprofv3 7.0; the values are made up.
TRACE = (
    '"Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name","Correlation_Id",'
    '"Start_Timestamp","End_Timestamp","LDS_Block_Size"\n'
    '"KERNEL_DISPATCH","Agent 4",1,1,852,1,10,"scale(float*, int)",1,1551874061244694,1551874061255734,0\n'
    '"KERNEL_DISPATCH","Agent 4",1,1,852,2,13,"add_rows<float>(float*, int)",2,1551874061259214,1551874061270254,0\n'
)


def test_each_launch_is_read_with_its_kernel_and_duration() -> None:
    assert parse_trace(TRACE) == [
        Dispatch("scale(float*, int)", 11_040),
        Dispatch("add_rows<float>(float*, int)", 11_040),
    ]


def test_a_trace_without_launches_is_empty() -> None:
    assert parse_trace(TRACE.splitlines()[0]) == []


@pytest.mark.parametrize(
    "row",
    [
        '"KERNEL_DISPATCH"',
        '"K","A",1,1,1,1,1,"name",1,later,earlier,0',
        '"K","A",1,1,1,1,1,"name",1,20,10,0',
    ],
)
def test_a_row_that_makes_no_sense_is_reported_with_its_line(row: str) -> None:
    with pytest.raises(ValueError, match="line 4"):
        parse_trace(f"{TRACE}{row}\n")


@given(st.text(alphabet='abc,"\n019', max_size=200))
def test_any_text_is_a_trace_or_a_reported_fault(text: str) -> None:
    try:
        assert parse_trace(text) == []
    except ValueError as error:
        assert FILE_NAME in str(error)  # noqa: PT017  both ends are right


def test_a_link_is_not_followed_and_a_missing_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(TRACE)
    (tmp_path / FILE_NAME).symlink_to(tmp_path / "secret")
    with pytest.raises(ValueError, match="left no"):
        read_trace(tmp_path)
    (tmp_path / FILE_NAME).unlink()
    with pytest.raises(ValueError, match="left no"):
        read_trace(tmp_path)
