"""The cache that tests share from run to run can be trusted: its key covers everything that a build depends on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from hipcpu.build_folder import BuildKind
from services.executor.core.compile.build import Builder, Unit
from services.executor.core.compile.cache import CompileCache
from services.executor.core.model.limits import StageLimits
from services.executor.devices.device import DeviceDescription, Toolchain
from services.executor.sandboxes.choice import choose_sandbox
from services.executor.sandboxes.sandbox import Command, Mount
from tests.kept_builds import REPOSITORY, kept_folder


@dataclass(frozen=True)
class CopyingDevice:
    """Its compiler copies all its inputs into the executable."""

    toolchain_name: str = "copier 1.0"
    architecture: str = "x86_64"
    flag: str = "-O2"
    variable: str = "1"

    def describe(self) -> DeviceDescription:
        return DeviceDescription("cpu", "A Test 3000", self.architecture, 64, 2, 1024, is_gpu=False)

    def toolchain(self) -> Toolchain:
        return Toolchain(self.toolchain_name, "copier")

    def build_command(self, folder: Path, kind: BuildKind) -> Command:
        script = f'echo {self.toolchain_name} {self.architecture} "$0" "$VARIABLE" | cat - *.hip *.cpp > {kind.value}; '
        script += f"cp {kind.value} solution.o; mv {kind.value} runner"
        mounts = [Mount(folder, Path("/build"), writable=True)]
        arguments = ["/bin/bash", "-c", script, self.flag]
        return Command(arguments, Path("/build"), mounts, {"PATH": "/usr/bin:/bin", "VARIABLE": self.variable})

    def run_command(self, folder: Path, kind: Any) -> Command:
        raise NotImplementedError


DEVICE = CopyingDevice()
UNIT = Unit(BuildKind.SOLUTION, "source", "harness", "declaration")


async def built(device: CopyingDevice, unit: Unit, cache: CompileCache, folder: Path) -> tuple[bytes, bool]:
    """The executable, and whether it came out of the cache."""
    scratch, target = folder / "compile", folder / "run"
    for each in (scratch, target):
        each.mkdir(parents=True)
        each.chmod(0o755)
    builder = Builder(device, await choose_sandbox("auto"), cache, StageLimits().builder)
    cached = builder.find(unit, scratch) is not None
    await builder.build(unit, scratch, target)
    return (target / "runner").read_bytes(), cached


@pytest.mark.parametrize(
    ("device", "unit"),
    [
        (DEVICE, replace(UNIT, source="another source")),
        (DEVICE, replace(UNIT, harness="another harness")),
        (DEVICE, replace(UNIT, kind=BuildKind.KERNELS)),
        (replace(DEVICE, toolchain_name="copier 1.1"), UNIT),
        (replace(DEVICE, architecture="gfx942"), UNIT),
        (replace(DEVICE, flag="-O3"), UNIT),
        (replace(DEVICE, variable="2"), UNIT),
    ],
    ids=["source", "harness", "kind", "toolchain", "architecture", "flag", "environment"],
)
async def test_whatever_makes_another_build_has_another_key(device: CopyingDevice, unit: Unit, tmp_path: Path) -> None:
    cache = CompileCache(tmp_path / "kept", 1 << 20)
    first, cached = await built(DEVICE, UNIT, cache, tmp_path / "first")
    assert not cached
    assert await built(device, unit, CompileCache(tmp_path / "empty", 1 << 20), tmp_path / "alone") == await built(
        device, unit, cache, tmp_path / "other"
    )
    # A later process finds the first build unchanged.
    later = CompileCache(tmp_path / "kept", 1 << 20)
    assert await built(DEVICE, UNIT, later, tmp_path / "again") == (first, True)


def test_builds_are_kept_in_the_checkout_or_where_it_is_said_or_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WAVEPOOL_TEST_CACHE", raising=False)
    assert kept_folder("builds") == (REPOSITORY / ".cache" / "tests" / "builds").resolve()
    monkeypatch.setenv("WAVEPOOL_TEST_CACHE", str(tmp_path / "elsewhere"))
    assert kept_folder("builds") == tmp_path / "elsewhere" / "builds"
    monkeypatch.setenv("WAVEPOOL_TEST_CACHE", "off")
    assert kept_folder("builds") is None
