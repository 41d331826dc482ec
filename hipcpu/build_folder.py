"""Contents of a build folder before and after a build, shared by compilers and their callers."""

from __future__ import annotations

from enum import StrEnum

NO_ROOM_STATUS = 75
"""Status of a build that could start no other process on this machine: EX_TEMPFAIL of sysexits.h."""
SOURCE_OBJECTS = "solution*.o"
"""Objects that a build leaves beside its executable: all that was made from the source alone."""
SANITIZE = "sanitize"
"""Argument for a build that checks every memory access."""

RECORDER, REPLAYER, NOT_RECORDABLE = "recorder", "replayer", "not_recordable.txt"
"""Files that a build of a SOLUTION leaves beside the runner.

They are the recorder of its host code and the replayer of its kernels, or the reason why there is neither. A device
that does not support this leaves none.
"""


class BuildKind(StrEnum):
    """Contents of a build folder."""

    SOLUTION = "solution"
    """Contract H: `solution.hip` with `extern "C" void solution(...)`, and our `harness.cpp` that calls it."""

    KERNELS = "kernels"
    """Contract D: `solution.hip`, of which only the kernels become part of the build, and our `kernels.json`.

    That is `{"name": argument count, ...}`; a source that lacks one of these kernels, or has another count, is at
    fault. The build links an image that `hipModuleLoadData` takes as `wavepool_kernels` (on a GPU the code object, on
    `cpu` the table of kernels) and the core's runner, which performs launch programs.
    """

    PROGRAM = "program"
    """A whole program with its own `main`: `solution.hip` alone (the sandbox endpoint)."""

    @property
    def executable(self) -> str:
        """File that a run of the build starts."""
        return "program" if self is BuildKind.PROGRAM else "runner"


OUR_FILES = {BuildKind.SOLUTION: "harness.cpp", BuildKind.KERNELS: "kernels.json"}
"""The other files that a build folder holds beside `solution.hip`."""


class ToolchainError(Exception):
    """A device's toolchain is missing or broken; the message says what to install."""
