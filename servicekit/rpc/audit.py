"""Writes the audit log: the protos say which methods are acts, and the interceptor here writes down each call of them.

The row of an act is written before the act, to the database that the act changes, so what keeps the row from being
written keeps the act from being done. Its outcome is written after it. If that fails, the answer stays as it is, and
the log of the process has the rest: the act is listed with the outcome UNKNOWN.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Literal, cast

import grpc
import orjson
from google.protobuf import json_format
from google.protobuf.message import Message
from wavepool.audit.v1 import audit_pb2 as pb
from wavepool.audit.v1 import audit_pb2_grpc

from servicekit.actor import Actor, current_actor, noting_before, place_after
from servicekit.db.act_store import ActFilter, ActStore
from servicekit.db.database import EPOCH, MICROSECOND
from servicekit.logging import get_logger
from servicekit.request_id import current_request_id
from servicekit.rpc.access import access_of, current_caller
from servicekit.rpc.errors import ErrorMap, RefusedCallError, failure_of
from servicekit.rpc.interceptors import FOR_EVERYBODY, replaced
from servicekit.rpc.proto_of import proto_of

log = get_logger(__name__)

SERVICE_NAME = "wavepool.audit.v1.AuditService"
NEVER, ALWAYS, OF_OTHERS = 0, 1, 2
"""Values of the proto's enum Audit."""
PAGE, MOST = 100, 500
MOST_CHARACTERS = 16_384
"""Of a request or of what it changed; a tree of queues may be longer."""
UNKNOWN = "UNKNOWN"


@cache
def audited(method: str) -> int:
    """Which calls of a method such as `/wavepool.billing.v1.BillingService/GetBalance` are written down."""
    return NEVER if method.startswith(FOR_EVERYBODY) else access_of(method).audit


def kind_of(method: str) -> str:
    """The name of a method in words, such as `drain_machine`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", method.rpartition("/")[2]).lower()


class Audit(grpc.aio.ServerInterceptor):
    """Writes each call of an audited method to the log; for behind access control, where calls are carried out."""

    def __init__(self, store: ActStore, error_map: ErrorMap) -> None:
        self._store = store
        self._error_map = error_map

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[Any]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> Any:  # noqa: ANN401 - the handler of any RPC
        """Called by grpc for each RPC."""
        handler, method = await continuation(handler_call_details), str(handler_call_details.method)
        if handler is None or audited(method) == NEVER:
            return handler

        async def serve(request: Any, context: Any) -> Any:  # noqa: ANN401 - any generated message
            actor = _actor_of(method, request)
            if actor is None:
                return await handler.unary_unary(request, context)
            act_id = await self._store.begin(kind_of(method), actor, _json_of(request), current_request_id())
            before = noting_before()
            try:
                answer = await handler.unary_unary(request, context)
            except BaseException as error:
                await asyncio.shield(self._end(act_id, *self._outcome_of(error), before))
                raise
            await asyncio.shield(self._end(act_id, "OK", "", before, answer))
            return answer

        return replaced(handler, serve)

    def serve_on(self, server: grpc.aio.Server) -> str:
        """Adds the service that lists the log; gives its name."""
        audit_pb2_grpc.add_AuditServiceServicer_to_server(AuditServicer(self._store), server)
        return SERVICE_NAME

    async def refused(self, method: str, message: str) -> None:
        """Writes down that access control refused somebody whom it knows; the refusal does not wait for a database."""
        if audited(method) == NEVER:
            return
        actor = current_actor() or Actor(user_name=current_caller().title)
        try:
            await self._store.refused(kind_of(method), actor, "", current_request_id(), message)
        except Exception:  # whatever the database says, the call is refused
            log.exception("a refused attempt could not be written down", extra={"method": method})

    async def _end(
        self, act_id: str, outcome: str, message: str, before: list[object], after: object | None = None
    ) -> None:
        texts = [_json_of(before[0] if len(before) == 1 else before) if before else "", _json_of(after)]
        try:
            await self._store.end(act_id, outcome, message, *texts)
        except Exception:  # the act is done, whatever the database says
            log.exception("the outcome of an act could not be written down", extra={"act": act_id, "outcome": outcome})

    def _outcome_of(self, error: BaseException) -> tuple[str, str]:
        if isinstance(error, asyncio.CancelledError):
            return "CANCELLED", "the caller did not wait for the answer"
        failure = failure_of(error, self._error_map) if isinstance(error, Exception) else None
        return (failure.code.name, failure.message) if failure else ("INTERNAL", type(error).__name__)


class AuditServicer(audit_pb2_grpc.AuditServiceServicer):
    """The RPCs of the log; `audit.proto` documents them."""

    def __init__(self, store: ActStore) -> None:
        self._store = store

    async def ListActs(  # noqa: N802 - grpc's own
        self,
        request: pb.ListActsRequest,
        context: object,  # noqa: ARG002 - grpc's own
    ) -> pb.ListActsResponse:
        """Lists acts."""
        wanted = ActFilter(
            user=request.user,
            kind=request.kind,
            from_time=_instant(request, "from_time"),
            to_time=_instant(request, "to_time"),
            before=_place_from_token(request.page_token),
        )
        size = min(request.page_size, MOST) if request.page_size > 0 else PAGE
        rows = await self._store.list(wanted, size + 1)
        more = len(rows) > size
        answer = pb.ListActsResponse(acts=[_act_to_proto(row) for row in rows[:size]])
        if more:
            answer.next_page_token = place_after(answer.acts[-1].time.ToMicroseconds(), answer.acts[-1].act_id)
        return answer

    async def RecordRefusal(  # noqa: N802 - grpc's own
        self,
        request: pb.RecordRefusalRequest,
        context: object,  # noqa: ARG002 - grpc's own
    ) -> pb.RecordRefusalResponse:
        """Writes down what the gateway refused."""
        actor = current_actor() or Actor()
        await self._store.refused(request.kind, actor, _cut(request.request), current_request_id(), request.message)
        return pb.RecordRefusalResponse()


def _place_from_token(token: str) -> tuple[Any, str] | None:
    if not token:
        return None
    micros, _, act_id = token.partition("_")
    if not (micros.isascii() and micros.isdigit() and len(micros) <= 17 and act_id):  # noqa: PLR2004 - of years we know
        raise RefusedCallError(
            grpc.StatusCode.INVALID_ARGUMENT, "page_token: take it from the answer of the page before"
        )
    return EPOCH + int(micros) * MICROSECOND, act_id


def _instant(request: pb.ListActsRequest, field: Literal["from_time", "to_time"]) -> datetime | None:
    try:
        return getattr(request, field).ToDatetime(UTC) if request.HasField(field) else None
    except ValueError as error:
        raise RefusedCallError(grpc.StatusCode.INVALID_ARGUMENT, f"{field}: is no moment that we can count") from error


def _act_to_proto(row: Any) -> pb.Act:  # noqa: ANN401 - a row of the store
    has_ended = row.outcome is not None
    texts = {} if has_ended else {"outcome": UNKNOWN, "message": "", "before": "", "after": ""}
    return proto_of(pb.Act, row, **texts)


def _actor_of(method: str, request: Any) -> Actor | None:  # noqa: ANN401 - any generated message
    """Whose act a call is; None if it is nobody's, as a service's own call is, or of what is the caller's own."""
    caller, actor = current_caller(), current_actor()
    is_person = "operator" in caller.kinds
    if audited(method) == OF_OTHERS and not is_person and request.account_ids:
        return None
    if actor is None and "gateway" in caller.kinds:
        return Actor(user_name=caller.title)
    return actor


def _json_of(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, Message):
        seen = type(value)()
        seen.CopyFrom(value)
        _redact(seen)
        try:
            value = json_format.MessageToDict(seen, preserving_proto_field_name=True)
        except json_format.Error:
            # Such as a time that JSON has no words for: the handler refuses it, and the attempt is written down.
            value = {"unreadable": str(seen)}
    return _cut(orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS).decode())


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else orjson.dumps({"cut": text[:MOST_CHARACTERS]}).decode()


def _redact(message: Any) -> None:  # noqa: ANN401 - any generated message
    for field, value in message.ListFields():
        if field.GetOptions().debug_redact:
            message.ClearField(field.name)
        elif field.message_type and not field.message_type.GetOptions().map_entry:
            for one in value if field.is_repeated else (value,):
                _redact(one)


def _plain(value: object) -> Any:  # noqa: ANN401 - what orjson takes
    if isinstance(value, timedelta):
        return value.total_seconds()
    return sorted(cast("set[Any]", value), key=str) if isinstance(value, (set, frozenset)) else str(value)
