"""`/api/v1/events`: several topics in one event stream."""

from __future__ import annotations

import asyncio
from functools import partial
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Header, Query, Response
from wavepool.scheduler.v1.scheduler_pb2 import Job

from gateway.auth import Caller
from gateway.dependencies import STREAM_PLACE, Gateway, TheAccount, TheGateway
from gateway.http.errors import Problem, ProblemError
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import TOPIC_STREAM, problems
from gateway.http.sse import EventStream
from gateway.submissions.topics import (
    MOST_TOPICS,
    SUBMISSION,
    TopicReader,
    checked_topics,
    resume_places,
)

router = APIRouter(tags=["submissions"], route_class=JsonRoute)


@router.get("/events", response_class=Response, dependencies=[STREAM_PLACE], responses=TOPIC_STREAM | problems())
async def follow_topics(
    account: TheAccount,
    gateway: TheGateway,
    topic: Annotated[
        list[str],
        Query(
            description="`submissions`, the changes of all submissions of your token's account, or "
            f"`submission:<id>`, the events of one; several times for several, at most {MOST_TOPICS}."
        ),
    ],
    last_event_id: Annotated[
        str | None, Header(description="Resume after the event with this id, in each topic that it has.")
    ] = None,
    after: Annotated[str | None, Query(description="The same, where headers cannot be set.")] = None,
) -> Response:
    """Stream several topics at once. The stream never ends by itself; closing it cancels nothing."""
    topics = checked_topics(topic)
    places = resume_places(topics, last_event_id, after)
    of_jobs = [name for name in topics if name.startswith(SUBMISSION)]
    found = await asyncio.gather(*[_found(account, gateway, name, is_new=not places[name]) for name in of_jobs])
    jobs = dict(zip(of_jobs, found, strict=True))
    reader = TopicReader(gateway.hub, account, jobs, partial(gateway.still_shared, account))
    frames = gateway.hub.counted(reader.frames(places))
    return EventStream(frames, gateway.settings.heartbeat, gateway.settings.send_timeout)


async def _found(account: Caller, gateway: Gateway, topic: str, *, is_new: bool) -> Job | Problem:
    try:
        return await gateway.job_to_follow(account, topic.removeprefix(SUBMISSION), from_start=is_new)
    except ProblemError as error:
        if error.problem.status != HTTPStatus.NOT_FOUND:
            raise
        return error.problem
