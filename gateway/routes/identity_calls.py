"""Calls and fields that routes share, most of them about users, teams, accounts and tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, TypeVar

import grpc
from fastapi import Path, Query
from pydantic import Field
from wavepool.billing.v1.identity_pb2 import ListNamesRequest

from gateway.dependencies import Gateway
from gateway.http.errors import ProblemError
from gateway.http.rpc_status import problem_of_rpc
from gateway.upstreams import CALL_TIMEOUT_SECONDS
from servicekit.logging import get_logger

log = get_logger(__name__)

RequestT = TypeVar("RequestT")
AnswerT = TypeVar("AnswerT")

MOST_USD = 1_000_000_000.0
"""As much as an account can hold."""

Name = Annotated[str, Field(min_length=1, max_length=64, description='1 to 64 characters of a-z, 0-9 and "-".')]
GrantUsd = Annotated[
    float, Field(strict=True, ge=0, le=MOST_USD, description="First credit of the account, in dollars.")
]
Reference = Annotated[str, Path(max_length=100, description="An id or a name.")]
UserQuery = Annotated[str, Query(max_length=100, description="A user's id or name, for administrators; default: you.")]


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


async def names_of(gateway: Gateway, user_ids: Iterable[str]) -> Mapping[str, str]:
    """Users' names by their ids; none if billing is away, since what was made must be answered."""
    wanted = sorted(filter(None, user_ids))
    if not wanted:
        return {}
    try:
        request = ListNamesRequest(user_ids=wanted)
        return (await gateway.upstreams.identity.ListNames(request, timeout=CALL_TIMEOUT_SECONDS)).names
    except grpc.aio.AioRpcError as error:
        log.warning("users' names are not known now", extra={"code": error.code().name})
        return {}
