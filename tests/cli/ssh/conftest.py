"""The real agent of OpenSSH."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def opensshs_agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An agent without keys, on the socket SSH_AUTH_SOCK; tests with it have the marker `ssh`."""
    path = tmp_path / "agent"
    with subprocess.Popen(["ssh-agent", "-D", "-a", path], stdout=subprocess.PIPE) as agent:
        assert agent.stdout
        agent.stdout.readline()
        monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
        yield path
        agent.terminate()
