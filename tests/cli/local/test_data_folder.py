from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli.local.data_folder import claimed, holder, rotate_logs
from wavepool_client.errors import InputError


def test_a_claimed_folder_tells_who_holds_it_and_where_the_gateway_is(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    with claimed(folder, "http://127.0.0.1:9000"):
        assert holder(folder) == os.getpid()
        assert (folder / "endpoint").read_text() == "http://127.0.0.1:9000\n"
    assert holder(folder) is None
    assert not (folder / "endpoint").exists()


def test_a_second_claim_is_refused_with_the_holder_and_what_to_do(tmp_path: Path) -> None:
    with (
        claimed(tmp_path, "http://127.0.0.1:9000"),
        pytest.raises(InputError, match=rf"process {os.getpid()}.*\n.*wavepool down --data-dir"),
        claimed(tmp_path, "http://127.0.0.1:9001"),
    ):
        pass
    with claimed(tmp_path, "http://127.0.0.1:9001"):
        assert holder(tmp_path) == os.getpid()


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="choose another with --data-dir"), claimed(tmp_path / "file", "http://x"):
        pass


def test_only_long_logs_are_put_aside_and_their_processes_write_on(tmp_path: Path) -> None:
    (tmp_path / "short.log").write_text("x" * 10)
    with (tmp_path / "long.log").open("a") as log:
        log.write("x" * 11)
        log.flush()
        rotate_logs(tmp_path, largest_bytes=10)
        log.write("y")
    found = {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert found == {"long.log.1": "x" * 11, "long.log": "y", "short.log": "x" * 10}
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_nobody_else_enters_the_data_folder(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with claimed(tmp_path, "http://127.0.0.1:9000"):
        assert tmp_path.stat().st_mode & 0o777 == 0o700
