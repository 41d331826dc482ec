"""Base of GPU devices whose compiler is a driver program: AMD's and NVIDIA's."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Generic, Protocol, Self, TypeVar

from hipcpu.build_folder import BuildKind
from services.executor.devices.device import Toolchain
from services.executor.devices.instruments import Firmware, Reading
from services.executor.devices.offload.build_script import Driver, build_script
from services.executor.devices.offload.host_code import recorder_command, recorder_identity
from services.executor.devices.offload.runner_objects import compile_runner


class OffloadGpu(Protocol):
    """One GPU, or one partition of one."""

    @property
    def architecture(self) -> str:
        """Compiler's name of the target."""
        ...


AnyGpu = TypeVar("AnyGpu", bound=OffloadGpu)
AnyGpu_co = TypeVar("AnyGpu_co", bound=OffloadGpu, covariant=True)


class OffloadManagement(Protocol[AnyGpu_co]):
    """The driver's library, for one GPU."""

    def gpu(self) -> AnyGpu_co:
        """Return the GPU; raises ToolchainError."""
        ...

    def reading(self) -> Reading:
        """Return the GPU's state now."""
        ...

    def busy_share(self) -> float | None:
        """Return the share of the last moments in which the GPU worked; None if it is not reported."""
        ...

    def versions(self) -> Firmware:
        """Return the versions of the GPU's driver and firmware."""
        ...


class OffloadTools(Protocol):
    """The compiler; implemented by a module."""

    def driver(self, architecture: str) -> Driver:
        """Return the compiler's command lines."""
        ...

    def runner_folder(self, architecture: str) -> Path:
        """Return the folder of our runner's objects."""
        ...

    def toolchain(self, architecture: str, recorder: str = "") -> Toolchain:
        """Return the toolchain; its identity includes the recorder's."""
        ...


class OffloadDevice(ABC, Generic[AnyGpu]):
    """A device of GPUs: by default one, given by the index setting or the first; if set, no other is used."""

    index_setting: ClassVar[str]
    """Environment variable with the index of the only GPU."""
    tools: ClassVar[OffloadTools]

    def __init__(self, *gpus: AnyGpu, indices: Sequence[int] = ()) -> None:
        """Use the GPUs at `indices`. `gpus` replace them in tests; by default the driver is asked on first use."""
        self._known = gpus
        self._indices = indices or (self._only_index() or 0,)

    def toolchain(self) -> Toolchain:
        """Return the compiler, after compiling our runner with it; raises ToolchainError."""
        self._runner_objects()
        return self.tools.toolchain(self._gpu.architecture, recorder_identity())

    def read_instruments(self) -> Reading:
        """Return the first GPU's state now."""
        return self._management(self._indices[0]).reading()

    def busy_shares(self, devices: int) -> Sequence[float]:
        """Return the busy shares of the first `devices` GPUs, or of the only one; raises ToolchainError."""
        only = self._only_index()
        shares = [self._management(index).busy_share() for index in (range(devices) if only is None else [only])]
        return [share for share in shares if share is not None]

    def versions(self) -> Firmware:
        """Return the versions of driver and VBIOS."""
        return self._management(self._indices[0]).versions()

    def on(self, devices: Sequence[int]) -> Self:
        """Return this device for these GPUs; itself if the index setting names the only GPU."""
        if self._only_index() is not None or tuple(devices) == tuple(self._indices):
            return self
        return type(self)(indices=devices)

    @classmethod
    def _only_index(cls) -> int | None:
        index = os.environ.get(cls.index_setting)
        return int(index) if index else None

    @classmethod
    @abstractmethod
    def _management(cls, index: int) -> OffloadManagement[AnyGpu]:
        """Return this process's connection to the driver for a GPU; raises ToolchainError."""

    @property
    def _gpu(self) -> AnyGpu:
        return self._gpus[0]

    @cached_property
    def _gpus(self) -> Sequence[AnyGpu]:
        return self._known or [self._management(index).gpu() for index in self._indices]

    def _build_script(self, folder: Path, kind: BuildKind) -> str:
        architecture = self._gpu.architecture
        return build_script(kind, self.tools.driver(architecture), self._runner_objects(), recorder_command(folder))

    def _runner_objects(self) -> Sequence[Path]:
        architecture = self._gpu.architecture
        return compile_runner(self.tools.runner_folder(architecture), self.tools.driver(architecture).compile)
