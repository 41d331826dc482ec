"""Clients that send slowly, too much, or bytes that two servers may read differently: over real sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from tests.gateway.running_gateway import DEADLINE_SECONDS, RunningGateway, serve, settings_for
from tests.gateway.scripted_services import USER_TOKEN, ScriptedServices

pytestmark = pytest.mark.asyncio(loop_scope="module")

SOON = timedelta(milliseconds=300)
LATE = timedelta(minutes=5)
TRICKLE_SECONDS = 0.02
SUBMIT = "POST /api/v1/submissions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
SEED_SUBMIT = SUBMIT.replace("/api/v1/submissions", "/api/amd/submit")
HALF_A_HEAD = b"GET /healthz HTTP/1.1\r\nHost: x\r\n"
TOKEN = f"Authorization: Bearer {USER_TOKEN}\r\n"

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def connection(gateway: RunningGateway, *, sent: bytes = b"") -> AsyncGenerator[Streams]:
    host, port = gateway.url.removeprefix("http://").split(":")
    async with asyncio.timeout(DEADLINE_SECONDS):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(sent)
        try:
            yield reader, writer
        finally:
            writer.close()


async def all_of(gateway: RunningGateway, sent: bytes) -> tuple[int, bytes]:
    """Everything received before the server closes, and the status of the last answer in it."""
    async with connection(gateway, sent=sent) as (reader, _):
        answers = await reader.read()
    return int(answers.rpartition(b"HTTP/1.1 ")[2][:3] or 0), answers


async def trickled(streams: Streams, piece: bytes) -> bytes:
    """Everything received until the server closes, while the same piece is sent again and again."""
    reader, writer = streams
    answer = b""
    while True:
        try:
            async with asyncio.timeout(TRICKLE_SECONDS):
                got = await reader.read(65536)
        except TimeoutError:
            writer.write(piece)
            continue
        except ConnectionResetError:
            return answer
        if not got:
            return answer
        answer += got


def problem_in(answer: bytes) -> dict[str, object]:
    return json.loads(answer.rpartition(b"\r\n\r\n")[2])


@asynccontextmanager
async def impatient(
    services: ScriptedServices, *, head: timedelta = LATE, body: timedelta = LATE
) -> AsyncGenerator[RunningGateway]:
    async with serve(services, settings_for(services, head_deadline=head, body_deadline=body)) as gateway:
        yield gateway


@pytest.mark.parametrize(
    "sent",
    [b"", HALF_A_HEAD, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" + HALF_A_HEAD],
    ids=["nothing", "half a head", "half of a second head"],
)
async def test_a_head_that_does_not_arrive_in_time_is_408(services: ScriptedServices, sent: bytes) -> None:
    async with impatient(services, head=SOON) as gateway:
        status, answers = await all_of(gateway, sent)
    assert (status, b"connection: close" in answers.rpartition(b"HTTP/1.1 ")[2].lower()) == (408, True)
    assert "0.3 s" in str(problem_in(answers)["detail"])


async def test_bytes_that_trickle_in_move_no_deadline_of_a_head(services: ScriptedServices) -> None:
    async with impatient(services, head=SOON) as gateway, connection(gateway, sent=HALF_A_HEAD) as streams:
        assert (await trickled(streams, b"X: y\r\n")).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    ("request_head", "field"), [(SUBMIT, "detail"), (SEED_SUBMIT, "error")], ids=["ours", "seed-compatible"]
)
async def test_a_body_that_does_not_arrive_in_time_is_408(
    services: ScriptedServices, request_head: str, field: str
) -> None:
    sent = f'{request_head}{TOKEN}Content-Length: 9999\r\n\r\n{{"code": "'.encode()
    async with impatient(services, body=SOON) as gateway, connection(gateway, sent=sent) as streams:
        answer = await trickled(streams, b"x")
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert "body did not arrive" in str(problem_in(answer)[field])
    assert not services.refusals.calls["SubmitJob"]


async def test_a_body_that_trickles_in_after_the_answer_is_cut_off(services: ScriptedServices) -> None:
    sent = HALF_A_HEAD + b"Content-Length: 99999\r\n\r\n"
    async with impatient(services, body=SOON) as gateway, connection(gateway, sent=sent) as streams:
        assert (await trickled(streams, b"x")).startswith(b"HTTP/1.1 200 ")


async def test_half_sent_requests_leave_no_connection_open(services: ScriptedServices) -> None:
    async with impatient(services, head=SOON, body=SOON) as gateway:
        halves = [HALF_A_HEAD, f"{SUBMIT}{TOKEN}Content-Length: 9\r\n\r\n{{".encode()] * 50
        ends = await asyncio.gather(*(all_of(gateway, half) for half in halves))
        assert {status for status, _ in ends} == {408}
        async with connection(gateway) as (_, _writer):
            assert len(gateway.server.server_state.connections) <= 2, "this one, and the client of the test"


async def test_a_connection_between_two_requests_outlives_the_deadlines(services: ScriptedServices) -> None:
    request = HALF_A_HEAD + b"\r\n"
    async with impatient(services, head=SOON) as gateway, connection(gateway, sent=request) as (reader, writer):
        assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
        for _ in range(2):
            assert (await all_of(gateway, b""))[0] == 408, "a deadline that began later has passed"
        writer.write(request)
        assert b"HTTP/1.1 200 " in await reader.readuntil(b"\r\n\r\n")


async def test_a_stream_outlives_the_deadlines(services: ScriptedServices) -> None:
    services.vmpool.holds_streams = True
    settings = settings_for(services, head_deadline=SOON, body_deadline=SOON, heartbeat=2 * SOON)
    head = f"GET /api/v1/machines/m_1/events HTTP/1.1\r\nHost: x\r\n{TOKEN}\r\n".encode()
    async with serve(services, settings) as gateway, connection(gateway, sent=head) as (reader, _):
        for _ in range(3):
            assert b"heartbeat" in await reader.readuntil(b"event: heartbeat")


@pytest.mark.parametrize(
    ("sent", "status", "word"),
    [
        (f"{SUBMIT}{TOKEN}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400, "Transfer-Encoding"),
        (f"{SUBMIT}{TOKEN}Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{{}}", 400, "Content-Length"),
        (f"{SUBMIT}{TOKEN}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}}", 400, "Content-Length"),
        (f"{SUBMIT}{TOKEN}Transfer-Encoding: gzip\r\n\r\n", 501, "chunked"),
        (f"{SUBMIT}{TOKEN}Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "chunk"),
        (SUBMIT + "X: y\r\n" * 99 + "\r\n", 431, "100"),
        (f"{SUBMIT}X: {'y' * 16384}\r\n\r\n", 431, "16384"),
        (f"GET /{'x' * 16384} HTTP/1.1\r\nHost: x\r\n\r\n", 431, "16384"),
        (f"GET / HTTP/1.1\r\nX: {'y' * 30_000}", 431, "16384"),
        ("GET / HTTP/9\r\n\r\n", 400, "request"),
        ("\x16\x03\x01 hello\r\n\r\n", 400, "request"),
    ],
)
async def test_what_leaves_doubt_or_is_too_much_is_refused_and_the_connection_closed(
    gateway: RunningGateway, sent: str, status: int, word: str
) -> None:
    answered, answer = await all_of(gateway, sent.encode("latin-1") + HALF_A_HEAD + b"\r\n")
    problem = problem_in(answer)
    assert (answered, answer.count(b"HTTP/1.1 "), word in str(problem["detail"])) == (status, 1, True)
    assert problem["request_id"]
    assert not gateway.calls["SubmitJob"]
