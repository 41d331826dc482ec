"""Calls that one of our services refuses."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import grpc
import pytest

from servicekit.rpc.errors import RpcFailure, rpc_failure


async def refused(call: Awaitable[Any], *said: grpc.StatusCode | str, field: str = "") -> RpcFailure:
    """The refusal; `said` are its code and words of its message, and `field` is the first that it finds wrong."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    failure = rpc_failure(caught.value)
    for one in said:
        if isinstance(one, str):
            assert one in failure.message
        else:
            assert failure.code is one
    assert not field or failure.violations[0][0] == field
    return failure
