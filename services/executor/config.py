"""The executor's settings."""

from __future__ import annotations

import os
import secrets
import sys
import tempfile
from collections.abc import Sequence
from datetime import timedelta
from ipaddress import IPv4Address, IPv4Network, IPv6Network
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, InstanceOf, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from servicekit.settings.amounts import mib_setting
from servicekit.settings.config import CommaSeparated, ServiceSettings
from servicekit.settings.sandbox_settings import SandboxSettings
from services.executor.core.run.installation import default_cache_folder
from services.executor.devices.inventory import GpuFacts
from services.executor.devices.plugins import device_names
from services.executor.disks.choice import wrong_place
from services.executor.images.builder import BuildRules
from services.executor.images.image_store import ImageRules
from services.executor.images.registries import Registries, registry_setting
from services.executor.leases.authentication import Tokens
from services.executor.leases.fence_file import FenceFile
from services.executor.machine.kept_secret import kept_secret
from services.executor.machine.signing import Signer
from services.executor.runs.admission import Capacity
from services.executor.sandboxes.sandbox import Mount
from services.executor.sessions.disk import DiskRules
from services.executor.sessions.homes.kept_home import SnapshotRules
from services.executor.sessions.network.destinations import Destinations, denied_network, reachable_network
from services.executor.sessions.root.shared_folders import shared_folder
from vocabulary.ports import USUAL_PORTS

_ADMIN_TOKEN_FILE = "executor-admin-token"  # noqa: S105  a file's name
_SIGNING_KEY_FILE = "executor-signing-key"
_Reachable = Annotated[IPv4Network, BeforeValidator(reachable_network)]
_Denied = Annotated[IPv4Network | IPv6Network, BeforeValidator(denied_network)]
_FENCE_FILE = "executor-fence.json"


class CapacityError(ValueError):
    """The settings ask for more than the machine has; the message names the setting."""


class ExecutorSettings(SandboxSettings, ServiceSettings):
    """Settings read from `EXECUTOR_*`."""

    model_config = SettingsConfigDict(env_prefix="EXECUTOR_", populate_by_name=True)

    port: int = USUAL_PORTS["executor"]
    drain: timedelta = timedelta(seconds=4)
    """Time that runs in flight may still take after SIGTERM; less than local machines get to stop."""
    device: str = "cpu"
    """Name of an installed device."""
    cache_dir: Path = Field(default_factory=default_cache_folder)
    cache_mib: Annotated[int, Field(gt=0)] = 2048
    """Maximum size of all finished builds."""
    work_dir: Path = Field(default_factory=lambda: Path(tempfile.gettempdir()))
    """Parent of the runs' temporary folders."""
    forbidden_file: Path | None = None
    """File that adds to or changes the rules on forbidden code in submissions (core/compile/forbidden.toml)."""
    torch_python: Path | None = None
    """Python with torch for the problem definitions of submissions; if unset, the one that deploy/setup-torch made."""
    hip_version: Annotated[str, Field(pattern=r"^([0-9]+(\.[0-9]+)?)?$")] = ""
    """Release of HIP whose refusals and report for the MI300X count, such as `7` or `6.4`; empty: ROCm's own, or the
    newest."""
    token: str = ""
    """Token for the holder of this machine's lease."""
    admin_token: str = ""
    """Token for other internal callers. If neither token is set, one is made and kept in `data_dir`."""
    signing_key_file: Path | None = None
    """File with the Ed25519 key that signs reports, as 64 hex digits; by default one is made and kept in `data_dir`."""
    fence_file: Path | None = None
    """File that keeps the newest fencing tokens over a restart; by default in `data_dir`."""
    max_runs: Annotated[int, Field(ge=1)] | None = None
    """Maximum number of runs at once; one per device if unset. Several runs on one device disturb each other's times.
    """
    gpu_count: Annotated[int, Field(ge=1)] | None = None
    """Number of GPUs that can be leased, from the first; all if unset, and 1 on a machine without a GPU."""
    judge_spares: Annotated[int, Field(ge=0)] = 2
    """Number of judge processes that wait for runs."""
    keep_duration: timedelta = timedelta(minutes=10)
    """Time that the events of a finished run are kept for clients that come back."""
    kept_finished: Annotated[int, Field(ge=1)] = 64
    homes_dir: Path | None = None
    """Parent of the homes of sessions that are kept after their end; by default `homes` in `data_dir`."""
    machine_address: IPv4Address | None = None
    """This machine's address in the network of the pool's machines, at which nodes of reservations of several reach one
    another; unset: the pool finds it among all that the machine has."""
    session_network: Literal["outbound", "none"] = "outbound"
    """Whether sessions have a network; where none can be made they have none, and say so."""
    session_reaches: CommaSeparated[_Reachable] = ()
    """Private networks that sessions may reach, such as that of a mirror of packages."""
    session_denies: CommaSeparated[_Denied] = ()
    """Networks that sessions may not reach, besides the private ones and this machine."""
    shared_folders: CommaSeparated[Annotated[InstanceOf[Mount], BeforeValidator(shared_folder)]] = ()
    """Folders of this machine that all sessions see in `/shared`, read-only, or `PATH:rw`."""
    session_disk: Annotated[int, BeforeValidator(mib_setting)] = 100 << 10
    """MiB of the disk that a session may use for each of its GPUs, given with a unit: `100g`."""
    session_disk_reserve: Annotated[int, BeforeValidator(mib_setting)] = 5 << 10
    """MiB of the disk that stay free: a session that takes of them is ended."""
    disks: str = ""
    """Where disks of reservations are kept: by restic, such as `folder:/PATH` on storage that lasts; empty: nowhere."""
    disks_ssh: Path | None = None
    """Folder with the private key `id` and the file `known_hosts` for disks at `restic:sftp:…`."""
    snapshot_interval: Annotated[timedelta, Field(gt=timedelta(0))] = timedelta(minutes=15)
    """Time between two snapshots of a disk that is in use."""
    snapshot_timeout: Annotated[timedelta, Field(gt=timedelta(0), le=timedelta(minutes=8))] = timedelta(minutes=5)
    """The most that a snapshot may take; the scheduler waits for a session's end for 10 minutes."""
    snapshot_files: Annotated[int, Field(ge=1)] = 2_000_000
    """The most files of a disk, with folders."""
    image_registries: CommaSeparated[Annotated[str, BeforeValidator(registry_setting)]] = ()
    """Registries, `host[:port]`, that images of sessions may come from; without any, sessions have no images."""
    image_insecure_registries: CommaSeparated[Annotated[str, BeforeValidator(registry_setting)]] = ()
    """More of them that are spoken to without TLS, such as a laboratory's on this machine."""
    image_auth_file: Path | None = None
    """File with the credentials for these registries, as `skopeo login --authfile` writes it."""
    image_size: Annotated[int, BeforeValidator(mib_setting)] = 60 << 10
    """MiB that one image may have, compressed and unpacked, given with a unit: `60g`."""
    image_files: Annotated[int, Field(ge=1)] = 2_000_000
    """The most files of an image, with folders."""
    image_cache: Annotated[int, BeforeValidator(mib_setting)] = 200 << 10
    """MiB that all images together may take before those used least recently are removed, given with a unit: `200g`."""
    image_timeout: Annotated[timedelta, Field(gt=timedelta(0), le=timedelta(minutes=50))] = timedelta(minutes=30)
    """The most that fetching and unpacking an image may take; the scheduler waits for a session for an hour."""
    build_timeout: Annotated[timedelta, Field(gt=timedelta(0), le=timedelta(minutes=50))] = timedelta(minutes=30)
    """The most that building an image may take, with fetching what it is built from."""
    build_size: Annotated[int, BeforeValidator(mib_setting)] = 120 << 10
    """MiB of the disk that a build may take, given with a unit: `120g`."""
    build_memory: Annotated[int, BeforeValidator(mib_setting)] = 8 << 10
    """MiB of memory that a build may take, given with a unit: `8g`."""
    build_cores: Annotated[float, Field(gt=0)] = 4.0
    """Processors that a build may take."""
    pool_timeout: Annotated[timedelta, Field(ge=timedelta(0))] = timedelta(0)
    """Silence of the pool after which an idle executor ends; with 0 it has no pool, and stays."""

    @field_validator("device")
    @classmethod
    def _known_device(cls, value: str) -> str:
        if value not in device_names():
            raise ValueError(f"must be one of {', '.join(device_names())}; it is {value!r}")
        return value

    @model_validator(mode="after")
    def _known_place(self) -> Self:
        if fault := wrong_place(self.disks, self.disks_ssh):
            raise ValueError(f"disks: {fault}")
        return self

    @property
    def snapshot_rules(self) -> SnapshotRules:
        """When snapshots of disks are taken."""
        reserve_bytes = self.session_disk_rules.reserve_bytes
        return SnapshotRules(self.snapshot_interval, self.snapshot_timeout, self.snapshot_files, reserve_bytes)

    @property
    def registries(self) -> Registries:
        """Where images of sessions may come from."""
        return Registries(self.image_registries, self.image_insecure_registries, self.image_auth_file)

    @property
    def image_rules(self) -> ImageRules:
        """How much images may take."""
        return ImageRules(
            most_bytes=self.image_size << 20,
            most_files=self.image_files,
            most_bytes_in_all=self.image_cache << 20,
            longest=self.image_timeout,
            # Sessions end if less than their reserve is free: fetching stops well before.
            reserve_bytes=2 * self.session_disk_rules.reserve_bytes,
        )

    @property
    def build_rules(self) -> BuildRules:
        """How much builds of images may take."""
        return BuildRules(self.build_timeout, self.build_size << 20, self.build_memory, self.build_cores)

    @property
    def destinations(self) -> Destinations | None:
        """What sessions may reach; None if they are to have no network."""
        return Destinations(self.session_reaches, self.session_denies) if self.session_network == "outbound" else None

    @property
    def session_disk_rules(self) -> DiskRules:
        """How much of the disk sessions may use."""
        return DiskRules(self.session_disk << 20, self.session_disk_reserve << 20)

    def capacity(self, gpus: Sequence[GpuFacts]) -> Capacity:
        """Return how much runs at once and is kept on a machine with these GPUs; raises CapacityError."""
        counts = tuple(gpu.device_count for gpu in gpus)
        if self.gpu_count is not None:
            if gpus and self.gpu_count > len(gpus):
                raise CapacityError(f"EXECUTOR_GPU_COUNT: is {self.gpu_count}; this machine has {len(gpus)} GPUs")
            # Without GPUs, each lease of one stands for all processors of the machine.
            counts = counts[: self.gpu_count] or (1,) * self.gpu_count
        counts = counts or (1,)
        return Capacity(
            max_runs=self.max_runs or sum(counts),
            device_counts=counts,
            kept_finished=self.kept_finished,
            keep_duration=self.keep_duration,
        )

    def tokens(self) -> Tokens:
        """Return the accepted tokens; makes an administrator's token if none is set."""
        if self.token or self.admin_token:
            return Tokens(self.token, self.admin_token)
        return Tokens("", kept_secret(self.data_dir / _ADMIN_TOKEN_FILE, lambda: secrets.token_urlsafe(32)))

    def signer(self) -> Signer:
        """Return the signer of reports; raises SigningKeyError."""
        return Signer.kept_in(self.signing_key_file or self.data_dir / _SIGNING_KEY_FILE)

    def fence(self) -> FenceFile:
        """Return the file that keeps the newest fencing tokens."""
        return FenceFile(self.fence_file or self.data_dir / _FENCE_FILE, self.token)

    def fork_server_command(self, runs_at_once: int) -> list[str]:
        """Return the command that starts the fork server of judges, which share the machine."""
        words = [*self.core_options(), "--runs-at-once", str(runs_at_once)]
        return [sys.executable, "-m", "services.executor.core", "fork-server", *words]

    def core_options(self) -> list[str]:
        """Return the options that give a command of the core this executor's settings."""
        options = {
            "--device": self.device,
            "--sandbox": self.sandbox,
            "--cache-folder": str(self.cache_dir.absolute()),
            "--cache-mib": str(self.cache_mib),
        }
        if self.forbidden_file is not None:
            options["--forbidden"] = str(self.forbidden_file.absolute())
        if self.torch_python is not None:
            # Not resolved: a virtual environment's Python is a link, and finds its environment by the link's path.
            options["--torch-python"] = str(self.torch_python.absolute())
        if self.hip_version:
            options["--hip-version"] = self.hip_version
        if self.box_memory is not None:
            options["--box-memory-mib"] = str(self.box_memory)
        if self.box_cores is not None:
            options["--box-cores"] = f"{self.box_cores:g}"
        return [word for option in options.items() for word in option]

    def judge_environment(self, runs_at_once: int) -> dict[str, str]:
        """Return our environment without secrets, with `work_dir` for temporary files and numpy's share of threads."""
        public = {name: value for name, value in os.environ.items() if not name.endswith("_TOKEN")}
        threads = max(1, len(os.sched_getaffinity(0)) // runs_at_once)
        return {"OPENBLAS_NUM_THREADS": str(threads), **public, "TMPDIR": str(self.work_dir.absolute())}
