from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli.local.generated_code import stale_protos


def a_proto(folder: Path, seconds: int, generated_seconds: int | None) -> None:
    proto = folder / "a.proto"
    proto.touch()
    os.utime(proto, (seconds, seconds))
    if generated_seconds is not None:
        (folder / "a_pb2.py").touch()
        os.utime(folder / "a_pb2.py", (generated_seconds, generated_seconds))


@pytest.mark.parametrize(
    ("changed", "made", "stale"), [(1, 2, []), (1, 1, []), (2, 1, ["a.proto"]), (1, None, ["a.proto"])]
)
def test_code_is_stale_where_its_proto_is_newer(
    tmp_path: Path, changed: int, made: int | None, stale: list[str]
) -> None:
    a_proto(tmp_path, changed, made)
    assert stale_protos(tmp_path) == stale


def test_the_code_of_this_checkout_is_up_to_date() -> None:
    assert stale_protos() == []


def test_nothing_is_stale_where_there_are_no_protos(tmp_path: Path) -> None:
    assert stale_protos(tmp_path / "none") == []
