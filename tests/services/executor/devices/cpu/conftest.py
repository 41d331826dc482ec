"""The cpu device's toolchain, and building small programs with it."""

from __future__ import annotations

import pytest

from services.executor.devices.cpu import kernel_forms
from services.executor.devices.cpu.prepare import prepare


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
