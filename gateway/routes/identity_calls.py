"""Calls and fields that the routes about users, teams, accounts and tokens share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeVar

import grpc
from fastapi import Path
from pydantic import Field

from gateway.http.errors import ProblemError
from gateway.http.rpc_status import problem_of_rpc
from gateway.upstreams import CALL_TIMEOUT_SECONDS

if TYPE_CHECKING:
    from collections.abc import Mapping

RequestT = TypeVar("RequestT")
AnswerT = TypeVar("AnswerT")

MOST_USD = 1_000_000_000.0
"""As much as an account can hold."""

Name = Annotated[str, Field(min_length=1, max_length=64, description='1 to 64 characters of a-z, 0-9 and "-".')]
GrantUsd = Annotated[
    float, Field(strict=True, ge=0, le=MOST_USD, description="First credit of the account, in dollars.")
]
Reference = Annotated[str, Path(max_length=100, description="An id or a name.")]


async def call(
    method: grpc.aio.UnaryUnaryMultiCallable[RequestT, AnswerT],
    request: RequestT,
    field_names: Mapping[str, str] | None = None,
) -> AnswerT:
    """Calls a method; `field_names` maps the message's fields to HTTP's. Raises ProblemError."""
    try:
        return await method(request, timeout=CALL_TIMEOUT_SECONDS)
    except grpc.aio.AioRpcError as error:
        raise ProblemError(problem_of_rpc(error, {"grant_micros": "grant_usd", **(field_names or {})})) from error
