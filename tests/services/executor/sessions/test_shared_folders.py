"""Folders of the operator that all sessions of a machine see."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from servicekit.clock import ManualClock
from services.executor.config import ExecutorSettings
from services.executor.devices.cpu.cpu_device import CpuDevice
from services.executor.sandboxes.sandbox import Mount
from services.executor.sessions.root.bubblewrap_session import open_bubblewrap_session
from tests.services.executor.client import StartExecutor
from tests.services.executor.sessions.conftest import Machine
from tests.services.executor.sessions.session_client import Person, SessionClient


@pytest.mark.sshd
@pytest.mark.bubblewrap
async def test_sessions_read_what_the_operator_shares_and_write_where_they_may(
    start_executor: StartExecutor, tmp_path: Path, clock: ManualClock, alice: Person
) -> None:
    data, cache = tmp_path / "data", tmp_path / "ccache"
    data.mkdir()
    (data / "numbers").write_text("1 2 3\n")
    cache.mkdir()
    cache.chmod(0o1777)
    owner = cache.stat().st_uid
    shared = [Mount(data, Path("/shared/data")), Mount(cache, Path("/shared/ccache"), writable=True)]
    sandbox = await open_bubblewrap_session(CpuDevice(), tmp_path, shared=shared)
    server, client = await start_executor(session_sandbox=sandbox, clock=clock)
    machine = Machine(server, SessionClient(server.port, client.channel), clock, tmp_path)

    async with machine.session(alice) as access:
        status, said = await access.run(
            alice, "cat /shared/data/numbers; echo object >/shared/ccache/a && ls /shared/ccache"
        )
        assert (status, said.split()) == (0, ["1", "2", "3", "a"])
        assert (await access.run(alice, "echo x >/shared/data/numbers"))[0] != 0
        assert (await access.run(alice, "rm -rf /shared/data; touch /shared/more"))[0] != 0
        assert "/shared/data read-only" in (await access.run(alice, "cat /session/welcome"))[1]
    assert (data / "numbers").read_text() == "1 2 3\n"
    assert (cache / "a").read_text() == "object\n"
    assert cache.stat().st_uid == owner


async def test_folders_that_cannot_be_shared_are_named_with_their_setting(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    one, other = Mount(tmp_path / "data", Path("/shared/data")), Mount(tmp_path / "gone", Path("/shared/gone"))

    assert await open_bubblewrap_session(CpuDevice(), tmp_path, shared=[one, one]) == (
        "EXECUTOR_SHARED_FOLDERS: two folders would be /shared/data in sessions; rename one"
    )
    assert await open_bubblewrap_session(CpuDevice(), tmp_path, shared=[one, other]) == (
        f"EXECUTOR_SHARED_FOLDERS: {tmp_path}/gone is no folder of this machine; make or mount it, or leave it out"
    )


def test_shared_folders_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXECUTOR_SHARED_FOLDERS", "/srv/data,/srv/ccache:rw")
    assert ExecutorSettings().shared_folders == (
        Mount(Path("/srv/data"), Path("/shared/data")),
        Mount(Path("/srv/ccache"), Path("/shared/ccache"), writable=True),
    )
    for wrong in ("data", "/srv/da ta", "/", "/srv/.."):
        monkeypatch.setenv("EXECUTOR_SHARED_FOLDERS", wrong)
        with pytest.raises(ValidationError, match="must be the full path of a folder"):
            ExecutorSettings()
