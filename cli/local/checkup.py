"""The checks of `wavepool doctor`: one function for each question, with a remedy for each fault."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from cli.local.data_folder import holder as holder_of_folder
from cli.local.generated_code import REMEDY, stale_protos
from cli.local.program import WRONG_SETTINGS
from cli.local.stack import holder as holder_of_port
from vocabulary.ports import is_free
from wavepool_client.errors import WavepoolError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cli.local.stack import Ports
    from wavepool_client.http.connection import Connection
    from wavepool_client.http.transport import Transport

OLDEST_PYTHON = (3, 11)
MIB = 1024 * 1024
LEAST_DISK_MIB = 512
"""Space for the databases, logs and builds of a day's work; the compiler's cache is already filled."""
DISK_PROGRAMS = {"restic": "restic", "bwrap": "bubblewrap"}
"""What disks need, and the packages that have it."""
TRIAL_SECONDS = 300
TRIAL_KERNEL = Path(__file__).parents[2] / "problems" / "catalogue" / "vector-addition" / "solution.hip"
TRIAL = ("-m", "services.executor.core", "bench", str(TRIAL_KERNEL), "--problem", "vector-addition", "--mode", "check")
TORCH = ("-m", "services.executor.core.problem_host")
GPU_CHECKUP = ("-m", "services.executor.devices.checkup")
DRIVER_NODES = {"rocm": Path("/dev/kfd"), "nvidia": Path("/dev/nvidia0")}
"""Device nodes that exist if a device's driver has found a GPU."""
EXECUTOR = "services.executor"
SERVICES = (EXECUTOR, "services.vmpool", "services.scheduler", "services.billing", "gateway")
SETTING_NAMES = ("-m", "servicekit.settings.setting_names")
SETUP_TORCH = Path(__file__).parents[2] / "deploy" / "setup-torch"
GAP = "does not hold back: "
UNCOUNTED = ("memory is read every", "a sandbox can fill all processors")
"""Beginnings of the gaps that come from a missing control group, or one without the cpu controller."""
READS_FILES = "a sandbox reads"
"""The beginning of the gap of a sandbox that shows all files of its user."""
SECRETS = (
    "a submission can read `service-token` in the data folder (or WAVEPOOL_SERVICE_TOKEN_FILE), the keys in "
    "WAVEPOOL_TLS_DIR, `pool_secret` and the databases, and so call billing, scheduler and vmpool as a service of ours"
)
CONTROL_GROUP_REMEDY = (
    "for memory and processors run as root, or have systemd delegate a control group: "
    "`systemd-run --user --scope -p Delegate=yes wavepool up`"
)


class Health(StrEnum):
    """The result of a check."""

    OK = "ok"
    NOTE = "note"
    """Worth knowing; nothing is broken."""
    FAULT = "fault"


@dataclass(frozen=True)
class Finding:
    """The answer to a check; `remedy` is a step for the user, if there is one, and `fix` a program that takes it."""

    name: str
    health: Health
    detail: str
    remedy: str = ""
    fix: tuple[str, ...] = ()


def python_version() -> Finding:
    """Checks that this Python is new enough."""
    if sys.version_info >= OLDEST_PYTHON:
        return Finding("Python", Health.OK, f"{platform.python_version()} at {sys.executable}")
    return Finding("Python", Health.FAULT, platform.python_version(), "install Python 3.11 or newer and run make setup")


def generated_code() -> Finding:
    """Checks that the code made from the protos is up to date."""
    if stale := stale_protos():
        return Finding("generated code", Health.FAULT, f"older than {', '.join(stale)}", REMEDY)
    return Finding("generated code", Health.OK, "as new as the protos")


def setting_warnings() -> list[str]:
    """Warnings about names of settings in the environment, one sentence each."""
    asked = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, *SETTING_NAMES], capture_output=True, text=True, timeout=TRIAL_SECONDS, check=False
    )
    if asked.returncode:
        return [f"the names of settings could not be checked: {asked.stderr.strip()[-300:]}"]
    return cast("list[str]", json.loads(asked.stdout))


@dataclass(frozen=True)
class SettingsCheck:
    """A service's check of its settings: a fault, or a report of their values."""

    fault: str
    reported: str = ""

    @property
    def options(self) -> list[str]:
        """The options of the executor's core that its settings stand for; none if it refused them."""
        return cast("list[str]", json.loads(self.reported)) if self.reported else []


def check_settings(service: str) -> SettingsCheck:
    """Asks a service to check the settings in the environment."""
    asked = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-m", service, "--check-settings"],
        capture_output=True,
        text=True,
        timeout=TRIAL_SECONDS,
        check=False,
    )
    if asked.returncode == WRONG_SETTINGS:
        return SettingsCheck(asked.stderr.strip())
    if asked.returncode:
        return SettingsCheck(f"{service} could not check its settings: {asked.stderr.strip()[-300:]}")
    return SettingsCheck("", asked.stdout)


def check_all_settings() -> dict[str, SettingsCheck]:
    """The checks of settings by all services."""
    with ThreadPoolExecutor() as pool:
        return dict(zip(SERVICES, pool.map(check_settings, SERVICES), strict=True))


def settings(checks: Mapping[str, SettingsCheck]) -> list[Finding]:
    """Checks that all variables that look like our settings are known, and that services accept their values."""
    where = "or remove it; docs/operations.md lists the settings"
    found = [Finding("settings", Health.NOTE, warning, f"correct the name, {where}") for warning in setting_warnings()]
    reported: list[str] = []
    for check in checks.values():
        # Some settings are read by several services.
        if not any(check.fault in other for other in reported):
            reported.append(check.fault)
    found += [
        Finding("settings", Health.FAULT, fault, f"correct the value, {where}") for fault in filter(None, reported)
    ]
    return found or [Finding("settings", Health.OK, "accepted by every service; no name is misspelt")]


def disk_space(data_dir: Path, least_mib: int = LEAST_DISK_MIB) -> Finding:
    """Checks that the data folder's disk has free space."""
    existing = next(folder for folder in (data_dir, *data_dir.resolve().parents) if folder.exists())
    free_mib = shutil.disk_usage(existing).free // MIB
    if free_mib >= least_mib:
        return Finding("disk", Health.OK, f"{free_mib} MiB free for {data_dir}")
    return Finding(
        "disk",
        Health.FAULT,
        f"{free_mib} MiB free for {data_dir}",
        f"free at least {least_mib} MiB, or use another disk with --data-dir",
    )


def disks() -> Finding:
    """Checks that reservations can have disks on this machine."""
    missing = [package for program, package in DISK_PROGRAMS.items() if shutil.which(program) is None]
    if not missing:
        return Finding("disks", Health.OK, "restic keeps disks of reservations")
    detail = "reservations on this machine have no disks (`--disk`); everything else works"
    return Finding("disks", Health.NOTE, detail, f"apt-get install {' '.join(missing)}")


def ports(wanted: Ports, data_dir: Path) -> Finding:
    """Checks that the usual ports are free, or are already ours."""
    running = holder_of_folder(data_dir)
    if running:
        return Finding("ports", Health.OK, f"held by `wavepool up`, process {running}")
    taken = [port for port in (*wanted.serving.values(), *wanted.metrics.values()) if not is_free(port)]
    if not taken:
        return Finding("ports", Health.OK, "all free")
    holders = ", ".join(f"{port} by {holder_of_port(port)}" for port in taken)
    return Finding("ports", Health.FAULT, f"held: {holders}", "end these, or start with `wavepool up --free-ports`")


def gpu_device() -> str:
    """The GPU device that EXECUTOR_DEVICE names, or else the one whose driver's node exists; empty if there is none."""
    if named := os.environ.get("EXECUTOR_DEVICE"):
        return named if named in DRIVER_NODES else ""
    return next((device for device, node in DRIVER_NODES.items() if node.exists()), "")


def gpu(device: str) -> list[Finding]:
    """Checks that this machine's GPU is used, and that it can be.

    Checks the device nodes and the permission to use them, the driver and its GPUs, the compiler, and space for an
    image.
    """
    found: list[Finding] = []
    if not os.environ.get("EXECUTOR_DEVICE"):
        detail = f"{DRIVER_NODES[device]} is there, but EXECUTOR_DEVICE is not set: an executor here uses the CPU"
        found.append(Finding(device, Health.NOTE, detail, f"export EXECUTOR_DEVICE={device} to use the GPU"))
    return [*found, *_gpu_findings(device)]


def _gpu_findings(device: str) -> list[Finding]:
    asked = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, *GPU_CHECKUP, device], capture_output=True, text=True, timeout=TRIAL_SECONDS, check=False
    )
    if asked.returncode:
        return [Finding(device, Health.FAULT, f"it could not be checked: {asked.stderr.strip()[-300:]}")]
    return [
        Finding(device, _health(found), f"{found['check']}: {found['message']}", found["remedy"])
        for found in cast("list[dict[str, Any]]", json.loads(asked.stdout))
    ]


def _health(found: dict[str, Any]) -> Health:
    return Health.OK if found["ok"] else Health.FAULT if found["hinders"] else Health.NOTE


def trial_run(executor: SettingsCheck, device: str = "") -> list[Finding]:
    """Checks that a kernel compiles, runs in its sandbox and is checked, and reports the sandbox's gaps.

    Uses the executor's settings, and its device unless another is named.
    """
    if executor.fault:
        why = "not run, because the executor refuses its settings"
        return [Finding("trial kernel", Health.FAULT, why, "correct the settings, and run doctor again")]
    options = [*executor.options, *(["--device", device] if device else [])]
    try:
        trial = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, *TRIAL, "--json", *options],
            capture_output=True,
            text=True,
            timeout=TRIAL_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [Finding("compiler", Health.FAULT, f"a trial kernel took over {TRIAL_SECONDS} s", "run make setup")]
    return list(_judged(trial))


def _judged(trial: subprocess.CompletedProcess[str]) -> Iterator[Finding]:
    said = [line.strip() for line in trial.stderr.splitlines()]
    toolchain = next((line.removeprefix("compiling with ") for line in said if line.startswith("compiling with ")), "")
    result = _last_object(trial.stdout)
    if trial.returncode == 0:
        yield Finding("compiler", Health.OK, toolchain)
        yield Finding("trial kernel", Health.OK, str(result.get("message", "accepted")))
    else:
        why = f"{result.get('message', '')} {result.get('details', '')}".strip() or trial.stderr.strip()[-600:]
        yield Finding(
            "trial kernel",
            Health.FAULT,
            why,
            "run make setup; it installs and prepares the compiler; a GPU's own findings come first",
        )
    sandbox = next((line.removeprefix("sandbox: ") for line in said if line.startswith("sandbox: ")), "")
    gaps = [line.removeprefix(GAP) for line in said if line.startswith(GAP)]
    if gaps:
        yield Finding("sandbox", Health.NOTE, f"{sandbox} does not hold back: {'; '.join(gaps)}", _remedy(gaps))
        if readable := [gap for gap in gaps if gap.startswith(READS_FILES)]:
            yield Finding("secrets", Health.NOTE, SECRETS, _remedy(readable))
    elif sandbox:
        yield Finding("sandbox", Health.OK, sandbox)


def _remedy(gaps: list[str]) -> str:
    """Steps that close the gaps: another sandbox, or a control group for resources that only the kernel counts."""
    uncounted = [gap for gap in gaps if gap.startswith(UNCOUNTED)]
    steps = [CONTROL_GROUP_REMEDY] if uncounted else []
    if len(uncounted) < len(gaps):
        steps.insert(0, "install bubblewrap and allow user namespaces, or start Docker and run deploy/sandbox-image")
    return f"{'; '.join(steps)}; do not run untrusted code until then"


def mi300x_report() -> Finding:
    """Checks that reports for the MI300X can be made here, and with which release of HIP."""
    program = [sys.executable, "-m", "services.executor.core", "isa", str(TRIAL_KERNEL), "--json"]
    try:
        said = _last_object(
            subprocess.run(program, capture_output=True, text=True, timeout=TRIAL_SECONDS, check=False).stdout  # noqa: S603 - our own program
        )
    except subprocess.TimeoutExpired:
        said = {"note": f"a trial report took over {TRIAL_SECONDS} s"}
    toolchain = str(said.get("toolchain") or "")
    if not said.get("kernels"):
        detail = str(said.get("note") or "no report could be made")
        return Finding("MI300X report", Health.NOTE, detail, "run make setup; it installs and prepares the compiler")
    return Finding("MI300X report", Health.OK, toolchain)


def problem_definitions() -> Finding:
    """Checks that problem definitions of submissions can be evaluated here, as the executor would do it."""
    name = "definitions"
    try:
        asked = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, *TORCH], capture_output=True, text=True, timeout=TRIAL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Finding(name, Health.FAULT, f"looking for torch took over {TRIAL_SECONDS} s")
    if asked.returncode == 0:
        return Finding(name, Health.OK, f"problem definitions run with {asked.stdout.strip()}")
    remedy = "`wavepool doctor --fix` installs it; only problems that come with submissions need it (docs/contracts.md)"
    fix = (str(SETUP_TORCH),) if SETUP_TORCH.is_file() else ()
    return Finding(name, Health.NOTE, asked.stderr.strip(), remedy, fix)


def fixed(finding: Finding) -> bool:
    """Runs the finding's fix, which may take minutes and prints its progress; True if it succeeds."""
    return subprocess.run(finding.fix, stdout=sys.stderr, check=False).returncode == 0  # noqa: S603 - our own program


def services(transport: Transport, connection: Connection) -> list[Finding]:
    """Checks that a complete Wavepool runs at the endpoint and accepts our token."""
    try:
        readiness = transport.readiness()
    except WavepoolError as error:
        reason = str(error).splitlines()[0]
        return [Finding("services", Health.NOTE, reason, "start them with `wavepool up`, if you want them here")]
    states = cast("dict[str, str]", readiness.get("services") or {})
    found = [Finding("gateway", Health.OK, connection.endpoint)]
    for name, state in states.items():
        good = state == "serving"
        remedy = "" if good else f"read .wavepool/logs/{name}.log; `wavepool up` starts it again by itself"
        found.append(Finding(name, Health.OK if good else Health.FAULT, state, remedy))
    return [*found, _token(transport)]


def _token(transport: Transport) -> Finding:
    try:
        me = transport.call("GET", "/api/v1/me")
    except WavepoolError as error:
        remedy = "give a working one with --token or WAVEPOOL_TOKEN, or start `wavepool up` in this folder"
        return Finding("token", Health.FAULT, str(error).splitlines()[0], remedy)
    return Finding("token", Health.OK, f"account {me.get('account_name')}")


def _last_object(text: str) -> dict[str, Any]:
    try:
        value = cast("object", json.loads(text.splitlines()[-1]))
    except (ValueError, IndexError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
