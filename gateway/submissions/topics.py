"""Several topics in one event stream, and the place in each of them.

A topic is `submission:<id>`, the events of a submission, or `submissions`, the changes of an account's submissions. A
task reads each topic, and waits until the client has taken what it read. So a client that reads slowly falls behind in
a topic as it would in a stream of that topic alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Annotated, Any

import grpc
from pydantic import Field
from typing_extensions import TypedDict
from wavepool.scheduler.v1.scheduler_pb2 import Job, WatchJobsResponse

from gateway.auth import Caller
from gateway.http.errors import FieldError, Problem, ProblemError
from gateway.http.rpc_status import problem_of_rpc
from gateway.submissions.event_schemas import HeartbeatEvent, SubmissionEvent
from gateway.submissions.frames import decoded
from gateway.submissions.hub import Hub, StillShared
from gateway.submissions.job_stream import FINAL_CODES
from gateway.submissions.sharing import SharedSubmissionEvent
from gateway.submissions.views import Submission, is_over, submission_of
from gateway.words.json_values import to_json
from vocabulary.names import none_of

MOST_TOPICS = 64
"""Of one stream. Their names fit into a URL, and their places into a header."""
SUBMISSIONS = "submissions"
SUBMISSION = "submission:"
_COMMON = "submission"
"""How each topic begins; ids leave it out."""
_TOPIC = re.compile(rf"{SUBMISSIONS}|{SUBMISSION}[A-Za-z0-9_-]{{1,64}}", re.ASCII)
_PLACE = re.compile(r"([^=]+)=([0-9]{0,18})", re.ASCII)


class _OfTopic(TypedDict):
    topic: Annotated[str, Field(description="`submissions`, or `submission:<id>`.")]


class TopicFrame(_OfTopic):
    """An event of a submission, as its own stream has it for you."""

    event_id: Annotated[int | None, Field(description="Its id in that stream; null: it has none there.")]
    frame: SubmissionEvent | SharedSubmissionEvent


class TopicChange(_OfTopic):
    """A submission that changed, as lists have it."""

    submission: Annotated[Submission | None, Field(description="Null: nothing is missed from here on.")]


class TopicRefusalReason(TypedDict):
    """A problem document in short."""

    status: int
    title: str
    detail: str


class TopicRefusal(_OfTopic):
    """The topic has no more events in this connection; the others go on."""

    refusal: TopicRefusalReason


TopicEvent = Annotated[
    TopicFrame | TopicChange | TopicRefusal | HeartbeatEvent,
    Field(description="The data of an event of several topics."),
]
Places = dict[str, int | None]
"""The last event of each topic that a client has; None: it has none."""
Parts = AsyncGenerator[tuple[int | None, dict[str, bytes]]]
"""The frames of one topic: the place after each, None if it moves none, and its fields beside `topic`, as JSON."""
_Read = asyncio.Queue[tuple[str, int | None, dict[str, bytes]] | Exception | None]
"""Frames that the client has not taken, with their topics; an error that ends its stream; or None, its end."""


def checked_topics(names: Sequence[str]) -> list[str]:
    """The topics, each once; raises ProblemError (422) if there are too many, or one has no meaning."""
    topics = list(dict.fromkeys(names))
    wrong = [name for name in topics if not _TOPIC.fullmatch(name)]
    if wrong:
        raise _refused("topic", none_of(wrong[0], [SUBMISSIONS, f"{SUBMISSION}<id>"]))
    if len(topics) > MOST_TOPICS:
        raise _refused("topic", f"may be given {MOST_TOPICS} times at most, and is given {len(topics)} times")
    return topics


def resume_places(topics: Sequence[str], last_event_id: str | None, after: str | None) -> Places:
    """The place in each topic; the header wins, because it is newer than the query.

    A topic that the id does not have has no place yet. Raises ProblemError (422) if it is no id of such a stream, or of
    one with other topics alone.
    """
    field, text = ("Last-Event-ID", last_event_id) if last_event_id else ("after", after)
    if not text:
        return dict.fromkeys(topics)
    known: Places = {}
    for part in text.split(","):
        match = _PLACE.fullmatch(part)
        name = f"{_COMMON}{match[1]}" if match else ""
        if not match or not _TOPIC.fullmatch(name) or name in known:
            raise _refused(field, "is no event id of such a stream; send that of the last event, or none")
        known[name] = int(match[2]) if match[2] else None
    if known.keys().isdisjoint(topics):
        raise _refused(field, "is the event id of a stream with other topics; send none to start at the beginning")
    return {topic: known.get(topic) for topic in topics}


def event_id(places: Places) -> str:
    """The id of an event after which a client has these places."""
    shown = {topic: "" if place is None else place for topic, place in places.items()}
    return ",".join(f"{topic.removeprefix(_COMMON)}={place}" for topic, place in shown.items())


class TopicReader:
    """Reads topics for one client."""

    def __init__(
        self,
        hub: Hub,
        caller: Caller,
        jobs: Mapping[str, Job | Problem],
        still_shared: Callable[[Job], StillShared | None],
    ) -> None:
        """`jobs` has the submission of each topic that is one, or the reason why it cannot be seen.

        `still_shared` gives None for a submission of the caller's own accounts.
        """
        self._still_shared = still_shared
        self._hub = hub
        self._caller = caller
        self._jobs = jobs

    async def frames(self, places: Places) -> AsyncGenerator[bytes]:
        """The encoded frames of all topics after their places, until the hub closes.

        Raises FellBehindError.
        """
        places = dict(places)
        read: _Read = asyncio.Queue(1)
        tasks = [asyncio.create_task(self._read(topic, place, read), name=topic) for topic, place in places.items()]
        tasks.append(asyncio.create_task(self._end(read), name="end of topics"))
        try:
            while (frame := await read.get()) is not None:
                if isinstance(frame, Exception):
                    raise frame
                topic, place, fields = frame
                if place is not None:
                    places[topic] = place
                yield _encoded(places, {"topic": to_json(topic), **fields})
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, topic: str, place: int | None, read: _Read) -> None:
        try:
            async with aclosing(self._parts(topic, place)) as parts:
                async for place_after, fields in parts:
                    await read.put((topic, place_after, fields))
        except Exception as error:  # noqa: BLE001 - raised where the client's stream ends
            await read.put(error)

    async def _end(self, read: _Read) -> None:
        await self._hub.closing.wait()
        await read.put(None)

    def _parts(self, topic: str, place: int | None) -> Parts:
        if topic == SUBMISSIONS:
            return self._changes(place)
        return self._events(self._jobs[topic], place or 0)

    async def _events(self, job: Job | Problem, after: int) -> Parts:
        if isinstance(job, Problem):
            yield _refusal(job)
            return
        if is_over(job) and after >= job.last_seq:
            return
        try:
            async with aclosing(self._hub.follow(job, after, self._still_shared(job))) as frames:
                async for data in frames:
                    seq, frame = decoded(data)
                    yield seq, {"event_id": to_json(seq), "frame": frame}
        except ProblemError as error:
            yield _refusal(error.problem)

    async def _changes(self, after: int | None) -> Parts:
        try:
            async with aclosing(self._hub.changes(self._caller.account_id, after)) as changes:
                async for change in changes:
                    yield change.revision, {"submission": _shown(change)}
        except grpc.aio.AioRpcError as error:
            if error.code() not in FINAL_CODES:
                raise
            yield _refusal(problem_of_rpc(error, {"after_revision": "the place in `submissions`"}))


def _shown(change: WatchJobsResponse) -> bytes:
    """The job as lists show it; null at the beginning, when none has changed yet."""
    return to_json(submission_of(change.job).model_dump(mode="json", by_alias=True) if change.HasField("job") else None)


def _refusal(problem: Problem) -> tuple[None, dict[str, bytes]]:
    refusal: dict[str, Any] = {"status": problem.status, "title": problem.title, "detail": problem.detail}
    return None, {"refusal": to_json(refusal)}


def _encoded(places: Places, fields: Mapping[str, bytes]) -> bytes:
    data = b",".join(b'"%s":%s' % (name.encode(), value) for name, value in fields.items())
    return b"id: %s\ndata: {%s}\n\n" % (event_id(places).encode(), data)


def _refused(field: str, message: str) -> ProblemError:
    return ProblemError(Problem(422, f"{field} {message}.", (FieldError(field, message),)))
