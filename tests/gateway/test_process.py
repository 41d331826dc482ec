"""The gateway as a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import httpx
import httpx_sse
import pytest
from wavepool.submission.v1 import submission_pb2

from tests.gateway.job_events import queued
from tests.gateway.running_gateway import DEADLINE_SECONDS
from tests.gateway.scripted_services import USER_TOKEN, ScriptedServices
from tests.job_specs import job_spec
from tests.service_token import TOKEN_SETTING

pytestmark = pytest.mark.asyncio(loop_scope="module")

COMMAND = (sys.executable, "-m", "gateway")
EVENTS = "/api/v1/submissions/job_1/events"


@asynccontextmanager
async def process(services: ScriptedServices) -> AsyncGenerator[tuple[asyncio.subprocess.Process, str]]:
    """`python -m gateway` on a free port; yields the process and its URL."""
    names = ("SCHEDULER", "VMPOOL", "BILLING")
    environment = {
        **os.environ,
        "GATEWAY_PORT": "0",
        "GATEWAY_DRAIN": "PT5S",
        **{f"GATEWAY_{name}_TARGET": services.target for name in names},
        **TOKEN_SETTING,
    }
    child = await asyncio.create_subprocess_exec(*COMMAND, env=environment, stdout=asyncio.subprocess.PIPE)
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
