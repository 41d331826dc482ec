"""`/api/v1/audit`: what operators and administrators did, and tried to do. For administrators."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query
from pydantic import AwareDatetime, BaseModel, Field
from wavepool.audit.v1.audit_pb2 import Act as ActMessage
from wavepool.audit.v1.audit_pb2 import ListActsRequest

from gateway.dependencies import TheAdmin, TheGateway
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.routes.identity_calls import call
from gateway.words.proto_time import timestamp_of
from gateway.words.shown import shown
from servicekit.actor import place_after

router = APIRouter(tags=["audit"], route_class=JsonRoute)


class AuditedAct(BaseModel):
    """One act, or an attempt that was refused."""

    id: str
    time: datetime
    service: Annotated[str, Field(description="Who carried it out, and keeps this entry.")]
    kind: Annotated[str, Field(description="Such as `drain_machine`.")]
    user_id: Annotated[str, Field(description="Empty: the services' own token was used.")]
    user: Annotated[str, Field(description="The name then.")]
    token_id: str
    address: Annotated[str, Field(description="Where the request came from.")]
    request: Annotated[Any, Field(description="The request, without secrets.")]
    before: Annotated[Any, Field(description="The state before; null: there was none, or the answer has it.")]
    after: Annotated[Any, Field(description="The answer; null: there was none.")]
    outcome: Annotated[
        str, Field(description="`OK`, the status of a refusal, or `UNKNOWN` if a process ended in the middle of it.")
    ]
    message: Annotated[str, Field(description="Of a refusal.")]
    request_id: str


class ActList(BaseModel):
    """A page of the audit log, newest first."""

    acts: list[AuditedAct]
    next_page_token: str


@router.get("/audit", responses=problems(403, 503))
async def list_acts(
    _: TheAdmin,
    gateway: TheGateway,
    user: Annotated[str, Query(max_length=100, description="An id or a name.")] = "",
    kind: Annotated[str, Query(max_length=100)] = "",
    since: Annotated[AwareDatetime | None, Query(description="From this moment on.")] = None,
    until: Annotated[AwareDatetime | None, Query(description="Before this moment.")] = None,
    page_size: Annotated[int, Query(ge=1, le=500)] = 100,
    page_token: Annotated[str, Query(max_length=200)] = "",
) -> ActList:
    """List what operators and administrators did and tried to do, newest first.

    Billing, the scheduler and vmpool keep a log each; all of them must answer.
    """
    request = ListActsRequest(
        user=user,
        kind=kind,
        from_time=timestamp_of(since),
        to_time=timestamp_of(until),
        page_size=page_size,
        page_token=page_token,
    )
    audits = gateway.upstreams.audits
    answers = [await call(audit.ListActs, request) for audit in audits.values()]
    found = [(act, service) for service, answer in zip(audits, answers, strict=True) for act in answer.acts]
    found.sort(key=lambda one: (one[0].time.ToMicroseconds(), one[0].act_id), reverse=True)
    page, more = found[:page_size], len(found) > page_size or any(answer.next_page_token for answer in answers)
    token = place_after(page[-1][0].time.ToMicroseconds(), page[-1][0].act_id) if more else ""
    return ActList(acts=[_act_of(act, service) for act, service in page], next_page_token=token)


def _act_of(act: ActMessage, service: str) -> AuditedAct:
    texts = {name: orjson.loads(getattr(act, name) or "null") for name in ("request", "before", "after")}
    return shown(AuditedAct, act, id=act.act_id, user=act.user_name, service=service, **texts)
