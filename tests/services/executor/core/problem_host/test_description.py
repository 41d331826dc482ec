"""What a definition's host may say of itself: whoever took it over gets a verdict, and never breaks the judge."""

from __future__ import annotations

import json
import socket
import struct
from typing import TYPE_CHECKING, Any, cast

import pytest

from services.executor.core.failure import Failure
from services.executor.core.problem_host.boxed.framing import FramingError, receive
from services.executor.core.problem_host.description import CaseSize, Description
from services.executor.core.problem_host.objection import _told
from services.executor.core.verdict import Verdict

if TYPE_CHECKING:
    from services.executor.core.problem_host.host import ProblemHost

PARAMETERS = [
    {"name": "x", "ctype": "float", "role": "input", "pointer": True},
    {"name": "y", "ctype": "float", "role": "output", "pointer": True},
]


class Host:
    """Says the same to every question."""

    most_array_bytes = 1 << 20

    def __init__(self, **answer: object) -> None:
        self._answer = answer

    def ask(self, what: str, *payloads: memoryview, **fields: object) -> tuple[dict[str, Any], bytearray]:
        return json.loads(json.dumps(self._answer)), bytearray()


def _host(**answer: object) -> ProblemHost:
    return cast("ProblemHost", Host(**answer))


@pytest.mark.parametrize("shape", [[1 << 18, 2], [1 << 60], [10**4000, 3], [1 << 33, 1 << 33, 0, 1 << 33, 1]])
def test_outputs_have_a_limit_before_memory_is_made_for_them(shape: list[int]) -> None:
    with pytest.raises(Failure, match=r"more than the 1 MiB that are taken|no machine holds") as raised:
        Description.asked(_host(parameters=PARAMETERS, shapes=[shape]), 0)
    assert raised.value.verdict is Verdict.PROBLEM_ERROR


@pytest.mark.parametrize("amount", [10**4000, -1, True, "9", None])
def test_a_size_that_is_no_number_is_the_definitions_fault(amount: object) -> None:
    with pytest.raises(Failure, match="no number"):
        CaseSize.asked(_host(bytes=amount, flops=1), 0)


def test_a_header_without_end_is_no_message() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        text = b'{"a":' + b"[" * 100_000
        theirs.sendall(struct.pack("<QQ", len(text), 0) + text)
        with pytest.raises(FramingError, match="not JSON, or too deep"):
            receive(ours, 0)


def test_what_a_check_says_may_be_as_deep_as_it_likes() -> None:
    deep: object = 0
    for _ in range(100_000):
        deep = [deep]
    assert _told(deep) == ""
    assert _told({"message": "no"}) == '{"message": "no"}'
