from __future__ import annotations

import pytest
from pydantic import ValidationError

from services.scheduler.config import SchedulerSettings


def test_the_default_gpu_is_read_by_its_older_name_in_any_case(monkeypatch: pytest.MonkeyPatch) -> None:
    assert SchedulerSettings().default_gpu == "MI300X"
    monkeypatch.setenv("AMD_DEFAULT_GPU", "mi210")
    assert SchedulerSettings().default_gpu == "MI210"
    monkeypatch.setenv("SCHEDULER_DEFAULT_GPU", "MI300A")
    assert SchedulerSettings().default_gpu == "MI300A"


def test_an_unknown_default_gpu_is_refused_with_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMD_DEFAULT_GPU", "MI250")
    with pytest.raises(ValidationError, match=r"'MI250' is none of MI300X, .*the nearest is MI250X"):
        SchedulerSettings()
