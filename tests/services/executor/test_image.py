"""The executor's image that deploy/Dockerfile builds from a ROCm image, here from a stand-in without ROCm."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator

import pytest

pytestmark = [pytest.mark.docker, pytest.mark.executor_image, pytest.mark.timeout(300)]

IMAGE = "wavepool-executor-trial"
# As on a rented machine: nobody may write to the root, and runs have their folders in memory.
RUN = ("docker", "run", "--rm", "--read-only", "--tmpfs", "/tmp:exec,mode=1777")  # noqa: S108  a container's
EXECUTOR = ("python", "-m", "services.executor")
READY_SECONDS = 120
CANARY = (
    "{ echo '#define SCRUB_BYTES 8388608'; cat services/executor/core/sandbox/canary.hip; } >/tmp/canary.hip"
    " && python -m services.executor.core bench /tmp/canary.hip --mode sandbox --cache-folder /tmp/builds --json"
)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=READY_SECONDS)


def test_on_a_machine_without_a_gpu_the_executor_says_what_is_missing_and_ends() -> None:
    settings = ("--env", "EXECUTOR_DEVICE=rocm", "--env", "EXECUTOR_DATA_DIR=/var/lib/wavepool")
    ended = run(*RUN, *settings, IMAGE, *EXECUTOR)
    assert ended.returncode == 1
    message = json.loads(ended.stderr.splitlines()[-1])["message"]
    assert message.startswith("the executor cannot start: no device: /dev/kfd is missing; load the driver")


def test_its_checkup_names_each_thing_that_is_missing() -> None:
    looked = run(*RUN, IMAGE, "python", "-m", "services.executor.devices.checkup", "rocm")
    findings = {found["check"]: found for found in json.loads(looked.stdout)}
    assert set(findings) == {"device", "permission", "topology", "driver", "hipcc", "amdsmi", "host memory", "image"}
    assert not findings["device"]["ok"]
    assert "no hipcc at /opt/rocm/bin/hipcc; install ROCm 6.2 or newer" in findings["hipcc"]["message"]


@pytest.fixture
def executor() -> Iterator[str]:
    """A container whose executor runs on the processor."""
    settings = ("--env", "EXECUTOR_DATA_DIR=/var/lib/wavepool", "--env", "EXECUTOR_CACHE_DIR=/tmp/builds")
    started = run(*RUN, "--detach", *settings, IMAGE, *EXECUTOR)
    container = started.stdout.strip()
    assert container, started.stderr
    yield container
    run("docker", "rm", "--force", container)


def test_on_the_processor_it_answers_health_and_runs_the_canary(executor: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    health = ("docker", "exec", executor, "python", "-m", "cli.local.health", "127.0.0.1:50063")
    while (asked := run(*health)).returncode:
        assert time.monotonic() < deadline, (asked, run("docker", "logs", executor))
    proved = run("docker", "exec", executor, "sh", "-c", CANARY)
    result = json.loads(proved.stdout.splitlines()[-1])
    assert (proved.returncode, result["verdict"]) == (0, "ACCEPTED"), proved.stderr
