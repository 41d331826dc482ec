"""The details of a refused call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc
import pytest

from servicekit.rpc.errors import rpc_failure

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from servicekit.rpc.errors import RpcFailure


async def failure(call: Awaitable[Any]) -> RpcFailure:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    return rpc_failure(error.value)
