from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from cli.local.stack import Ports, Stack
from servicekit.settings.setting_names import setting_warnings
from vocabulary.ports import is_free
from wavepool_client.errors import InputError


def test_free_ports_are_all_different_and_free() -> None:
    ports = Ports.free()
    numbers = [*ports.serving.values(), *ports.metrics.values()]
    assert len(set(numbers)) == len(numbers) == 8
    ports.check()


def test_a_taken_port_is_named_with_its_holder_and_the_way_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        assert not is_free(taken)
        with pytest.raises(InputError, match=rf"--free-ports\n  gateway port {taken}: held by process {os.getpid()} "):
            Ports.free(gateway=taken).check()


def test_every_process_gets_its_ports_its_folder_and_where_the_others_are(tmp_path: Path) -> None:
    stack = Stack(tmp_path, Ports.usual(gateway=9000))
    programs = {program.name: program for program in stack.programs()}
    assert list(programs) == ["billing", "vmpool", "scheduler", "gateway"]
    assert stack.endpoint == programs["gateway"].address == "http://127.0.0.1:9000"
    scheduler = programs["scheduler"].environment
    assert scheduler["SCHEDULER_PORT"] == "50061"
    assert scheduler["SCHEDULER_METRICS_PORT"] == "51061"
    assert scheduler["SCHEDULER_DATA_DIR"] == str(tmp_path)
    assert scheduler["SCHEDULER_BILLING_TARGET"] == "127.0.0.1:50064"
    assert programs["gateway"].environment["GATEWAY_METRICS_PORT"] == "10000"


def test_no_process_gets_what_nothing_reads(tmp_path: Path) -> None:
    programs = Stack(tmp_path, Ports.usual()).programs()
    reported = {name: value for program in programs for name, value in program.environment.items()}
    assert {"VMPOOL_LOCAL_EXECUTOR_PORT", "GATEWAY_VMPOOL_TARGET"} <= set(reported)
    assert setting_warnings(reported) == []
