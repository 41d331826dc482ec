from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.commands.up import command_for
from cli.local.data_folder import claimed
from tests.cli.conftest import Answer, ScriptedGateway
from tests.cli.invocation import wavepool
from wavepool_client.http.connection import DEFAULT_DATA_DIR


def test_a_second_up_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    with claimed(tmp_path, "http://127.0.0.1:9000"):
        run = wavepool("up", "--data-dir", str(tmp_path), "--free-ports")
    assert run.status == 2
    assert "already runs" in run.err


def test_a_taken_port_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        run = wavepool("up", "--data-dir", str(tmp_path), "--free-ports", "--port", port)
    assert run.status == 2
    assert f"gateway port {port}: held by process" in run.err
    assert list((tmp_path / "logs").iterdir()) == []


def test_down_says_so_where_nothing_runs(tmp_path: Path) -> None:
    run = wavepool("down", "--data-dir", str(tmp_path))
    assert run.status == 0
    assert "nothing runs" in run.err


HOLD = """
import signal, sys
from pathlib import Path
from cli.local.data_folder import claimed
with claimed(Path(sys.argv[1]), sys.argv[2]):
    print("held", flush=True)
    signal.pause()
"""


@pytest.fixture
def held(tmp_path: Path, gateway: ScriptedGateway) -> Iterator[subprocess.Popen[str]]:
    """A process that holds the folder as `wavepool up` does, with the gateway as its own."""
    (tmp_path / "token").write_text("secret\n")
    command = [sys.executable, "-c", HOLD, str(tmp_path), gateway.endpoint]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def machines(*providers: str) -> Answer:
    """A machine of each provider, with a reservation."""
    found = [{"id": f"mach_{name}", "provider": name, "reservation_ids": [f"res_{name}"]} for name in providers]
    return Answer({"machines": [*found, {"id": "mach_free", "provider": "local", "reservation_ids": []}]})


def test_down_names_the_reservations_that_would_end_and_stops_nothing(
    tmp_path: Path, gateway: ScriptedGateway, held: subprocess.Popen[str]
) -> None:
    gateway.on("GET", "/api/v1/machines", machines("local", "docker"))
    run = wavepool("down", "--data-dir", str(tmp_path))
    said = " ".join(run.err.split())
    assert run.status == 2
    assert "these reservations end with Wavepool: res_local on mach_local; give --yes to stop anyway" in said
    assert held.poll() is None
    assert gateway.requests[-1].headers["Authorization"] == "Bearer secret"
    assert wavepool("down", "--yes", "--data-dir", str(tmp_path)).status == 0
    assert held.wait(30) == -signal.SIGTERM


@pytest.mark.parametrize(
    "answer",
    [machines("docker", "dstack"), Answer({"title": "Unavailable", "detail": "no pool"}, 503)],
    ids=["they outlive it", "nobody answers"],
)
def test_down_stops_what_ends_no_reservation_or_does_not_answer(
    tmp_path: Path, gateway: ScriptedGateway, held: subprocess.Popen[str], answer: Answer
) -> None:
    gateway.on("GET", "/api/v1/machines", answer)
    assert wavepool("down", "--data-dir", str(tmp_path)).status == 0
    assert held.wait(30) == -signal.SIGTERM


def test_down_saves_the_disks_that_reservations_have_before_it_stops(
    tmp_path: Path, gateway: ScriptedGateway, held: subprocess.Popen[str]
) -> None:
    used = {"name": "work", "owner": "ada", "owner_id": "user_ada", "state": "in_use"}
    disks = [used, {**used, "name": "large"}, {**used, "name": "free", "state": "available"}]
    gateway.on("GET", "/api/v1/machines", machines("docker"))
    gateway.on("GET", "/api/v1/disks", Answer({"disks": disks}))
    gateway.on("POST", "/api/v1/disks/work/snapshot", Answer({"is_unchanged": False}))
    gateway.on("POST", "/api/v1/disks/large/snapshot", Answer({"title": "Conflict", "detail": "too large"}, 409))
    run = wavepool("down", "--data-dir", str(tmp_path))
    assert run.status == 0
    assert "disk work of ada is saved" in run.err
    assert "disk large of ada is not saved: " in run.err
    assert gateway.asked("POST", "/api/v1/disks/work/snapshot")[0].path.endswith("?user_id=user_ada")
    assert not gateway.asked("POST", "/api/v1/disks/free/snapshot")
    assert held.wait(30) == -signal.SIGTERM


def test_the_commands_that_up_prints_are_for_its_own_data_folder(tmp_path: Path) -> None:
    folder = tmp_path / "two words"
    command = f"{command_for(folder)} down"
    said = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=True).stderr
    assert str(folder) in said.replace("\n", "")
    assert "DATA_DIR" not in command_for(DEFAULT_DATA_DIR.resolve())


def test_the_commands_that_up_prints_are_our_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = Path(sys.executable).with_name("wavepool")
    another, link = tmp_path / "another", tmp_path / "link"
    for folder in (another, link):
        folder.mkdir()
    # As deploy/setup-sessions leaves one, which runs no services.
    (another / "wavepool").write_text("#!/bin/sh\n")
    (another / "wavepool").chmod(0o755)
    (link / "wavepool").symlink_to(ours)
    for folder, command in ((tmp_path, str(ours)), (another, str(ours)), (link, "wavepool")):
        monkeypatch.setenv("PATH", str(folder))
        assert command_for(DEFAULT_DATA_DIR.resolve()) == command


def test_up_refuses_to_start_with_code_of_older_protos(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cli.commands.up.stale_protos", lambda: ["wavepool/billing/v1/billing.proto"])
    run = wavepool("up", "--free-ports", "--data-dir", str(tmp_path))
    assert run.status == 3
    assert "billing.proto is out of date: run `make setup`" in " ".join(run.err.split())


def test_up_says_that_reservations_need_no_toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEPOOL_CACHE_DIR", str(tmp_path / "cache"))
    with claimed(tmp_path, "http://127.0.0.1:9000"):
        said = " ".join(wavepool("up", "--data-dir", str(tmp_path), "--free-ports").err.split())
    assert "reservations can start, kernels not yet: the cpu toolchain is not prepared; run `python -m hipcpu." in said


def test_a_setting_that_executors_would_refuse_is_reported_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMD_CONTAINER_MEMORY_LIMIT", "lots")
    monkeypatch.setenv("EXECUTOR_DEVICE", "rcom")
    run = wavepool("up", "--free-ports", "--data-dir", str(tmp_path / "data"))
    said = " ".join(run.err.split())
    assert run.status == 2
    assert "AMD_CONTAINER_MEMORY_LIMIT: must be an amount of memory with its unit" in said
    assert "EXECUTOR_DEVICE: must be one of cpu, nvidia, rocm, sim; it is 'rcom'" in said
    assert not (tmp_path / "data").exists()
