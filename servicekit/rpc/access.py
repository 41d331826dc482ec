"""Who may call what: each method's proto says it, and the interceptor here keeps all others out."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, cast

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.message import DecodeError

from servicekit.actor import METADATA_KEY, Actor, set_actor
from servicekit.rpc.errors import RefusedCallError
from servicekit.rpc.interceptors import FOR_EVERYBODY, replaced

OPTION = "wavepool.access.v1.access"
"""The option of a method that names its callers (protos/wavepool/access/v1/access.proto)."""
CALLER = "wavepool.access.v1.Caller"
SERVICES = ("gateway", "scheduler", "vmpool")
"""The kinds of callers that are services of the installation."""
TITLES = {
    "gateway": "the gateway",
    "scheduler": "the scheduler",
    "vmpool": "vmpool",
    "operator": "operators and administrators with an API token",
    "admin": "administrators with an API token",
    "other_service": "other services that the operator lists",
    "lease_holder": "the machine's pool and holders of a lease, with the machine's token",
    "machine_admin": "the machine's administrator, with the executor's own token",
    "host_pool": "the pool that lists this host, with the host's token",
}
"""Each kind of caller in words."""


@dataclass(frozen=True)
class Caller:
    """Who calls, as its credentials prove: the kinds that it belongs to, and who it is in words."""

    kinds: frozenset[str]
    title: str
    name: str = ""
    """Of another service that the operator lists; empty for everybody else."""
    accounts: tuple[str, ...] = ()
    """Names or ids of accounts that this service may charge."""
    actor: Actor | None = None
    """The owner of an API token."""

    def own(self, name: str) -> str:
        """The name of a thing of this caller, so that other services name theirs as they like."""
        return f"{self.name}/{name}" if self.name else name

    def owns(self, name: str) -> bool:
        """True if `own` may have made the name."""
        return name.startswith(self.own(""))


_UNKNOWN = Caller(frozenset(), "an unknown caller")
_CALLER: ContextVar[Caller] = ContextVar("caller")


def current_caller() -> Caller:
    """Who makes the call that is being answered."""
    return _CALLER.get(_UNKNOWN)


Identify = Callable[[Any], Awaitable[Caller]]
"""Tells from the context of a call who calls; raises RefusedCallError or an error of the service's error map."""


def access_of(method: str) -> Any:  # noqa: ANN401 - servicekit knows the option by its name alone
    """The option `access` of a method such as `/wavepool.billing.v1.BillingService/GetBalance`."""
    pool: Any = descriptor_pool.Default()
    service, _, name = method.removeprefix("/").partition("/")
    return (
        pool.FindServiceByName(service).methods_by_name[name].GetOptions().Extensions[pool.FindExtensionByName(OPTION)]
    )


@cache
def callers_of(method: str) -> frozenset[str]:
    """The kinds of callers of a method; empty if the proto names none."""
    kinds = cast("Any", descriptor_pool.Default()).FindEnumTypeByName(CALLER).values_by_number
    return frozenset(kinds[number].name.removeprefix("CALLER_").lower() for number in access_of(method).callers)


def in_words(kinds: frozenset[str]) -> str:
    """The callers of these kinds, in the order of the proto."""
    titles = [title for kind, title in TITLES.items() if kind in kinds]
    return " or ".join(filter(None, (", ".join(titles[:-1]), *titles[-1:])))


class AccessControl(grpc.aio.ServerInterceptor):
    """Refuses callers that a method's proto does not name, before the request is read.

    Only health and reflection are open to everybody. `refused` hears of calls of somebody who is known.
    """

    def __init__(self, identify: Identify, refused: Callable[[str, str], Awaitable[None]] | None = None) -> None:
        self._identify = identify
        self._refused = refused

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:  # noqa: ANN401 - the handler of any RPC
        """Called by grpc for each RPC."""
        handler = await continuation(handler_call_details)
        method = str(handler_call_details.method)
        if handler is None or method.startswith(FOR_EVERYBODY):
            return handler
        if handler.request_streaming:
            return replaced(handler, self._both_ways(method, handler), is_read=False)
        wrapped = self._streaming if handler.response_streaming else self._unary
        return replaced(handler, wrapped(method, handler), is_read=False)

    def _unary(self, method: str, handler: Any) -> Callable[[bytes, Any], Awaitable[Any]]:  # noqa: ANN401 - grpc has no type for it
        async def serve(request: bytes, context: Any) -> Any:  # noqa: ANN401 - any generated message
            await self._admit(method, context)
            return await handler.unary_unary(_read(handler, request), context)

        return serve

    def _streaming(self, method: str, handler: Any) -> Callable[[bytes, Any], AsyncIterator[Any]]:  # noqa: ANN401 - grpc has no type for it
        async def serve(request: bytes, context: Any) -> AsyncIterator[Any]:  # noqa: ANN401 - any generated message
            await self._admit(method, context)
            async for response in handler.unary_stream(_read(handler, request), context):
                yield response

        return serve

    def _both_ways(self, method: str, handler: Any) -> Callable[[AsyncIterator[bytes], Any], AsyncIterator[Any]]:  # noqa: ANN401 - grpc has no type for it
        async def serve(requests: AsyncIterator[bytes], context: Any) -> AsyncIterator[Any]:  # noqa: ANN401 - any generated message
            await self._admit(method, context)
            read = (_read(handler, request) async for request in requests)
            async for response in handler.stream_stream(read, context):
                yield response

        return serve

    async def _admit(self, method: str, context: Any) -> None:  # noqa: ANN401 - grpc's own
        name, allowed = method.rpartition("/")[2], callers_of(method)
        if not allowed:
            raise RefusedCallError(grpc.StatusCode.PERMISSION_DENIED, f"{name} is closed: its proto names no callers")
        try:
            caller = await self._identify(context)
        except RefusedCallError as error:
            raise RefusedCallError(error.code, f"{name} is for {in_words(allowed)}; {error}") from error
        _CALLER.set(caller)
        set_actor(_actor_of(caller, context))
        if not allowed & caller.kinds:
            message = f"{name} is for {in_words(allowed)}; you call as {caller.title}"
            if self._refused:
                await self._refused(method, message)
            raise RefusedCallError(grpc.StatusCode.PERMISSION_DENIED, message)


def _actor_of(caller: Caller, context: Any) -> Actor | None:  # noqa: ANN401 - grpc's own
    """The person behind a call: the caller, or the one whom the gateway or another scheduler names."""
    if caller.actor:
        return replace(caller.actor, address=context.peer())
    metadata: dict[str, Any] = dict(context.invocation_metadata() or ())
    named = metadata.get(METADATA_KEY)
    return Actor.of_metadata(named) if named and caller.kinds & {"gateway", "scheduler"} else None


def _read(handler: Any, request: bytes) -> Any:  # noqa: ANN401 - any generated message
    try:
        return handler.request_deserializer(request)
    except DecodeError as error:
        raise RefusedCallError(
            grpc.StatusCode.INVALID_ARGUMENT, "the request is not a message of this method"
        ) from error
