from __future__ import annotations

from pathlib import Path

import pytest

from services.vmpool.providers.ssh.known_targets import KnownTargets
from services.vmpool.providers.ssh.tunnels import SshTarget

JUMP = SshTarget("192.0.2.1", 22, "gate", 50051)
TARGETS = [SshTarget("192.0.2.7", 2222, "root", 50051), SshTarget("10.0.0.7", 22, "hotaisle", 50051, JUMP)]


@pytest.mark.parametrize("target", TARGETS)
def test_another_process_knows_where_a_machine_was_until_it_is_over(tmp_path: Path, target: SshTarget) -> None:
    known = KnownTargets(tmp_path / "targets")
    known.keep("m1", JUMP)
    known.keep("m1", target)
    later = KnownTargets(tmp_path / "targets")
    assert (later.of("m1"), later.of("m2")) == (target, None)
    later.forget("m1")
    later.forget("m1")
    assert KnownTargets(tmp_path / "targets").of("m1") is None


@pytest.mark.parametrize("kept", [b"", b"\xff", b"[]", b"{}", b'{"host": "a", "ssh_port": "x", "jump": null}', b"7"])
def test_what_is_broken_is_as_good_as_unknown(tmp_path: Path, kept: bytes) -> None:
    (tmp_path / "m1.json").write_bytes(kept)
    assert KnownTargets(tmp_path).of("m1") is None
