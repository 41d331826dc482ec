"""Root in a container without namespaces: the sandbox's files may be in folders that are closed to its user."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from services.executor.sandboxes.launch_order import Hold
from services.executor.sandboxes.process.sandbox import open_process_sandbox
from services.executor.sandboxes.sandbox import SandboxError
from tests.services.executor.sandboxes.shell import SandboxedShell

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root's sandboxes have a user of their own")


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    return folder


async def test_a_sandbox_reaches_its_mounts_through_a_closed_folder_and_nothing_else_there(closed: Path) -> None:
    shell = SandboxedShell(await open_process_sandbox([Hold.NAMESPACES]), closed)
    secret = closed / "secret"
    secret.write_text("do-not-tell")
    secret.chmod(0o600)
    ending = await shell.run(f"echo inside > /build/out; cat {secret}; echo no > {secret}; cat /etc/shadow")
    assert (shell.folder / "out").read_text() == "inside\n"
    assert ending.stdout == b""
    assert secret.read_text() == "do-not-tell"


async def test_a_temporary_folder_in_a_closed_folder_is_reached_too(
    closed: Path, shell: SandboxedShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(closed))
    inner = SandboxedShell(await open_process_sandbox([Hold.NAMESPACES]), shell.outside)
    assert (await inner.run("echo here > $TMPDIR/file && cat $TMPDIR/file")).stdout == b"here\n"


async def test_a_sandbox_holds_no_capability_that_it_does_not_need(closed: Path, shell: SandboxedShell) -> None:
    ending = await shell.run("grep -E 'Cap(Eff|Prm|Amb)' /proc/self/status")
    assert {line.split()[1] for line in ending.stdout.splitlines()} == {b"0" * 16}
    through_closed = SandboxedShell(await open_process_sandbox([Hold.NAMESPACES]), closed)
    ending = await through_closed.run("grep -E 'Cap(Bnd|Eff|Prm|Amb)' /proc/self/status")
    assert {line.split()[1] for line in ending.stdout.splitlines()} == {b"0000000000000002"}


async def test_without_landlock_a_closed_folder_stays_closed(closed: Path) -> None:
    shell = SandboxedShell(await open_process_sandbox([Hold.NAMESPACES, Hold.LANDLOCK]), closed)
    with pytest.raises(SandboxError, match="chmod o\\+x"):
        await shell.run("true")
