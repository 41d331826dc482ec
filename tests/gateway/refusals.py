"""Failures that scripted services answer with, and the calls that they received."""

from __future__ import annotations

from collections import defaultdict
from datetime import timedelta
from typing import Any, cast

import grpc

from servicekit.rpc.errors import RpcFailure, status_of


class Refusals:
    """Failures that calls meet, by method name, until they are removed."""

    def __init__(self) -> None:
        self.by_method: dict[str, RpcFailure] = {}
        self.calls: dict[str, list[Any]] = defaultdict(list)

    async def meet(self, method: str, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> None:
        self.calls[method].append(request)
        if method in self.by_method:
            status = status_of(self.by_method[method])
            await context.abort_with_status(cast("Any", status))


def refusal(
    code: grpc.StatusCode,
    message: str = "",
    violations: tuple[tuple[str, str], ...] = (),
    retry_after: timedelta | None = None,
) -> RpcFailure:
    return RpcFailure(code, message, violations, retry_after)
