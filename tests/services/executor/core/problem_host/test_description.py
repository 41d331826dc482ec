"""Untrusted descriptions from a definition's host: a hijacked host gets a verdict, and never breaks the judge."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any, cast

import pytest

from services.executor.core.model.failure import Failure
from services.executor.core.model.verdict import Verdict
from services.executor.core.problem_host.description import CaseLimits, CaseSize, Description
from services.executor.core.problem_host.host import ProblemHost
from services.executor.core.problem_host.objection import _reported
from services.executor.core.problem_host.sandboxed.framing import FramingError, receive

PARAMETERS = [
    {"name": "x", "ctype": "float", "role": "input", "pointer": True},
    {"name": "y", "ctype": "float", "role": "output", "pointer": True},
]


class Host:
    """Gives the same answer to every question."""

    def __init__(self, **answer: object) -> None:
        self._answer = answer

    def ask(self, what: str, *payloads: memoryview, **fields: object) -> tuple[dict[str, Any], bytearray]:
        return json.loads(json.dumps(self._answer)), bytearray()


def _host(**answer: object) -> ProblemHost:
    return cast("ProblemHost", Host(**answer))


def test_outputs_have_a_limit_before_memory_is_made_for_them() -> None:
    description = Description.from_answer({"parameters": PARAMETERS})
    assert "2 MiB of outputs, of at most 1 MiB" in description.keep(0, [[1 << 18, 2]], 1 << 20)
    assert not description.keep(0, [[1 << 18]], 1 << 20)
    assert description.shapes_of(0) == {"y": (1 << 18,)}


@pytest.mark.parametrize("shape", [[1 << 60], [10**4000, 3], [1 << 33, 1 << 33, 0, 1 << 33, 1]])
def test_outputs_that_no_machine_holds_are_the_definitions_fault(shape: list[int]) -> None:
    with pytest.raises(Failure, match="no machine holds") as raised:
        Description.from_answer({"parameters": PARAMETERS}).keep(0, [shape], 1 << 20)
    assert raised.value.verdict is Verdict.PROBLEM_ERROR


@pytest.mark.parametrize("amount", [10**4000, -1, True, "9"])
@pytest.mark.parametrize("field", ["bytes", "operations", "flops"])
def test_a_size_that_is_no_number_is_the_definitions_fault(amount: object, field: str) -> None:
    with pytest.raises(Failure, match="no number"):
        CaseSize.asked(_host(**{"bytes": 1, "operations": 1, "flops": 1, field: amount}), 0, 1.0)


def test_what_is_not_known_of_a_size_is_within_every_limit_and_contains_nothing() -> None:
    limits = CaseLimits(input_bytes=1 << 20, operations=100, seconds=1)
    unknown = CaseSize.asked(_host(bytes=None, operations=None, flops=0), 0, 1.0)
    assert not limits.exceeded_by(unknown)
    assert not unknown.contains(CaseSize(1, 1))
    assert limits.exceeded_by(CaseSize(2 << 20, None)) == "2 MiB of inputs, of at most 1 MiB"
    assert limits.exceeded_by(CaseSize(1, 200, flops=200)) == "2e+02 operations, of at most 1e+02"
    assert "by its reference, as there is no get_flops" in limits.exceeded_by(CaseSize(1, 200))
    assert CaseSize(2, 2).contains(CaseSize(2, 1))
    assert not CaseSize(2, 0).contains(CaseSize(2, 1))


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
    assert _reported(deep) == ""
    assert _reported({"message": "no"}) == '{"message": "no"}'
