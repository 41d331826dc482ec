"""The kernel trace of rocprofv3: one CSV file per process, which user code in the sandbox could have written."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from services.executor.devices.profiling import Dispatch
from services.executor.sandboxes.sandbox_files import LeftFileError, read_left

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "wavepool_kernel_trace.csv"
"""Name of the trace with `--output-file wavepool`."""
_MOST_BYTES = 64 << 20


def read_trace(folder: Path) -> list[Dispatch]:
    """Return the launches in the trace in `folder`; raises ValueError if there is no valid trace."""
    try:
        return parse_trace(read_left(folder / FILE_NAME, _MOST_BYTES).decode(errors="replace"))
    except LeftFileError as error:
        raise ValueError(f"rocprofv3 left no trace: {error}") from error


def parse_trace(text: str) -> list[Dispatch]:
    """Parse a trace; columns are found by name, as versions of rocprofv3 add some. Raises ValueError."""
    dispatches: list[Dispatch] = []
    for number, row in enumerate(csv.DictReader(io.StringIO(text)), 2):
        try:
            duration_ns = int(row["End_Timestamp"]) - int(row["Start_Timestamp"])
            dispatches.append(Dispatch(row["Kernel_Name"], duration_ns))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{FILE_NAME}, line {number}: no kernel with its times ({error!r})") from error
        if duration_ns < 0:
            raise ValueError(f"{FILE_NAME}, line {number}: a kernel that ended before it began")
    return dispatches
