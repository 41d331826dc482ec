"""What a build folder holds, and what a build leaves there: the words between compilers and those who call them."""

from __future__ import annotations

from enum import StrEnum

NO_ROOM_STATUS = 75
"""Of a build that could start no other process on this machine now: EX_TEMPFAIL of sysexits.h."""
SOURCE_OBJECTS = "solution*.o"
"""What a build leaves beside its executable: all that was made of the source alone."""
SANITIZE = "sanitize"
"""The argument of a build that asks for checks of every access to memory."""

RECORDER, REPLAYER, NOT_RECORDABLE = "recorder", "replayer", "not_recordable.txt"
"""What a build of a SOLUTION leaves beside the runner: what records its host code, what runs its kernels alone, or why
there is neither. A device that cannot do this yet leaves none of them."""


class BuildKind(StrEnum):
    """What a build folder holds."""

    SOLUTION = "solution"
    """Contract H: `solution.hip` with `extern "C" void solution(...)`, and our `harness.cpp` that calls it."""

    KERNELS = "kernels"
    """Contract D: `solution.hip`, of which nothing but its kernels becomes part of the build, and our `kernels.json`.

    That is `{"name": argument count, ...}`; a source without one of these kernels, or with another count, is at fault.
    The build links an image that `hipModuleLoadData` takes as `wavepool_kernels` (on a GPU the code object, on `cpu`
    the table of kernels) and the core's runner, which performs launch programs.
    """

    PROGRAM = "program"
    """A whole program with its own `main`: `solution.hip` alone (the sandbox endpoint)."""

    @property
    def executable(self) -> str:
        """The file that a run of the build starts."""
        return "program" if self is BuildKind.PROGRAM else "runner"


OUR_FILES = {BuildKind.SOLUTION: "harness.cpp", BuildKind.KERNELS: "kernels.json"}
"""What a build folder holds beside `solution.hip`."""


class ToolchainError(Exception):
    """A device's toolchain is missing or broken; the message says what to install."""
