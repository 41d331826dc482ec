"""The executor's settings."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field, field_validator
from pydantic_settings import SettingsConfigDict

from servicekit.config import ServiceSettings
from servicekit.sandbox_settings import SandboxSettings
from services.executor.core.run.installation import default_cache_folder
from services.executor.devices.plugins import device_names
from services.executor.leases.authentication import Tokens
from services.executor.leases.fence_file import FenceFile
from services.executor.machine.kept_secret import kept_secret
from services.executor.machine.signing import Signer
from services.executor.runs.all_runs import Capacity
from vocabulary.ports import USUAL_PORTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.devices.inventory import GpuFacts

_ADMIN_TOKEN_FILE = "executor-admin-token"  # noqa: S105  a file's name
_SIGNING_KEY_FILE = "executor-signing-key"
_FENCE_FILE = "executor-fence.json"


class CapacityError(ValueError):
    """The settings ask for more than the machine has; the message names the setting."""


class ExecutorSettings(SandboxSettings, ServiceSettings):
    """Read from `EXECUTOR_*`."""

    model_config = SettingsConfigDict(env_prefix="EXECUTOR_", populate_by_name=True)

    port: int = USUAL_PORTS["executor"]
    drain: timedelta = timedelta(seconds=4)
    """How long runs in flight may go on after SIGTERM; below the grace that local machines are given to stop."""
    device: str = "cpu"
    """One of the installed devices."""
    cache_dir: Path = Field(default_factory=default_cache_folder)
    cache_mib: Annotated[int, Field(gt=0)] = 2048
    """The most that finished builds may fill."""
    work_dir: Path = Field(default_factory=lambda: Path(tempfile.gettempdir()))
    """Where runs have their folders while they last."""
    forbidden_file: Path | None = None
    """Adds to the rules of what submissions may not use (core/compile/forbidden.toml), or changes them."""
    torch_python: Path | None = None
    """The Python that problem definitions of submissions run on, with torch; unset: what deploy/setup-torch made."""
    token: str = ""
    """What holders of this machine's lease must show."""
    admin_token: str = ""
    """What other internal callers must show. With neither, one is made and kept in `data_dir`."""
    signing_key_file: Path | None = None
    """The Ed25519 key that reports are signed with, 64 hex digits; by default one is made and kept in `data_dir`."""
    fence_file: Path | None = None
    """Where the newest fencing tokens are kept for the time after a restart; by default in `data_dir`."""
    max_runs: Annotated[int, Field(ge=1)] | None = None
    """Runs at once; one for each device where it is not set. More on one device disturb each other's times."""
    gpu_count: Annotated[int, Field(ge=1)] | None = None
    """How many of the GPUs leases can be on, from the first; all where it is not set, and 1 on a machine without."""
    judge_spares: Annotated[int, Field(ge=0)] = 2
    """Judge processes that wait for runs."""
    keep_duration: timedelta = timedelta(minutes=10)
    """How long the events of a finished run are kept for those who come back."""
    kept_finished: Annotated[int, Field(ge=1)] = 64
    pool_timeout: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(0)
    """How long its pool may be silent before an executor that nothing runs on ends; 0: it has no pool, and stays."""

    @field_validator("device")
    @classmethod
    def _known_device(cls, value: str) -> str:
        if value not in device_names():
            raise ValueError(f"must be one of {', '.join(device_names())}; it is {value!r}")
        return value

    def capacity(self, gpus: Sequence[GpuFacts]) -> Capacity:
        """How much runs at once and is kept, on a machine with these GPUs; raises CapacityError."""
        counts = tuple(gpu.device_count for gpu in gpus)
        if self.gpu_count is not None:
            if gpus and self.gpu_count > len(gpus):
                raise CapacityError(f"EXECUTOR_GPU_COUNT: is {self.gpu_count}; this machine has {len(gpus)} GPUs")
            # Where there are none, each lease of one stands for the whole machine's processor.
            counts = counts[: self.gpu_count] or (1,) * self.gpu_count
        counts = counts or (1,)
        return Capacity(
            max_runs=self.max_runs or sum(counts),
            device_counts=counts,
            kept_finished=self.kept_finished,
            keep_duration=self.keep_duration,
        )

    def tokens(self) -> Tokens:
        """The tokens that are accepted; makes an administrator's where none is set."""
        if self.token or self.admin_token:
            return Tokens(self.token, self.admin_token)
        return Tokens("", kept_secret(self.data_dir / _ADMIN_TOKEN_FILE, lambda: secrets.token_urlsafe(32)))

    def signer(self) -> Signer:
        """What reports are signed with; raises SigningKeyError."""
        return Signer.kept_in(self.signing_key_file or self.data_dir / _SIGNING_KEY_FILE)

    def fence(self) -> FenceFile:
        """Where the newest fencing tokens are kept."""
        return FenceFile(self.fence_file or self.data_dir / _FENCE_FILE, self.token)

    def fork_server_command(self, runs_at_once: int) -> list[str]:
        """What starts the fork server of judges, which share the machine."""
        words = [*self.core_options(), "--runs-at-once", str(runs_at_once)]
        return [sys.executable, "-m", "services.executor.core", "fork-server", *words]

    def core_options(self) -> list[str]:
        """The options by which a command of the core does as this executor does."""
        options = {
            "--device": self.device,
            "--sandbox": self.sandbox,
            "--cache-folder": str(self.cache_dir.absolute()),
            "--cache-mib": str(self.cache_mib),
        }
        if self.forbidden_file is not None:
            options["--forbidden"] = str(self.forbidden_file.absolute())
        if self.torch_python is not None:
            # Not resolved: a virtual environment's Python is a link that knows its place.
            options["--torch-python"] = str(self.torch_python.absolute())
        if self.box_memory is not None:
            options["--box-memory-mib"] = str(self.box_memory)
        if self.box_cores is not None:
            options["--box-cores"] = f"{self.box_cores:g}"
        return [word for option in options.items() for word in option]

    def judge_environment(self, runs_at_once: int) -> dict[str, str]:
        """Ours without its secrets; temporary folders go to `work_dir`, and numpy has its share of threads."""
        public = {name: value for name, value in os.environ.items() if not name.endswith("_TOKEN")}
        threads = max(1, len(os.sched_getaffinity(0)) // runs_at_once)
        return {"OPENBLAS_NUM_THREADS": str(threads), **public, "TMPDIR": str(self.work_dir.absolute())}
