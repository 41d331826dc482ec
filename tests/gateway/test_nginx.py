"""deploy/nginx.conf in a real nginx, with a gateway behind it; only addresses and certificates are replaced."""

from __future__ import annotations

import asyncio
import os
import ssl
import subprocess
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import httpx
import httpx_sse
import pytest
import pytest_asyncio
from wavepool.submission.v1 import submission_pb2
from websockets.asyncio.client import connect

from tests.certificates import make
from tests.gateway.job_events import whole_run
from tests.gateway.running_gateway import DEADLINE_SECONDS, RunningGateway, serve, settings_for
from tests.gateway.scripted_reservations import BANNER
from tests.gateway.scripted_services import USER_TOKEN, ScriptedServices
from tests.job_specs import job_spec
from tests.needs import REPOSITORY, needs
from vocabulary.ports import free_ports

pytestmark = pytest.mark.asyncio(loop_scope="module")

USER = {"Authorization": f"Bearer {USER_TOKEN}"}
MAIN = """
daemon off;
pid {folder}/pid;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    {servers}
}}
"""


@dataclass(frozen=True)
class Proxy:
    https: int
    http: int
    authority: Path

    def trusted(self, *protocols: str) -> ssl.SSLContext:
        """Of the certificate's own name, which is not this host's, nothing is asked."""
        context = ssl.create_default_context(cafile=self.authority)
        context.check_hostname = False
        context.set_alpn_protocols(protocols or ["http/1.1"])
        return context

    def client(self) -> httpx.AsyncClient:
        url = f"https://localhost:{self.https}"
        return httpx.AsyncClient(base_url=url, verify=self.trusted(), trust_env=False, timeout=DEADLINE_SECONDS)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(scripted: ScriptedServices) -> AsyncGenerator[RunningGateway]:
    settings = settings_for(scripted, trusted_proxies="127.0.0.1", bad_tokens_per_minute=1)
    async with serve(scripted, settings) as gateway:
        yield gateway


@pytest_asyncio.fixture(scope="module", loop_scope="module")
@needs("nginx")
async def proxy(running: RunningGateway, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Proxy]:
    folder = tmp_path_factory.mktemp("nginx")
    make(folder)
    https, http = free_ports(2)
    servers = (REPOSITORY / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    for theirs, ours in (
        ("127.0.0.1:8080", running.url.removeprefix("http://")),
        ("listen 80;", f"listen 127.0.0.1:{http};"),
        ("listen 443 ", f"listen 127.0.0.1:{https} "),
        ("wavepool.example.org", "localhost"),
        ("/etc/ssl/wavepool.pem", f"{folder}/gateway.pem"),
        ("/etc/ssl/private/wavepool.key", f"{folder}/gateway.pem"),
    ):
        assert theirs in servers
        servers = servers.replace(theirs, ours)
    (folder / "nginx.conf").write_text(MAIN.format(folder=folder, servers=servers))
    command = ["nginx", "-p", folder, "-e", "stderr", "-c", folder / "nginx.conf"]
    path = f"{os.environ['PATH']}:/usr/sbin"
    with subprocess.Popen(command, env={"PATH": path}, stderr=subprocess.PIPE, text=True) as nginx:
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                while not await _answers(http):
                    assert nginx.poll() is None, nginx.communicate()[1]
                    await asyncio.sleep(0.01)
            yield Proxy(https, http, folder / "ca.pem")
        finally:
            nginx.terminate()


async def _answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    return True


async def test_an_event_goes_on_at_once_though_the_stream_stays_open(proxy: Proxy, gateway: RunningGateway) -> None:
    events = whole_run(submission_pb2.RUN_MODE_FULL)
    scheduler = gateway.services.scheduler
    scheduler.put_job(job_spec(problem="vector-addition", source="x", mode=submission_pb2.RUN_MODE_FULL))
    scheduler.log("job_1", events[:1])
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        proxy.client() as client,
        httpx_sse.aconnect_sse(client, "GET", "/api/v1/submissions/job_1/events", headers=USER) as source,
    ):
        frames = (frame.event async for frame in source.aiter_sse() if frame.event not in {"message", "heartbeat"})
        assert await anext(frames) == "IN_QUEUE"
        scheduler.log("job_1", events[1:])
        assert [event async for event in frames][-1] == "ACCEPTED"


async def test_the_tunnel_of_an_ssh_connection_passes(proxy: Proxy, gateway: RunningGateway) -> None:
    url = f"wss://localhost:{proxy.https}/api/v1/reservations/res_01J/tunnel"
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        connect(url, additional_headers=USER, ssl=proxy.trusted(), proxy=None, compression=None) as tunnel,
    ):
        assert await tunnel.recv() == BANNER
        await tunnel.send(b"there and back")
        assert await tunnel.recv() == b"there and back"
        await tunnel.send(b"")
        assert await tunnel.recv() == b"bye"
    await gateway.services.vmpool.sessions.ended.wait()


async def test_browsers_are_led_to_https_and_speak_http_2_there(proxy: Proxy, gateway: RunningGateway) -> None:
    async with proxy.client() as client:
        plain = await client.get(f"http://localhost:{proxy.http}/healthz?x=1")
        assert (plain.status_code, plain.headers["Location"]) == (308, "https://localhost/healthz?x=1")
        answer = await client.get("/healthz")
        assert (answer.status_code, answer.headers["Strict-Transport-Security"]) == (200, "max-age=31536000")
    asking = proxy.trusted("h2", "http/1.1")
    _, writer = await asyncio.open_connection("localhost", proxy.https, ssl=asking, server_hostname="localhost")
    assert writer.get_extra_info("ssl_object").selected_alpn_protocol() == "h2"
    writer.close()
    assert gateway.url


async def test_nobody_can_pass_for_another_address(proxy: Proxy, gateway: RunningGateway) -> None:
    async with proxy.client() as client:
        headers = [{"Authorization": "Bearer wrong", "X-Forwarded-For": f"203.0.113.{number}"} for number in (1, 2)]
        answers = [await client.get("/api/v1/me", headers=each) for each in headers]
    assert [answer.status_code for answer in answers] == [401, 429]
    assert gateway.url
