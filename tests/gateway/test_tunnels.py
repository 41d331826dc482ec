"""Tunnels to sessions over WebSockets, on a scripted pool: real bytes on real sockets."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc
import pytest
import pytest_asyncio
from wavepool.scheduler.v1 import reservations_pb2 as pb
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus

from gateway.http.errors import ProblemError
from gateway.reservations.tunnel import Tunnels
from servicekit.clock import ManualClock
from servicekit.metrics import registry
from tests.gateway.refusals import refusal
from tests.gateway.running_gateway import DEADLINE_SECONDS, RunningGateway, serve, settings_for
from tests.gateway.scripted_reservations import BANNER
from tests.gateway.scripted_services import OPERATOR_TOKEN, OTHER_TOKEN, USER_TOKEN, ScriptedServices

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATH = "/api/v1/reservations/res_01J/tunnel"
MOST = 2
"""Tunnels of one user."""
MUCH = 32 << 20
"""Bytes: more than all buffers on the way hold."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(scripted: ScriptedServices) -> AsyncGenerator[RunningGateway]:
    """A gateway that checks its tunnels often."""
    settings = settings_for(scripted, tunnel_check=timedelta(milliseconds=50), tunnels_per_user=MOST)
    async with serve(scripted, settings) as gateway:
        yield gateway


@asynccontextmanager
async def opened(gateway: RunningGateway, token: str = USER_TOKEN, **options: Any) -> AsyncGenerator[ClientConnection]:
    url = gateway.url.replace("http", "ws", 1) + PATH
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        asyncio.timeout(DEADLINE_SECONDS),
        connect(url, additional_headers=headers, proxy=None, compression=None, **options) as tunnel,
    ):
        yield tunnel


async def refused(gateway: RunningGateway, token: str = USER_TOKEN) -> tuple[int, dict[str, Any], Any]:
    """Status, problem document and headers of an upgrade that is refused."""
    with pytest.raises(InvalidStatus) as refusing:
        async with opened(gateway, token):
            pass
    response = refusing.value.response
    return response.status_code, json.loads(response.body or b"{}"), response.headers


async def closing(tunnel: ClientConnection) -> tuple[int, str]:
    """Code and reason of the close, whatever bytes come before."""
    await tunnel.wait_closed()
    return tunnel.close_code or 0, tunnel.close_reason or ""


async def received(tunnel: ClientConnection, wanted: int) -> bytes:
    """At least so many bytes."""
    parts: list[bytes] = []
    while sum(map(len, parts)) < wanted:
        part = await tunnel.recv()
        assert isinstance(part, bytes)
        parts.append(part)
    return b"".join(parts)


async def test_bytes_go_both_ways_and_the_end_of_one_side_leaves_the_other_open(gateway: RunningGateway) -> None:
    async with opened(gateway) as tunnel:
        assert await tunnel.recv() == BANNER
        sent = bytes(range(256)) * 1024
        for start in range(0, len(sent), 1 << 16):
            await tunnel.send(sent[start : start + (1 << 16)])
        assert await received(tunnel, len(sent)) == sent
        await tunnel.send(b"")
        assert await tunnel.recv() == b"bye"
        assert (await closing(tunnel))[0] == 1000
    target = gateway.calls["OpenTunnel"][-1].open
    assert (target.lease_id, target.session_id) == ("lease_1", "ses_1")
    asked = gateway.calls["GetTunnelTarget"][0]
    assert (asked.reservation_id, list(asked.account_ids)) == ("res_01J", ["acc_user"])
    await gateway.services.vmpool.sessions.ended.wait()


async def test_the_log_says_who_opened_a_tunnel_and_nothing_of_the_token(
    gateway: RunningGateway, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "gateway.reservations.tunnel")
    async with opened(gateway) as tunnel:
        assert await tunnel.recv() == BANNER
        await tunnel.send(b"")
        assert (await closing(tunnel))[0] == 1000
    async with asyncio.timeout(DEADLINE_SECONDS):
        while len(caplog.records) < len(("opens", "ends")):
            await asyncio.sleep(0)
    said = [
        (one.message, *(vars(one)[name] for name in ("reservation_id", "user", "user_id"))) for one in caplog.records
    ]
    assert said == [
        ("a tunnel opens", "res_01J", "demo", "user_user"),
        ("a tunnel ends", "res_01J", "demo", "user_user"),
    ]
    assert USER_TOKEN not in "".join(str(vars(one)) for one in caplog.records)


async def test_a_request_without_an_upgrade_is_told_what_this_is(gateway: RunningGateway) -> None:
    answer = await gateway.http.get(PATH)
    assert (answer.status_code, answer.headers["Upgrade"]) == (426, "websocket")


@pytest.mark.parametrize(("token", "status"), [("", 401), ("wp_unknown", 401), (OTHER_TOKEN, 404)])
async def test_somebody_else_is_refused_before_the_upgrade_with_a_problem(
    gateway: RunningGateway, token: str, status: int
) -> None:
    found, problem, headers = await refused(gateway, token)
    assert (found, problem["status"], problem["instance"]) == (status, status, PATH)
    assert headers["Content-Type"] == "application/problem+json"
    assert headers["X-Request-Id"] == problem["request_id"]
    assert "OpenTunnel" not in gateway.calls


async def test_a_token_that_only_reads_opens_no_tunnel(gateway: RunningGateway) -> None:
    gateway.services.identity.scopes[USER_TOKEN] = ["read"]
    status, problem, _ = await refused(gateway)
    assert (status, "scope `submit`" in problem["detail"]) == (403, True)


async def test_an_operator_reaches_the_sessions_of_all_accounts(gateway: RunningGateway) -> None:
    async with opened(gateway, OPERATOR_TOKEN) as tunnel:
        assert await tunnel.recv() == BANNER
    assert list(gateway.calls["GetTunnelTarget"][0].account_ids) == []


@pytest.mark.parametrize("method", ["GetTunnelTarget", "OpenTunnel"])
@pytest.mark.parametrize(
    ("code", "status"),
    [
        (grpc.StatusCode.FAILED_PRECONDITION, 409),
        (grpc.StatusCode.NOT_FOUND, 404),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, 429),
        (grpc.StatusCode.UNAVAILABLE, 503),
    ],
)
async def test_a_session_that_cannot_be_reached_is_a_status_before_the_upgrade(
    gateway: RunningGateway, method: str, code: grpc.StatusCode, status: int
) -> None:
    gateway.refusals[method] = refusal(code, "not active yet")
    found, problem, _ = await refused(gateway)
    assert found == problem["status"] == status
    if status != 503:
        assert problem["detail"] == "not active yet"


async def test_a_session_that_closes_at_once_is_a_status_before_the_upgrade(
    gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway.services.vmpool.sessions.answers = False
    monkeypatch.setattr("gateway.reservations.tunnel.FIRST_BYTES_SECONDS", 0.05)
    found, problem, headers = await refused(gateway)
    assert (found, problem["detail"]) == (504, "The session does not answer. Try again.")
    assert headers["Retry-After"] == "1"
    await gateway.services.vmpool.sessions.ended.wait()


async def test_one_user_has_so_many_tunnels_and_a_closed_one_makes_room(gateway: RunningGateway) -> None:
    del gateway.services
    async with opened(gateway) as first, opened(gateway) as second:
        for tunnel in (first, second):
            assert await tunnel.recv() == BANNER
        status, problem, headers = await refused(gateway)
        assert (status, "GATEWAY_TUNNELS_PER_USER" in problem["detail"]) == (429, True)
        assert headers["Retry-After"] == "1"
        async with opened(gateway, OPERATOR_TOKEN) as others:
            assert await others.recv() == BANNER
        await second.send(b"")
        await closing(second)
        async with opened(gateway) as third:
            assert await third.recv() == BANNER


async def test_bytes_are_counted_by_user_and_the_days_limit_closes_the_tunnel_with_the_reason(
    services: ScriptedServices,
) -> None:
    def counted() -> float:
        return registry.get_sample_value("wavepool_gateway_tunnel_bytes_total", {"user": "user_user"}) or 0.0

    before = counted()
    settings = settings_for(services, tunnel_check=timedelta(milliseconds=50), tunnel_mib_per_day=1)
    async with serve(services, settings) as gateway:
        async with opened(gateway) as tunnel:
            assert await tunnel.recv() == BANNER
            for _ in range(8):
                await tunnel.send(bytes(1 << 16))
            code, reason = await closing(tunnel)
        text = "Your 1 MiB a day through tunnels are used up until 00:00 UTC; the operator can raise "
        assert (code, reason) == (4429, f"{text}GATEWAY_TUNNEL_MIB_PER_DAY.")
        assert counted() - before == 2 * 8 * (1 << 16), "they come back"
        status, problem, _ = await refused(gateway)
        assert (status, problem["detail"]) == (429, reason)
        async with opened(gateway, OPERATOR_TOKEN) as others:
            assert await others.recv() == BANNER


async def test_what_a_user_moved_is_forgotten_at_the_end_of_the_day_and_without_a_limit_nothing_is_cut() -> None:
    clock = ManualClock(datetime(2026, 11, 26, 23, 59, tzinfo=UTC))
    tunnels = Tunnels(MOST, 100, clock)
    with tunnels.place_for("ada", "ada") as one, tunnels.place_for("ada", "ada") as other:
        one.moved = 60
        assert one.tally() == ""
        other.moved = 40
        assert "used up" in other.tally()
        assert "used up" in one.tally(), "they share the limit"
    with pytest.raises(ProblemError) as refusing, tunnels.place_for("ada", "ada"):
        pass
    assert refusing.value.problem.retry_after_seconds == 60
    clock.advance(timedelta(minutes=1))
    with tunnels.place_for("ada", "ada") as place:
        place.moved = 99
        assert place.tally() == ""
    with Tunnels(MOST, 0, clock).place_for("ada", "ada") as place:
        place.moved = 1 << 50
        assert place.tally() == ""


async def test_a_revoked_token_cuts_the_tunnel(gateway: RunningGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(gateway) as tunnel:
        assert await tunnel.recv() == BANNER
        gateway.refusals["GetCaller"] = refusal(grpc.StatusCode.NOT_FOUND)
        code, reason = await closing(tunnel)
    assert (code, reason) == (4401, "The API token no longer works; use another.")
    await gateway.services.vmpool.sessions.ended.wait()


async def test_a_token_that_loses_its_scope_cuts_the_tunnel(gateway: RunningGateway) -> None:
    async with opened(gateway) as tunnel:
        assert await tunnel.recv() == BANNER
        gateway.services.identity.scopes[USER_TOKEN] = ["read"]
        assert (await closing(tunnel))[0] == 4401


async def test_a_reservation_that_is_no_longer_the_callers_cuts_the_tunnel(gateway: RunningGateway) -> None:
    async with opened(gateway) as tunnel:
        assert await tunnel.recv() == BANNER
        gateway.refusals["GetTunnelTarget"] = refusal(grpc.StatusCode.NOT_FOUND, "it is gone " + "ü" * 100)
        found, reason = await closing(tunnel)
    assert found == 4404
    assert reason.startswith("it is gone üü")
    await gateway.services.vmpool.sessions.ended.wait()


async def test_whoever_leaves_the_account_is_cut_off(gateway: RunningGateway) -> None:
    gateway.services.identity.visible[OTHER_TOKEN] = ["acc_user"]
    async with opened(gateway, OTHER_TOKEN) as tunnel:
        assert await tunnel.recv() == BANNER
        gateway.services.identity.visible[OTHER_TOKEN] = []
        assert await closing(tunnel) == (4404, "there is no reservation res_01J")


async def test_a_tunnel_outlives_the_deadlines_of_requests(services: ScriptedServices) -> None:
    short = timedelta(milliseconds=50)
    settings = settings_for(services, tunnel_check=short, head_deadline=short * 4, body_deadline=short * 4)
    async with serve(services, settings) as gateway, opened(gateway) as tunnel:
        assert await tunnel.recv() == BANNER
        # As many checks as take longer than either deadline.
        while len(services.refusals.calls["GetTunnelTarget"]) < 8:
            await tunnel.send(b"x")
            assert await tunnel.recv() == b"x"


async def test_a_reservation_with_another_session_cuts_the_tunnel(gateway: RunningGateway) -> None:
    async with opened(gateway) as tunnel:
        assert await tunnel.recv() == BANNER
        gateway.services.reservations.target = pb.GetTunnelTargetResponse(lease_id="lease_2", session_id="ses_2")
        assert (await closing(tunnel))[0] == 4409


async def test_a_tunnel_outlives_services_that_cannot_be_asked_and_the_time_for_logins(gateway: RunningGateway) -> None:
    async with opened(gateway) as tunnel:
        assert await tunnel.recv() == BANNER
        calls = gateway.calls
        for method, code in (
            ("GetCaller", grpc.StatusCode.UNAVAILABLE),
            ("GetTunnelTarget", grpc.StatusCode.UNAVAILABLE),
            # The session ends its connections itself, when their programs have ended.
            ("GetTunnelTarget", grpc.StatusCode.FAILED_PRECONDITION),
        ):
            gateway.refusals[method] = refusal(code)
            asked = len(calls[method])
            # Bytes flow while it is checked again and again.
            while len(calls[method]) < asked + 3:
                await tunnel.send(b"x")
                assert await tunnel.recv() == b"x"
            del gateway.refusals[method]


async def test_a_call_that_breaks_is_told_in_our_words(gateway: RunningGateway) -> None:
    gateway.services.vmpool.sessions.breaks = True
    async with opened(gateway) as tunnel:
        assert await closing(tunnel) == (1011, "The connection to the session broke; connect again.")


async def test_a_text_message_and_bytes_after_the_end_close_the_tunnel(gateway: RunningGateway) -> None:
    async with opened(gateway) as tunnel:
        await tunnel.send("hello")
        assert (await closing(tunnel))[0] == 1003
    gateway.services.vmpool.sessions.reads.clear()
    async with opened(gateway) as tunnel:
        await tunnel.send(b"")
        await tunnel.send(b"more")
        assert (await closing(tunnel))[0] == 1002


async def test_a_message_that_is_too_large_closes_the_tunnel(gateway: RunningGateway) -> None:
    async with opened(gateway) as tunnel:
        await tunnel.send(bytes(256 * 1024 + 1))
        assert (await closing(tunnel))[0] == 1009


async def test_a_client_that_vanishes_ends_the_connection_to_the_session(gateway: RunningGateway) -> None:
    async with opened(gateway) as tunnel:
        assert await tunnel.recv() == BANNER
        tunnel.transport.abort()
        await gateway.services.vmpool.sessions.ended.wait()


async def test_a_session_that_does_not_read_holds_up_its_client(gateway: RunningGateway) -> None:
    sessions = gateway.services.vmpool.sessions
    sessions.reads.clear()
    async with opened(gateway) as tunnel:
        assert await tunnel.recv() == BANNER

        async def send_all() -> None:
            for _ in range(0, MUCH, 1 << 16):
                await tunnel.send(bytes(1 << 16))

        sending = asyncio.create_task(send_all())
        assert not (await asyncio.wait({sending}, timeout=1))[0], "nothing holds the client up"
        sessions.reads.set()
        await received(tunnel, MUCH)
        await sending


async def test_a_client_that_does_not_read_holds_up_its_session(gateway: RunningGateway) -> None:
    sessions = gateway.services.vmpool.sessions
    sessions.flood_bytes = MUCH
    async with opened(gateway, max_queue=1) as tunnel:
        flooded = asyncio.create_task(sessions.flooded.wait())
        assert not (await asyncio.wait({flooded}, timeout=1))[0], "nothing holds the session up"
        await received(tunnel, MUCH)
        await flooded


async def test_a_gateway_that_stops_ends_its_tunnels(services: ScriptedServices) -> None:
    async with serve(services, settings_for(services)) as gateway, opened(gateway) as tunnel:
        assert await tunnel.recv() == BANNER
        gateway.server.should_exit = True
        assert (await closing(tunnel))[0] == 1012
    await services.vmpool.sessions.ended.wait()
