"""The executor's settings, and the names by which other programs know them."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from pydantic import ValidationError

from servicekit.settings.config import settings_faults
from services.executor.config import ExecutorSettings
from services.executor.core.commands.command_line import parser
from services.executor.machine.kept_secret import kept_secret
from services.executor.sandboxes.choice import SandboxSetting
from services.executor.server import check_settings


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


@pytest.mark.parametrize("name", ["EXECUTOR_BOX_MEMORY", "AMD_CONTAINER_MEMORY_LIMIT"])
def test_a_sandbox_s_memory_is_set_by_either_name_as_docker_takes_it(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "12g")
    assert _option(ExecutorSettings(), "--box-memory-mib") == "12288"

    monkeypatch.setenv(name, "12")
    with pytest.raises(ValidationError) as refused:
        ExecutorSettings()
    assert settings_faults(refused.value).startswith(f"{name}: must be")
    assert "such as 16g, 16GB or 512m, from 256m to 16t; it is '12'" in str(refused.value)


@pytest.mark.parametrize("name", ["EXECUTOR_BOX_CORES", "AMD_CONTAINER_CPU_LIMIT"])
def test_a_sandbox_s_cores_are_set_by_either_name(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "2.5")
    assert _option(ExecutorSettings(), "--box-cores") == "2.5"

    monkeypatch.setenv(name, "many")
    with pytest.raises(ValidationError) as refused:
        ExecutorSettings()
    assert settings_faults(refused.value).startswith(f"{name}: must be")
    assert "such as 4 or 2.5; it is 'many'" in str(refused.value)


@pytest.mark.parametrize("word", [*SandboxSetting, "docker:runsc"])
def test_every_sandbox_that_can_be_chosen_can_be_set(word: str) -> None:
    assert ExecutorSettings(sandbox=word).sandbox == word


@pytest.mark.parametrize("word", ["nonsense", "docker:", "process:runsc"])
def test_a_sandbox_that_does_not_exist_is_refused_by_the_name_that_was_set(
    monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.setenv("AMD_CONTAINER_ISOLATION", word)
    with pytest.raises(ValidationError) as refused:
        ExecutorSettings()
    said = settings_faults(refused.value)
    assert said.startswith("AMD_CONTAINER_ISOLATION: must be one of auto, required, bubblewrap")
    assert said.endswith(f"it is {word!r}")


def test_what_the_settings_come_to_is_printed_as_options_of_the_core(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EXECUTOR_DEVICE", "sim")
    monkeypatch.setenv("EXECUTOR_SANDBOX", "process")
    monkeypatch.setenv("AMD_CONTAINER_MEMORY_LIMIT", "2g")
    check_settings()
    chosen = parser().parse_args(["lint", *json.loads(capsys.readouterr().out)])
    assert (chosen.device, chosen.sandbox, chosen.sandbox_memory_mib) == ("sim", "process", 2048)


def test_what_a_sandbox_may_use_is_left_to_the_device_where_nothing_is_set() -> None:
    command = ExecutorSettings().fork_server_command(1)
    assert "--box-memory-mib" not in command
    assert "--box-cores" not in command


def _option(settings: ExecutorSettings, name: str) -> str:
    command = settings.fork_server_command(1)
    return command[command.index(name) + 1]


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


def test_registries_of_images_are_hosts_with_or_without_a_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXECUTOR_IMAGE_REGISTRIES", "Registry.example, 10.1.2.3:5000")
    monkeypatch.setenv("EXECUTOR_IMAGE_INSECURE_REGISTRIES", "127.0.0.1:5001")
    registries = ExecutorSettings().registries
    assert registries.all == ("registry.example", "10.1.2.3:5000", "127.0.0.1:5001")
    assert registries.insecure == ("127.0.0.1:5001",)
    monkeypatch.setenv("EXECUTOR_IMAGE_REGISTRIES", "https://registry.example")
    with pytest.raises(ValidationError, match="give a host and perhaps its port"):
        ExecutorSettings()
