from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path

from services.vmpool.providers.local.checkup import LEAST_DISK_MIB, findings_on
from services.vmpool.providers.local.config import LocalConfig
from services.vmpool.providers.local.provider import LocalProvider
from services.vmpool.providers.provider import Diagnosable, ProviderFinding
from tests.services.vmpool.local_machines import local_config


def found(config: LocalConfig, check: str, least_disk_mib: int = LEAST_DISK_MIB) -> ProviderFinding:
    return next(finding for finding in findings_on(config, least_disk_mib) if finding.check == check)


async def test_a_host_that_can_run_executors_has_no_fault(tmp_path: Path) -> None:
    provider = LocalProvider(local_config(tmp_path))
    assert isinstance(provider, Diagnosable)
    assert all(finding.ok for finding in await provider.diagnose())


def test_an_executor_program_that_is_not_there_is_a_fault_with_the_setting_to_mend(tmp_path: Path) -> None:
    missing = found(replace(local_config(tmp_path), command=("no-such-executor", "-v")), "executor program")
    assert (missing.ok, missing.message) == (False, "there is no program 'no-such-executor'")
    assert "VMPOOL_LOCAL_EXECUTOR_COMMAND" in missing.remedy


def test_a_data_folder_that_cannot_be_made_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    finding = found(local_config(tmp_path / "file" / "data"), "data folder")
    assert (finding.ok, "cannot be written to" in finding.message) == (False, True)


def test_a_full_disk_is_a_fault(tmp_path: Path) -> None:
    assert not found(local_config(tmp_path), "data folder", least_disk_mib=1 << 40).ok


def test_a_port_in_use_is_reported_and_no_fault(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        finding = found(replace(local_config(tmp_path), preferred_port=port), "executor port")
    assert (finding.ok, "is in use" in finding.message) == (True, True)
