"""The gateway as a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from types import MappingProxyType

import httpx
import httpx_sse
import pytest
import websockets
from wavepool.submission.v1 import submission_pb2

from tests.gateway.job_events import queued
from tests.gateway.running_gateway import DEADLINE_SECONDS
from tests.gateway.scripted_services import USER_TOKEN, ScriptedServices
from tests.job_specs import job_spec
from tests.service_token import TOKEN_SETTING
from vocabulary.ports import free_port

pytestmark = pytest.mark.asyncio(loop_scope="module")

COMMAND = (sys.executable, "-m", "gateway")
EVENTS = "/api/v1/submissions/job_1/events"


@asynccontextmanager
async def process(
    services: ScriptedServices, settings: Mapping[str, str] = MappingProxyType({})
) -> AsyncGenerator[tuple[asyncio.subprocess.Process, str]]:
    """`python -m gateway` on a free port; yields the process and its URL."""
    names = ("SCHEDULER", "VMPOOL", "BILLING")
    environment = {
        **os.environ,
        "GATEWAY_PORT": "0",
        "GATEWAY_DRAIN": "PT5S",
        **{f"GATEWAY_{name}_TARGET": services.target for name in names},
        **TOKEN_SETTING,
        **settings,
    }
    child = await asyncio.create_subprocess_exec(
        *COMMAND, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        yield child, await url_of(child)
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


async def url_of(child: asyncio.subprocess.Process) -> str:
    assert child.stdout
    async with asyncio.timeout(DEADLINE_SECONDS):
        async for line in child.stdout:
            record = json.loads(line)
            if "running on" in record["message"]:
                return next(word for word in record["message"].split() if word.startswith("http://"))
    raise AssertionError("the gateway did not start")


async def test_sigterm_ends_open_streams_and_the_process_in_good_order(services: ScriptedServices) -> None:
    services.scheduler.put_job(job_spec(mode=submission_pb2.RUN_MODE_FULL))
    await services.scheduler.add(queued(1))
    headers = {"Authorization": f"Bearer {USER_TOKEN}"}
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        process(services) as (child, url),
        httpx.AsyncClient(base_url=url, headers=headers, trust_env=False) as http,
        httpx_sse.aconnect_sse(http, "GET", EVENTS) as source,
    ):
        frames = source.aiter_sse()
        while (await anext(frames)).event != "IN_QUEUE":
            pass
        child.send_signal(signal.SIGTERM)
        assert [frame async for frame in frames] == []
        assert await child.wait() == 0
    assert services.scheduler.cancelled == []


@pytest.mark.parametrize("setting", ["GATEWAY_PORT", "GATEWAY_METRICS_PORT"])
async def test_taken_port_is_named_and_the_process_fails(services: ScriptedServices, setting: str) -> None:
    environment = {**os.environ, "GATEWAY_PORT": "0", "GATEWAY_METRICS_PORT": "0", setting: str(services.port)}
    child = await asyncio.create_subprocess_exec(
        *COMMAND, env=environment, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(DEADLINE_SECONDS):
        _, said = await child.communicate()
    assert child.returncode != 0
    assert str(services.port).encode() in said


CHUNKED_JSON = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
SECRET = f"wpt_{'Ab3-_' * 8}xyz"
TUNNEL = f"/api/v1/reservations/res_01J/tunnel?ticket={SECRET.replace('wpt', 'wpk')}&node=0"
UNREADABLE = (
    f"GET /api/v1/me?ticket={SECRET} HTTP/1.1 \x01\r\n\r\n",
    f"GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization : Bearer {SECRET}\r\n\r\n",
    f"GET /api/v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {SECRET}\x00\r\n\r\n",
    f"POST /api/v1/sign-in HTTP/1.1\r\nHost: x\r\n{CHUNKED_JSON}\r\nzz{SECRET}\r\n",
)


@pytest.mark.parametrize("level", ["DEBUG", "INFO"])
async def test_no_line_of_the_log_and_no_answer_has_a_secret(services: ScriptedServices, level: str) -> None:
    answers = b""
    async with asyncio.timeout(DEADLINE_SECONDS), process(services, {"GATEWAY_LOG_LEVEL": level}) as (child, url):
        host, port = url.removeprefix("http://").split(":")
        for token in (USER_TOKEN, SECRET):
            headers = {"Authorization": f"Bearer {token}"}
            with suppress(websockets.InvalidStatus):
                async with websockets.connect(
                    f"ws://{host}:{port}{TUNNEL}", additional_headers=headers, proxy=None
                ) as tunnel:
                    await tunnel.send(SECRET.encode())
            async with httpx.AsyncClient(base_url=url, headers=headers, trust_env=False) as http:
                answers += (await http.get(f"/api/v1/me?ticket={SECRET}")).content
        for sent in UNREADABLE:
            reader, writer = await asyncio.open_connection(host, int(port))
            writer.write(sent.encode("latin-1"))
            answers += await reader.read()
            writer.close()
            await writer.wait_closed()
        child.send_signal(signal.SIGTERM)
        assert child.stdout
        log = await child.stdout.read()
    assert [line["reason"] for line in map(json.loads, log.splitlines()) if "reason" in line]
    assert answers.count(b"cannot be read") == len(UNREADABLE)
    assert b"Ab3" not in answers + log
    assert b"node=0" not in log, "no address is logged with its query"


@asynccontextmanager
async def billing_process(folder: Path) -> AsyncGenerator[tuple[asyncio.subprocess.Process, str]]:
    """`python -m services.billing` that logs everything; yields the process and its address once it serves."""
    port = free_port()
    settings = {"PORT": str(port), "METRICS_PORT": "0", "DATA_DIR": str(folder), "LOG_LEVEL": "DEBUG"}
    environment = {**os.environ, **TOKEN_SETTING, **{f"BILLING_{name}": value for name, value in settings.items()}}
    child = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "services.billing"),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    try:
        assert child.stdout
        while json.loads(await child.stdout.readline())["message"] != "serving":
            pass
        yield child, f"127.0.0.1:{port}"
    finally:
        if child.returncode is None:
            child.kill()
        await child.wait()


async def test_no_log_has_a_ticket_of_the_gateway_or_of_billing(services: ScriptedServices, tmp_path: Path) -> None:
    async with asyncio.timeout(2 * DEADLINE_SECONDS), billing_process(tmp_path) as (billing, target):
        settings = {"GATEWAY_LOG_LEVEL": "DEBUG", "GATEWAY_BILLING_TARGET": target}
        token = (tmp_path / "token").read_text().strip()
        async with process(services, settings) as (gateway, url), httpx.AsyncClient(base_url=url) as http:
            secrets = [token[10:]]
            for path in ("/api/v1/me", "/api/v1/reservations/res_01J/tunnel"):
                headers = {"Authorization": f"Bearer {token}"}
                made = (await http.post("/api/v1/tickets", json={"path": path}, headers=headers)).json()
                secrets.append(made["ticket"].removeprefix("wpk_"))
                uses = [(await http.get(made["url"])).status_code for _ in range(2)]
                assert uses[1] == 401
                with pytest.raises(websockets.InvalidStatus):
                    await websockets.connect(url.replace("http", "ws", 1) + made["url"], proxy=None)
            logs = b""
            for child in (gateway, billing):
                child.send_signal(signal.SIGTERM)
                assert child.stdout
                logs += await child.stdout.read()
    assert logs.count(b"IdentityService/UseTicket") == 5, "billing logs calls; the first path has no WebSocket"
    assert b'"path":"/api/v1/me"' in logs, "the gateway logs requests, by their paths"
    assert [secret for secret in secrets if secret.encode() in logs] == []
