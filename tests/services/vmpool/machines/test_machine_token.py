from __future__ import annotations

from pathlib import Path

import pytest

from services.vmpool.machines.machine_token import MachineTokens, kept_secret


def test_tokens_differ_by_machine_and_by_pool_and_stay_the_same(tmp_path: Path) -> None:
    tokens = MachineTokens(kept_secret(tmp_path))
    assert tokens.of("m1") == MachineTokens(kept_secret(tmp_path)).of("m1")
    assert tokens.of("m1") != tokens.of("m2")
    assert tokens.of("m1") != MachineTokens(kept_secret(tmp_path / "other")).of("m1")
    assert tokens.are_ours("m1", tokens.of("m1"))
    assert not tokens.are_ours("m1", tokens.of("m2"))


def test_the_secret_is_nobody_else_s_and_a_cut_off_one_is_reported(tmp_path: Path) -> None:
    kept_secret(tmp_path)
    path = tmp_path / "pool_secret"
    assert path.stat().st_mode & 0o077 == 0
    path.write_bytes(b"cut")
    with pytest.raises(ValueError, match="it was cut off"):
        kept_secret(tmp_path)
