"""A device of GPUs whose compiler is a driver program: what AMD's and NVIDIA's have in common."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, Self, TypeVar

from services.executor.devices.offload.build_script import build_script
from services.executor.devices.offload.host_code import recorder_command, recorder_identity
from services.executor.devices.offload.runner_objects import compile_runner

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hipcpu.build_folder import BuildKind
    from services.executor.devices.device import Toolchain
    from services.executor.devices.instruments import Firmware, Reading
    from services.executor.devices.offload.build_script import Driver


class OffloadGpu(Protocol):
    """One GPU, or one partition of one."""

    @property
    def architecture(self) -> str:
        """The compiler's word for what it compiles for."""
        ...


AnyGpu = TypeVar("AnyGpu", bound=OffloadGpu)
AnyGpu_co = TypeVar("AnyGpu_co", bound=OffloadGpu, covariant=True)


class OffloadManagement(Protocol[AnyGpu_co]):
    """The driver's library, asked about one GPU."""

    def gpu(self) -> AnyGpu_co:
        """What it is; raises ToolchainError."""
        ...

    def reading(self) -> Reading:
        """Its state now."""
        ...

    def versions(self) -> Firmware:
        """Those of its driver and firmware."""
        ...


class OffloadTools(Protocol):
    """The compiler; a module."""

    def driver(self, architecture: str) -> Driver:
        """How it is called."""
        ...

    def runner_folder(self, architecture: str) -> Path:
        """Where our runner's objects are kept."""
        ...

    def toolchain(self, architecture: str, recorder: str = "") -> Toolchain:
        """What it is, with the recorder's identity."""
        ...


class OffloadDevice(ABC, Generic[AnyGpu]):
    """GPUs: by default one, that of the index setting or the first; if the setting is there, there are no others."""

    index_setting: ClassVar[str]
    """The environment's name for the index of the only GPU."""
    tools: ClassVar[OffloadTools]

    def __init__(self, *gpus: AnyGpu, indices: Sequence[int] = ()) -> None:
        """`gpus` are for tests of what needs no GPU; by default the driver is asked, when that is needed."""
        self._known = gpus
        self._indices = indices or (self._only_index() or 0,)

    def toolchain(self) -> Toolchain:
        """The compiler, with our runner compiled by it; raises ToolchainError."""
        architecture = self._gpu.architecture
        compile_runner(self.tools.runner_folder(architecture), self.tools.driver(architecture).compile)
        return self.tools.toolchain(architecture, recorder_identity())

    def read_instruments(self) -> Reading:
        """The state now."""
        return self._management(self._indices[0]).reading()

    def versions(self) -> Firmware:
        """Driver and VBIOS."""
        return self._management(self._indices[0]).versions()

    def on(self, devices: Sequence[int]) -> Self:
        """The same toolchain for these devices."""
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
        """What the driver says of that GPU, asked by this process; raises ToolchainError."""

    @property
    def _gpu(self) -> AnyGpu:
        return self._gpus[0]

    @cached_property
    def _gpus(self) -> Sequence[AnyGpu]:
        return self._known or [self._management(index).gpu() for index in self._indices]

    def _build_script(self, folder: Path, kind: BuildKind) -> str:
        architecture = self._gpu.architecture
        objects = sorted(self.tools.runner_folder(architecture).glob("*.o"))
        return build_script(kind, self.tools.driver(architecture), objects, recorder_command(folder))
