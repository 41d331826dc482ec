"""Settings of TLS and addresses, as the processes themselves report them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.certificates import make

SERVICES = {
    "services.billing": "BILLING",
    "services.scheduler": "SCHEDULER",
    "services.vmpool": "VMPOOL",
    "gateway": "GATEWAY",
}


def check(module: str, **settings: str) -> tuple[int, str]:
    command = [sys.executable, "-m", module, "--check-settings"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=100, env={**os.environ, **settings}, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("module", SERVICES)
def test_each_process_names_the_certificate_that_it_lacks(module: str, tmp_path: Path) -> None:
    name = module.removeprefix("services.")
    make(tmp_path)
    assert check(module, WAVEPOOL_TLS_DIR=str(tmp_path)) == (0, "")
    (tmp_path / f"{name}.pem").unlink()
    status, said = check(module, WAVEPOOL_TLS_DIR=str(tmp_path))
    assert status == os.EX_CONFIG
    assert said.startswith(f"WAVEPOOL_TLS_DIR: {tmp_path / name}.pem cannot be read (No such file")


@pytest.mark.parametrize("module", [module for module in SERVICES if module != "gateway"])
def test_a_service_on_an_address_that_others_reach_refuses_to_go_without_tls(module: str, tmp_path: Path) -> None:
    host = {f"{SERVICES[module]}_HOST": "0.0.0.0"}  # noqa: S104 - only looked at
    status, said = check(module, **host)
    assert (status, said.partition(":")[0]) == (os.EX_CONFIG, f"{SERVICES[module]}_HOST")
    make(tmp_path)
    assert check(module, **host, WAVEPOOL_TLS_DIR=str(tmp_path)) == (0, "")


def test_the_gateway_which_speaks_http_may_be_reached_by_others() -> None:
    assert check("gateway", GATEWAY_HOST="0.0.0.0") == (0, "")  # noqa: S104 - only looked at
