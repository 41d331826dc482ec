"""Passes calls that only the leader of a service can answer on to it.

People and the gateway may call any process of a service. One that does not lead sends these calls, as they are, to the
address in the lease, and the answer back. The caller's idempotency keys make a second try safe if an answer is lost.
They are the methods whose proto names the service itself among its callers: a service calls itself for nothing else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import grpc

from servicekit.actor import current_actor
from servicekit.db.leader_lease import LeaderLease
from servicekit.rpc.access import callers_of
from servicekit.rpc.channels import open_channel
from servicekit.rpc.credentials import NAME_KEY, ServiceCredentials
from servicekit.rpc.errors import RpcFailure, has_details, rpc_failure, status_of
from servicekit.rpc.interceptors import FOR_EVERYBODY

RETRY_AFTER = timedelta(seconds=1)
"""Another process takes over within a few seconds."""
LONGEST_CALL_SECONDS = 60.0
"""For calls without a deadline of their own."""


class ForwardToLeader(grpc.aio.ServerInterceptor):
    """Answers methods that the service itself may call only if this process leads.

    Otherwise it asks the leader. Put it after access control: the leader sees this service as the caller. Answers
    UNAVAILABLE, with a time to try again, if no leader is known or it does not answer.
    """

    def __init__(self, lease: LeaderLease, credentials: ServiceCredentials) -> None:
        self._lease = lease
        self._credentials = credentials
        self._channels: dict[str, grpc.aio.Channel] = {}

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:  # noqa: ANN401 - the handler of any RPC
        """Called by grpc for each RPC."""
        handler = await continuation(handler_call_details)
        method = str(handler_call_details.method)
        if handler is None or method.startswith(FOR_EVERYBODY) or self._credentials.name not in callers_of(method):
            return handler
        await self._lease.known()
        if self._lease.leads:
            return handler
        return grpc.unary_unary_rpc_method_handler(self._forward(method), bytes, bytes)

    async def close(self) -> None:
        """Closes the connections to those that led."""
        for channel in self._channels.values():
            await channel.close()

    def _forward(self, method: str) -> Callable[[bytes, Any], Awaitable[bytes]]:
        async def serve(request: bytes, context: Any) -> bytes:  # noqa: ANN401 - grpc's own
            leader = self._lease.leader
            metadata: dict[str, str] = dict(context.invocation_metadata() or ())
            # Who led a moment ago may take us for the leader.
            is_forwarded = metadata.get(NAME_KEY) == self._credentials.name
            if leader is None or is_forwarded:
                failure = self._no_leader("none leads at the moment")
            else:
                channel: Any = self._channel_to(leader.address)
                actor, timeout = current_actor(), context.time_remaining() or LONGEST_CALL_SECONDS
                try:
                    return await channel.unary_unary(method)(
                        request, timeout=timeout, metadata=[actor.metadata()] if actor else None
                    )
                except grpc.aio.AioRpcError as error:
                    is_answer = error.code() is not grpc.StatusCode.UNAVAILABLE or has_details(error)
                    failure = rpc_failure(error) if is_answer else self._no_leader("the leader does not answer")
            return await context.abort_with_status(status_of(failure))

        return serve

    def _channel_to(self, address: str) -> grpc.aio.Channel:
        if address not in self._channels:
            self._channels[address] = open_channel(address, self._credentials, self._credentials.name)
        return self._channels[address]

    def _no_leader(self, reason: str) -> RpcFailure:
        message = f"No {self._credentials.name} can do this now: {reason}. Try again."
        return RpcFailure(grpc.StatusCode.UNAVAILABLE, message, retry_after=RETRY_AFTER)
