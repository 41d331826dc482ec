from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.local import checkup
from services.executor.sandboxes.gaps import Gap
from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.invocation import Run, wavepool

HEALTHY = "sandbox: bubblewrap\ncompiling with clang 22\n"
GAPPY = "sandbox: process\n  does not hold back: the network\ncompiling with clang 22\n"
really_run = subprocess.run
SERVING = {"status": "ready", "services": {"scheduler": "serving", "vmpool": "serving", "billing": "serving"}}


@pytest.fixture
def trial(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Scripts the core's trial run of a kernel and each service's settings check; both have tests of their own."""
    out = {"verdict": "ACCEPTED", "message": "All right.", "toolchain": "clang, ROCm's library", "kernels": {"add": {}}}
    reported: dict[str, Any] = {"status": 0, "out": out, "err": HEALTHY, "commands": [], "check_settings": False}

    def run(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        if command[-1] == "--check-settings" and not reported["check_settings"]:
            return subprocess.CompletedProcess(command, 0, "[]", "")
        if not any(word.startswith("services.executor.core") for word in command):
            return really_run(command, **options)
        reported["commands"].append(command)
        return subprocess.CompletedProcess(
            command, reported["status"], json.dumps(reported["out"]) + "\n", reported["err"]
        )

    monkeypatch.setattr(checkup.subprocess, "run", run)
    return reported


def doctor(endpoint: str, *options: str) -> Run:
    return wavepool("doctor", "--endpoint", endpoint, "--token", "secret", "--json", *options)


def health(run: Run) -> dict[str, str]:
    return {finding["name"]: finding["health"] for finding in run.json}


def test_a_healthy_machine_gets_0(trial: dict[str, Any], gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/readyz", Answer(SERVING)).on("GET", "/api/v1/me", Answer({"account_name": "local"}))
    run = doctor(gateway.endpoint)
    found = health(run)
    del found["ports"]  # another Wavepool may run here
    assert set(found.values()) == {"ok"}
    assert {"Python", "disk", "compiler", "trial kernel", "sandbox", "gateway", "billing", "token"} <= set(found)


def test_each_line_is_shown_when_it_is_known(trial: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []

    def try_kernel(*_: object) -> list[checkup.Finding]:
        assert isinstance(sys.stdout, io.StringIO)
        shown.append(sys.stdout.getvalue())
        return []

    monkeypatch.setattr(checkup, "trial_run", try_kernel)
    wavepool("doctor", "--endpoint", "http://127.0.0.1:1")
    assert all(name in shown[0] for name in ("Python", "generated code", "disk", "ports", "settings"))


def test_a_rented_machine_with_a_weak_sandbox_is_a_fault_with_the_settings_names(
    trial: dict[str, Any], gateway: ScriptedGateway
) -> None:
    gateway.on("GET", "/readyz", Answer(SERVING)).on("GET", "/api/v1/me", Answer({"account_name": "local"}))
    weak = {"id": "mach_1", "provider": "dstack", "sandbox": "process", "sandbox_gaps": ["the network", "memory"]}
    whole = {"id": "mach_2", "provider": "docker", "sandbox": "bubblewrap", "sandbox_gaps": []}
    over = {**weak, "id": "mach_3", "end_time": "2026-01-01T00:00:00Z"}
    here = {**weak, "id": "mach_4", "provider": "local"}
    gateway.on("GET", "/api/v1/machines", Answer({"machines": [weak, whole, over, here]}))
    run = doctor(gateway.endpoint)
    [found] = [finding for finding in run.json if finding["name"] == "sandboxes"]
    assert found["health"] == "fault"
    assert found["detail"] == "mach_1 (dstack): process does not hold back: the network; memory"
    assert "VMPOOL_DSTACK_PRIVILEGED" in found["remedy"]


@pytest.mark.parametrize(
    ("gaps", "advised"),
    [
        ([Gap.NETWORK], ["install bubblewrap"]),
        ([Gap.CPU], ["systemd-run --user"]),
        ([Gap.MEMORY, Gap.CPU], ["systemd-run --user"]),
        ([Gap.SOCKETS, Gap.MEMORY], ["install bubblewrap", "systemd-run --user"]),
    ],
)
def test_every_gap_has_the_advice_that_closes_it(trial: dict[str, Any], gaps: list[Gap], advised: list[str]) -> None:
    trial["err"] = "sandbox: process\n" + "".join(f"  does not hold back: {gap}\n" for gap in gaps)
    [sandbox] = [finding for finding in doctor("http://127.0.0.1:1").json if finding["name"] == "sandbox"]
    assert all(gap in sandbox["detail"] for gap in gaps)
    assert [words for words in ("install bubblewrap", "systemd-run --user") if words in sandbox["remedy"]] == advised


def test_a_sandbox_that_shows_all_files_is_said_to_show_the_services_token(trial: dict[str, Any]) -> None:
    trial["err"] = f"sandbox: process\n  does not hold back: {Gap.FILES}\n  does not hold back: {Gap.CPU}\n"
    [found] = [finding for finding in doctor("http://127.0.0.1:1").json if finding["name"] == "secrets"]
    assert "`service-token`" in found["detail"]
    assert "install bubblewrap" in found["remedy"]
    trial["err"] = f"sandbox: process\n  does not hold back: {Gap.CPU}\n"
    assert "secrets" not in health(doctor("http://127.0.0.1:1"))


def test_what_the_pool_s_providers_find_is_reported_with_the_remedy(
    trial: dict[str, Any], gateway: ScriptedGateway
) -> None:
    gateway.on("GET", "/readyz", Answer(SERVING)).on("GET", "/api/v1/me", Answer({"account_name": "local"}))
    found = {"provider": "dstack", "check": "token", "ok": False, "message": "it is empty", "remedy": "make one"}
    good = {"provider": "local", "check": "offers", "ok": True, "message": "4 now"}
    gateway.on("GET", "/api/v1/providers/diagnosis", Answer({"findings": [found, good]}))
    run = doctor(gateway.endpoint)
    reported = {finding["name"]: finding for finding in run.json}
    assert (run.status, reported["dstack"]["health"], reported["local"]["health"]) == (1, "fault", "ok")
    assert (reported["dstack"]["detail"], reported["dstack"]["remedy"]) == ("token: it is empty", "make one")


def test_a_user_who_is_no_administrator_reads_that_the_providers_were_not_looked_at(
    trial: dict[str, Any], gateway: ScriptedGateway
) -> None:
    gateway.on("GET", "/readyz", Answer(SERVING)).on("GET", "/api/v1/me", Answer({"account_name": "local"}))
    gateway.on("GET", "/api/v1/providers/diagnosis", Answer({"title": "Forbidden"}, 403))
    run = doctor(gateway.endpoint)
    assert health(run)["providers"] == "note"


def test_services_that_do_not_run_are_a_note_and_no_fault(trial: dict[str, Any]) -> None:
    found = health(doctor("http://127.0.0.1:1"))
    assert found["services"] == "note"
    assert "token" not in found


def test_a_service_that_is_down_is_a_fault_with_its_log(trial: dict[str, Any], gateway: ScriptedGateway) -> None:
    states = {**SERVING["services"], "billing": "unreachable: UNAVAILABLE"}  # type: ignore[dict-item]
    gateway.on("GET", "/readyz", Answer({"status": "not ready", "services": states}, 503))
    gateway.on("GET", "/api/v1/me", Answer({"account_name": "local"}))
    run = doctor(gateway.endpoint)
    assert run.status == 1
    [billing] = [finding for finding in run.json if finding["name"] == "billing"]
    assert billing["health"] == "fault"
    assert "logs/billing.log" in billing["remedy"]


def test_a_token_that_does_not_work_is_a_fault(trial: dict[str, Any], gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/readyz", Answer(SERVING)).on("GET", "/api/v1/me", Answer({"title": "Unauthorized"}, 401))
    run = doctor(gateway.endpoint)
    assert (run.status, health(run)["token"]) == (1, "fault")


def test_a_kernel_that_does_not_run_is_a_fault_with_the_core_s_reason(trial: dict[str, Any]) -> None:
    trial.update(status=3, out={"verdict": "INFRA_ERROR", "message": "the toolchain is not prepared"})
    run = doctor("http://127.0.0.1:1")
    [kernel] = [finding for finding in run.json if finding["name"] == "trial kernel"]
    assert (run.status, kernel["health"]) == (1, "fault")
    assert kernel["detail"] == "the toolchain is not prepared"
    assert "make setup" in kernel["remedy"]


def test_what_the_sandbox_does_not_hold_back_is_reported(trial: dict[str, Any]) -> None:
    trial.update(err=GAPPY)
    [sandbox] = [finding for finding in doctor("http://127.0.0.1:1").json if finding["name"] == "sandbox"]
    assert sandbox["health"] == "note"
    assert sandbox["detail"] == "process does not hold back: the network"
    assert "bubblewrap" in sandbox["remedy"]


def test_too_little_disk_is_a_fault(tmp_path: Path) -> None:
    found = checkup.disk_space(tmp_path / "not" / "there", least_mib=1 << 40)
    assert (found.health, found.remedy.split(",")[0]) == (checkup.Health.FAULT, f"free at least {1 << 40} MiB")


def test_a_machine_without_restic_is_told_how_to_have_disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("bwrap", "restic"):
        monkeypatch.setenv("PATH", str(tmp_path))
        found = checkup.disks()
        assert (found.health, found.remedy.split()[:2]) == (checkup.Health.NOTE, ["apt-get", "install"])
        assert "restic" in found.remedy
        (tmp_path / name).touch(mode=0o755)
    assert checkup.disks().health is checkup.Health.OK


def _mi300x(run: Run) -> dict[str, str]:
    return next(finding for finding in run.json if finding["name"] == "MI300X report")


def test_a_machine_that_makes_no_report_says_why(trial: dict[str, Any]) -> None:
    trial["out"].update(kernels={}, note="There is no compiler for the MI300X here")
    found = _mi300x(doctor("http://127.0.0.1:1"))
    assert (found["health"], found["detail"]) == ("note", "There is no compiler for the MI300X here")


def test_a_machine_without_torch_says_what_it_cannot_do_and_what_to_install(trial: dict[str, Any]) -> None:
    trial.update(status=1, err="no torch here")
    [found] = [finding for finding in doctor("http://127.0.0.1:1").json if finding["name"] == "definitions"]
    assert (found["health"], found["detail"].endswith("no torch here")) == ("note", True)
    assert "wavepool doctor --fix" in found["remedy"]


def test_fix_installs_torch_and_looks_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the programs to be run are scripted: a real installation takes minutes, and .ci/run does it."""
    ran: list[str] = []

    def run(command: list[str] | tuple[str, ...], **options: Any) -> subprocess.CompletedProcess[str]:
        if command[-1] == checkup.SETTING_NAMES[-1]:
            return really_run(command, **options)
        if command[-1] == "--check-settings":
            return subprocess.CompletedProcess(list(command), 0, "[]", "")
        ran.append(command[-1] if command[0] == sys.executable else command[0])
        asked_for_torch = command[-1] == checkup.TORCH[-1]
        status = int(asked_for_torch and str(checkup.SETUP_TORCH) not in ran)
        return subprocess.CompletedProcess(list(command), status, "torch 2.13.0 of python\n", "no torch here")

    monkeypatch.setattr(checkup.subprocess, "run", run)
    found = {finding["name"]: finding for finding in doctor("http://127.0.0.1:1", "--fix").json}
    assert found["definitions"]["health"] == "ok"
    assert ran.count(str(checkup.SETUP_TORCH)) == 1
    assert os.access(checkup.SETUP_TORCH, os.X_OK)


def test_a_misspelt_setting_is_a_note_with_the_right_name(
    trial: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMD_VM_IDLE_TIMEOT", "60")
    reported = {finding["name"]: finding for finding in doctor("http://127.0.0.1:1").json}
    assert reported["settings"]["health"] == "note"
    assert "did you mean AMD_VM_IDLE_TIMEOUT?" in reported["settings"]["detail"]


def test_the_faults_of_a_gpu_that_is_to_be_used_are_reported_before_the_trial(
    trial: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    if checkup.DRIVER_NODES["rocm"].exists():
        pytest.skip("this machine has the driver")
    monkeypatch.setenv("EXECUTOR_DEVICE", "rocm")
    run = doctor("http://127.0.0.1:1")
    reported = [finding for finding in run.json if finding["name"] == "rocm"]
    assert run.status == 1
    assert reported[0]["detail"].startswith("device: no device: /dev/kfd is missing")
    assert {finding["detail"].partition(":")[0] for finding in reported} >= {
        "device",
        "topology",
        "driver",
        "hipcc",
        "amdsmi",
        "image",
    }
    [image] = [finding for finding in reported if finding["detail"].startswith("image:")]
    assert image["health"] == ("note" if image["remedy"] else "ok"), "runs need none"
    assert trial["commands"][0][-2:] == ["--device", "rocm"]


def test_wrong_values_are_faults_by_the_names_that_were_set_and_the_trial_is_not_run(
    trial: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    trial["check_settings"] = True
    monkeypatch.setenv("AMD_CONTAINER_MEMORY_LIMIT", "lots")
    monkeypatch.setenv("AMD_VM_MAX_CONCURRENT", "-1")
    monkeypatch.setenv("AMD_DEFAULT_GPU", "H100")
    monkeypatch.setenv("EXECUTOR_SANDBOX", "nonsense")
    monkeypatch.setenv("EXECUTOR_DEVICE", "rcom")
    monkeypatch.setenv("GATEWAY_PORT", "http")
    run = doctor("http://127.0.0.1:1")
    reported = [found["detail"] for found in run.json if found["name"] == "settings" and found["health"] == "fault"]
    for name in ("AMD_CONTAINER_MEMORY_LIMIT", "AMD_VM_MAX_CONCURRENT", "AMD_DEFAULT_GPU", "EXECUTOR_SANDBOX"):
        assert any(f"{name}: " in line for line in reported), name
    assert any("EXECUTOR_DEVICE: must be one of cpu" in line for line in reported)
    assert any("GATEWAY_PORT: " in line for line in reported)
    [kernel] = [found for found in run.json if found["name"] == "trial kernel"]
    assert (run.status, kernel["health"]) == (1, "fault")
    assert kernel["detail"] == "not run, because the executor refuses its settings"
    assert not any("bench" in command for command in trial["commands"])


def test_what_two_services_refuse_alike_is_reported_once() -> None:
    refused = checkup.SettingsCheck("AMD_CONTAINER_CPU_LIMIT: is wrong")
    [found] = checkup.settings({"services.executor": refused, "services.vmpool": refused})
    assert (found.health, found.detail) == (checkup.Health.FAULT, refused.fault)


def test_the_trial_runs_in_the_sandbox_that_executors_will_have(
    trial: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    trial["check_settings"] = True
    monkeypatch.setenv("EXECUTOR_DEVICE", "sim")
    monkeypatch.setenv("EXECUTOR_SANDBOX", "process")
    monkeypatch.setenv("EXECUTOR_BOX_MEMORY", "2g")
    monkeypatch.setenv("AMD_CONTAINER_CPU_LIMIT", "1.5")
    doctor("http://127.0.0.1:1")
    [bench] = [" ".join(command) for command in trial["commands"] if "bench" in command]
    for option in ("--device sim", "--sandbox process", "--box-memory-mib 2048", "--box-cores 1.5"):
        assert option in bench


@pytest.mark.parametrize("device", ["rocm", "nvidia"])
def test_a_gpu_that_is_there_and_that_no_executor_would_take_is_a_note(
    trial: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, device: str
) -> None:
    """Only the device node is faked: the rest is the real machine, which may or may not have a GPU."""
    node = tmp_path / device
    node.touch()
    monkeypatch.setattr(checkup, "DRIVER_NODES", {device: node})
    monkeypatch.delenv("EXECUTOR_DEVICE", raising=False)
    found = next(found for found in doctor("http://127.0.0.1:1").json if found["name"] == device)
    assert (found["health"], found["remedy"]) == ("note", f"export EXECUTOR_DEVICE={device} to use the GPU")
    assert "EXECUTOR_DEVICE is not set" in found["detail"]
    assert any(command[-2:] == ["--device", device] for command in trial["commands"])
