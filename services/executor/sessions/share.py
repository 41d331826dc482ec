"""What a session gets of its machine; pure."""

from __future__ import annotations

from dataclasses import dataclass

_OURS = 0.05
"""Part of the machine's memory that stays for the executor and the system."""
_SHM_MIB_PER_GPU = 8192
_PROCESSES_PER_GPU = 16_384
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "MAX_JOBS",
    "CMAKE_BUILD_PARALLEL_LEVEL",
)
"""Variables from which programs take their number of threads. `nproc` reads the first, too."""


@dataclass(frozen=True)
class Share:
    """A session's processors, memory, and processes with their threads; /dev/shm is within the memory."""

    cores: float
    memory_mib: int
    shared_memory_mib: int
    processes: int

    @classmethod
    def of(cls, gpus: int, machine_gpus: int, machine_cores: int, machine_memory_mib: int) -> Share:
        """Return the share of `gpus` of the machine's GPUs.

        /dev/shm is half of the memory, or 8 GiB for each GPU if that is more and there is so much: exchange between
        GPUs goes through it.
        """
        memory_mib = int(machine_memory_mib * (1 - _OURS) * gpus / machine_gpus)
        shared_memory_mib = max(memory_mib // 2, min(memory_mib, _SHM_MIB_PER_GPU * gpus))
        return cls(machine_cores * gpus / machine_gpus, memory_mib, shared_memory_mib, _PROCESSES_PER_GPU * gpus)

    @property
    def environment(self) -> dict[str, str]:
        """Variables that keep programs to the session's processors."""
        return dict.fromkeys(_THREAD_VARIABLES, str(max(1, int(self.cores))))
