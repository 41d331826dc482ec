from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import AliasChoices

from deploy.env_example import settings_classes
from servicekit.settings.config import secret_names
from servicekit.settings.setting_names import FOREIGN, OTHERS_OF_OURS, RENAMED, read_names, setting_warnings

ROOT = Path(__file__).parents[3]
READ_IN_SOURCE = re.compile(r"""(?:environ(?:\.get)?[(\[]\s*|getenv\()["'](WAVEPOOL_[A-Z_]+)["']""")


def test_the_names_in_the_source_are_those_that_the_classes_read() -> None:
    expected: set[str] = set()
    for kind in settings_classes():
        prefix = str(kind.model_config.get("env_prefix"))
        for name, field in kind.model_fields.items():
            alias = field.validation_alias
            expected |= set(map(str, alias.choices)) if isinstance(alias, AliasChoices) else {f"{prefix}{name}".upper()}
        expected |= {f"{name}_FILE" for name in secret_names(kind)}
    assert set(read_names()) == expected
    assert {"AMD_VM_MAX_CONCURRENT", "DSTACK_AMDDEVCLOUD_API_KEY", "BILLING_PORT"} <= expected


def test_every_name_that_a_program_of_ours_reads_by_itself_is_known() -> None:
    folders = [ROOT / name for name in ("cli", "client", "gateway", "hipcpu", "services", "tests")]
    sources = [path for folder in folders for kind in ("*.py", "*.cpp") for path in folder.rglob(kind)]
    read = {name for path in sources for name in READ_IN_SOURCE.findall(path.read_text("utf-8"))}
    assert len(read) > 3
    assert read <= OTHERS_OF_OURS


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("AMD_VM_IDLE_TIMEOT", "did you mean AMD_VM_IDLE_TIMEOUT?"),
        ("EXECUTOR_SANDBX", "did you mean EXECUTOR_SANDBOX?"),
        ("VMPOOL_MAX_MACHINE", "did you mean VMPOOL_MAX_MACHINES?"),
        ("WAVEPOOL_TOKN", "did you mean WAVEPOOL_TOKEN?"),
        ("WAVEPOOL_FLAVOUR", "docs/operations.md lists the settings"),
    ],
)
def test_a_name_that_nothing_reads_is_reported_with_the_nearest_and_without_its_value(name: str, said: str) -> None:
    assert setting_warnings({name: "s3cret"}) == [f"{name} is set, and nothing reads it; {said}"]


def test_a_name_of_an_earlier_version_is_reported_with_the_new_one_which_is_read() -> None:
    assert setting_warnings({"SCHEDULER_DEFAULT_GPU": "MI210"}) == [
        "SCHEDULER_DEFAULT_GPU is set, and nothing reads it any more; set VMPOOL_DEFAULT_GPU instead"
    ]
    assert set(RENAMED.values()) <= set(read_names())
    assert not set(RENAMED) & set(read_names())


def test_names_of_others_and_names_in_small_letters_are_no_matter() -> None:
    others = ["AMD_LOG_LEVEL", "AMD_SERIALIZE_KERNEL", "AMD_COMGR_SAVE_TEMPS", "GATEWAY_SERVICE_HOST"]
    others += ["GATEWAY_PORT_8080_TCP_ADDR", "EXECUTOR_NUMBER", "HSA_XNACK", "DSTACK_TOKEN", "PATH"]
    assert setting_warnings(dict.fromkeys([*others, *OTHERS_OF_OURS, "vmpool_port"], "1")) == []
    assert not FOREIGN.fullmatch("AMD_VM_IDLE_TIMEOT")


def test_no_setting_of_ours_is_taken_for_somebody_else_s() -> None:
    assert [name for name in read_names() if FOREIGN.fullmatch(name)] == []


def test_settings_that_belong_to_no_provider_are_no_matter_whichever_there_is() -> None:
    ours = [
        name
        for name in read_names()
        if not name.startswith(("VMPOOL_LOCAL_", "VMPOOL_DOCKER_", "VMPOOL_DSTACK_", "VMPOOL_HOSTS_"))
    ]
    others = [name for name in ours if not name.startswith("DSTACK_")]
    assert {"AMD_CONTAINER_MEMORY_LIMIT", "EXECUTOR_SANDBOX", "AMD_DEFAULT_GPU"} <= {*others}
    assert setting_warnings({**dict.fromkeys(others, "1"), "VMPOOL_PROVIDERS": "elsewhere"}) == []


def test_a_provider_s_settings_without_the_provider_are_reported() -> None:
    environment = {"DSTACK_BACKEND": "amddevcloud", "VMPOOL_LOCAL_HOURLY_RATE": "1"}
    [warning] = setting_warnings(environment)
    assert warning == "DSTACK_BACKEND is set, but VMPOOL_PROVIDERS does not name dstack: nothing reads it"
    assert setting_warnings({**environment, "VMPOOL_PROVIDERS": "local, dstack"}) == []


def test_a_service_warns_once_when_it_starts(tmp_path: Path) -> None:
    """It logs nothing else: its database URL is invalid, so the process ends."""
    environment = {**os.environ, "BILLING_DATABASE_URL": "nonsense://", "BILLING_PRT": "1", "BILLING_PORT": "0"}
    run = subprocess.run(
        [sys.executable, "-m", "services.billing"],
        env={**environment, "BILLING_DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    reported = [json.loads(line) for line in run.stdout.splitlines()]
    assert [line["level"] for line in reported if "BILLING_PRT" in line["message"]] == ["WARNING"]
