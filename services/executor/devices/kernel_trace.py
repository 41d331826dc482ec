"""Kernel traces: a CSV file with a line for each launch, which user code in the sandbox could have written.

The columns are those of rocprofv3's kernel trace; the runtime of the `cpu` device writes some of them. Versions differ:
up to ROCm 6.3 it had `Private_Segment_Size` and `Group_Segment_Size` and no registers. So columns are found by name,
and those about resources may be missing.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

from services.executor.devices.profiling import Dispatch, Extent, LaunchFacts, shown_name
from services.executor.sandboxes.sandbox_files import LeftFileError, read_left

Row = Mapping[str, str | None]

OUTPUT_NAME = "wavepool"
FILE_NAME = f"{OUTPUT_NAME}_kernel_trace.csv"
"""Name of the trace with `--output-file wavepool`."""
MOST_BYTES = 64 << 20
MOST_LAUNCHES = 200_000
"""Parsed in less than two seconds, in which the judge does nothing else."""
_LONGEST_NS = 3600 * 10**9
"""A profile ends long before; so sums of the most launches fit into 64 bits."""
_LARGEST = 1 << 40


def read_trace(folder: Path, tool: str) -> list[Dispatch]:
    """Return the launches in the trace that `tool` wrote into `folder`; raises ValueError if there is no valid one."""
    try:
        return parse_trace(read_left(folder / FILE_NAME, MOST_BYTES).decode(errors="replace"))
    except LeftFileError as error:
        raise ValueError(f"{tool} left no trace: {error}") from error


def parse_trace(text: str) -> list[Dispatch]:
    """Parse a trace. Raises ValueError, with the line."""
    rows = csv.DictReader(io.StringIO(text))
    try:
        dispatches = [_dispatch(row) for row in islice(rows, MOST_LAUNCHES + 1)]
    except (csv.Error, ValueError) as error:
        raise ValueError(f"{FILE_NAME}, line {rows.line_num}: {error}") from error
    if len(dispatches) > MOST_LAUNCHES:
        raise ValueError(f"{FILE_NAME}: more than {MOST_LAUNCHES:,} launches")
    return dispatches


def _dispatch(row: Row) -> Dispatch:
    name = row.get("Kernel_Name")
    start, end = (_number(row, column, 2**63) for column in ("Start_Timestamp", "End_Timestamp"))
    if not name or start is None or end is None:
        raise ValueError("no kernel with its times")
    if not 0 <= end - start <= _LONGEST_NS:
        raise ValueError("a kernel that ended before it began, or took more than an hour")
    block = _extent(row, "Workgroup_Size")
    return Dispatch(
        LaunchFacts(
            shown_name(name),
            grid=_blocks(_extent(row, "Grid_Size"), block),
            block=block,
            vgpr=_number(row, "VGPR_Count"),
            agpr=_number(row, "Accum_VGPR_Count"),
            sgpr=_number(row, "SGPR_Count"),
            lds_bytes=_either(row, "LDS_Block_Size", "Group_Segment_Size"),
            scratch_bytes=_either(row, "Scratch_Size", "Private_Segment_Size"),
        ),
        end - start,
    )


def _number(row: Row, column: str, most: int = _LARGEST) -> int | None:
    """A number of the row; None if there is no such column. Raises ValueError."""
    text = row.get(column)
    if text is None:
        return None
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"{column} is no number") from None
    if not 0 <= number < most:
        raise ValueError(f"{column} is out of range")
    return number


def _either(row: Row, column: str, older: str) -> int | None:
    number = _number(row, column)
    return _number(row, older) if number is None else number


def _extent(row: Row, column: str) -> Extent | None:
    x, y, z = (_number(row, f"{column}_{axis}") for axis in "XYZ")
    return None if x is None or y is None or z is None else Extent(x, y, z)


def _blocks(threads: Extent | None, block: Extent | None) -> Extent | None:
    """The grid in blocks; a trace has it in threads."""
    if threads is None or block is None:
        return None
    if not (block.x and block.y and block.z):
        raise ValueError("a block without threads")
    return Extent(-(-threads.x // block.x), -(-threads.y // block.y), -(-threads.z // block.z))
