"""The details of a refused call."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import grpc
import pytest

from servicekit.rpc.errors import RpcFailure, rpc_failure


async def failure(call: Awaitable[Any]) -> RpcFailure:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    return rpc_failure(error.value)
