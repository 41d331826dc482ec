"""The executor's settings, and the names that others know them by."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from services.executor.config import ExecutorSettings
from services.executor.kept_secret import kept_secret

if TYPE_CHECKING:
    from pathlib import Path


def test_metrics_are_on_the_port_plus_1000() -> None:
    assert ExecutorSettings().resolved_metrics_port() == 51063


@pytest.mark.parametrize(
    ("name", "value", "sandbox"),
    [
        ("EXECUTOR_SANDBOX", "bubblewrap", "bubblewrap"),
        ("AMD_CONTAINER_ISOLATION", "true", "required"),
        ("AMD_CONTAINER_ISOLATION", "false", "auto"),
    ],
)
def test_the_sandbox_is_set_by_either_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, sandbox: str
) -> None:
    monkeypatch.setenv(name, value)

    assert ExecutorSettings().sandbox == sandbox


def test_judges_do_not_get_our_tokens(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EXECUTOR_TOKEN", "secret")
    monkeypatch.setenv("EXECUTOR_ADMIN_TOKEN", "secret")

    environment = ExecutorSettings(work_dir=tmp_path).judge_environment(1)

    assert "secret" not in environment.values()
    assert environment["TMPDIR"] == str(tmp_path)


def test_without_any_token_one_is_made_that_only_we_can_read_and_is_kept(tmp_path: Path) -> None:
    first = ExecutorSettings(data_dir=tmp_path).tokens()
    second = ExecutorSettings(data_dir=tmp_path).tokens()

    assert first == second
    assert len(first.admin) > 30
    assert first.lease == ""
    [file] = tmp_path.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_kept_secret_is_not_made_twice(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("chosen-by-hand\n")

    assert kept_secret(tmp_path / "token", lambda: "new") == "chosen-by-hand"
