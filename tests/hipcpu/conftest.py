"""The cpu device's toolchain, and fixtures that build small programs with it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from hipcpu.build import build
from hipcpu.build_folder import BuildKind
from hipcpu.forms import kernel_forms
from hipcpu.prepare import prepare
from services.executor.core.compile.cache import CachedBuild, CompileCache
from services.executor.devices.cpu.cpu_device import CpuDevice
from tests.kept_builds import LIMIT_BYTES, kept_folder


@pytest.fixture(scope="session", autouse=True)
def _toolchain() -> None:
    prepare()


def _never(*_: object) -> bool:
    return False


@pytest.fixture(params=["regions", "threads"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Kernels as loops over their threads, then all of them in the fallback form."""
    if request.param == "threads":
        monkeypatch.setattr(kernel_forms, "can_be_cut", _never)
    return request.param


@pytest.fixture(scope="session")
def kept_programs(tmp_path_factory: pytest.TempPathFactory) -> CompileCache:
    return CompileCache(kept_folder("programs") or tmp_path_factory.mktemp("programs"), LIMIT_BYTES)


@pytest.fixture
def program_of(kept_programs: CompileCache, form: str, tmp_path: Path) -> Callable[[str], Path]:
    """Builds the program of a source in this form; builds are kept from run to run until a build step changes."""

    def made(source: str) -> CachedBuild:
        (tmp_path / "solution.hip").write_text(source)
        warnings = build(tmp_path, BuildKind.PROGRAM)
        return CachedBuild.of((tmp_path / "program").read_bytes(), warnings)

    def find_or_make(source: str) -> Path:
        key = hashlib.sha256(f"{CpuDevice().toolchain().identity} {form} {source}".encode()).hexdigest()
        found = kept_programs.get(key)
        if found is None:
            found = made(source)
            kept_programs.put(key, found)
        program = tmp_path / "run"
        program.write_bytes(found.executable)
        program.chmod(0o755)
        return program

    return find_or_make
