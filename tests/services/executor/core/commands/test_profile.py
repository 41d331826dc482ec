"""The profiler is a script that runs the program and writes the files of rocprofv3; the rest is real."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from services.executor.core.commands.profile import profile
from services.executor.core.model.job import CoreJob
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.devices.rocm.kernel_trace import FILE_NAME, read_trace
from services.executor.sandboxes.sandbox import Command, Mount
from submissions.modes import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from services.executor.core.run.context import RunContext
    from services.executor.devices.profiling import Dispatch

REPOSITORY = Path(__file__).parents[5]
SOURCE = (REPOSITORY / "problems/catalogue/relu/solution.hip").read_text()
PROFILER = f"""#!/bin/sh
"$@"
status=$?
echo '"Kernel_Name","Start_Timestamp","End_Timestamp"' >"$PROFILE/{FILE_NAME}"
echo '"relu_kernel(float const*)",1000,3500' >>"$PROFILE/{FILE_NAME}"
exit $status
"""


class TracedCpu(CpuDevice):
    """The cpu device with a profiler."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._profiler = folder / "profiler"
        self._profiler.write_text(PROFILER)
        self._profiler.chmod(0o755)

    def profile_command(self, command: Command, folder: Path) -> Command:
        mounts = (Mount(self._profiler, Path("/profiler")), Mount(folder, Path("/profile"), writable=True))
        environment = {**command.environment, "PROFILE": "/profile"}
        arguments = ("/profiler", *command.arguments)
        return replace(command, arguments=arguments, mounts=(*command.mounts, *mounts), environment=environment)

    def dispatches(self, folder: Path) -> Sequence[Dispatch]:
        return read_trace(folder)


async def test_a_profile_shows_the_kernels_of_a_checked_run(
    context: RunContext, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tmp_path.chmod(0o755)
    traced = replace(context, device=TracedCpu(tmp_path))
    status = await profile(CoreJob(SOURCE, Mode.CHECK, "relu"), traced)
    out = capsys.readouterr().out
    assert status == 0, out
    assert "relu_kernel(float const*)" in out
    assert "100.0%" in out


async def test_a_device_without_a_profiler_is_refused_by_name(
    context: RunContext, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await profile(CoreJob(SOURCE, Mode.CHECK, "relu"), context) == 2
    assert "cpu has no profiler" in capsys.readouterr().err
