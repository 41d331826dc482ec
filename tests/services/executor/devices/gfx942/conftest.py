"""Reports of the real compiler; each source is compiled once for all of its tests."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hipcpu.build_folder import ToolchainError
from services.executor.devices.gfx942.prepare import prepare
from services.executor.devices.gfx942.report import report

KERNELS = Path(__file__).parent / "kernels"


@pytest.fixture(scope="session")
def report_on(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Any]]:
    """Reports on a source, by the release of HIP that the second argument names."""
    try:
        prepare()
    except ToolchainError as error:
        if os.environ.get("REQUIRE_ALL") == "1":
            pytest.fail(f"REQUIRE_ALL=1, but {error}", pytrace=False)
        pytest.skip(str(error))

    def report_on_source(source: str, hip_version: str = "") -> dict[str, Any]:
        folder = tmp_path_factory.mktemp("report")
        (folder / "solution.hip").write_text(source)
        try:
            return report(folder, hip_version)
        finally:
            shutil.rmtree(folder)

    return report_on_source


@pytest.fixture(scope="session")
def flawed(report_on: Callable[..., dict[str, Any]]) -> dict[str, Any]:
    return report_on((KERNELS / "flawed.hip").read_text())
