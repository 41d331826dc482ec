"""Callers of a real server: services by token and name, people by API token."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from wavepool.billing.v1 import billing_pb2, billing_pb2_grpc
from wavepool.executor.v1 import session_pb2, session_pb2_grpc

from servicekit.callers_file import CallersFile, CallersFileError
from servicekit.rpc import access, callers
from servicekit.rpc.access import Caller
from servicekit.rpc.callers import REMEMBERED_SECONDS, Callers, if_found
from servicekit.rpc.credentials import ServiceCredentials, check_network
from servicekit.rpc.errors import RefusedCallError
from servicekit.rpc.server import ServiceServer
from servicekit.settings.config import ServiceSettings
from tests.service_token import SERVICE_TOKEN

ADMINISTRATOR, USER = "wpt_administrator", "wpt_user"


@dataclass(frozen=True)
class Owner:
    scopes: tuple[str, ...]
    user_id: str = "user_1"
    user_name: str = "ann"
    token_id: str = "token_1"  # noqa: S105 - no secret


@dataclass
class Bench:
    """A server, the API tokens that it asked about, and its clock."""

    stub: Any = None
    channel: Any = None
    asked: list[str] = field(default_factory=list)
    known: dict[str, Owner] = field(
        default_factory=lambda: {ADMINISTRATOR: Owner(("read", "admin")), USER: Owner(("read", "submit"))}
    )
    now: float = 0
    reached: int = 0
    said: str = ""

    async def authenticate(self, token: str) -> Owner | None:
        self.asked.append(token)
        return self.known.get(token)

    async def balance(self, *metadata: tuple[str, str]) -> grpc.StatusCode:
        try:
            await self.stub.GetBalance(billing_pb2.GetBalanceRequest(), metadata=metadata, timeout=30)
        except grpc.aio.AioRpcError as error:
            self.said = error.details()
            return error.code()
        return grpc.StatusCode.OK


async def nobody(_: str) -> None:
    return None


def token(value: str) -> tuple[str, str]:
    return ("authorization", f"Bearer {value}")


@asynccontextmanager
async def serving() -> AsyncGenerator[Bench]:
    bench = Bench()

    class Servicer(billing_pb2_grpc.BillingServiceServicer):
        async def GetBalance(self, request: Any, context: Any) -> Any:  # noqa: N802 - grpc's own
            bench.reached += 1
            return billing_pb2.GetBalanceResponse()

    identify = Callers(ServiceCredentials("billing", SERVICE_TOKEN), bench.authenticate, lambda: bench.now).identify
    server = ServiceServer("billing", ServiceSettings(port=0), {}, identify)
    billing_pb2_grpc.add_BillingServiceServicer_to_server(Servicer(), server.grpc)
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as bench.channel:
            bench.stub = billing_pb2_grpc.BillingServiceStub(bench.channel)
            yield bench
    finally:
        await server.stop(timedelta(0))


async def test_a_service_is_known_by_token_and_name() -> None:
    async with serving() as bench:
        for name in ("gateway", "scheduler"):
            assert await bench.balance(*ServiceCredentials(name, SERVICE_TOKEN).metadata()) is grpc.StatusCode.OK
        for name, said in (("vmpool", "you call as the service vmpool"), ("", "a service without a known name")):
            code = await bench.balance(*ServiceCredentials(name, SERVICE_TOKEN).metadata())
            assert (code, said in bench.said) == (grpc.StatusCode.PERMISSION_DENIED, True)
        assert bench.said.startswith(
            "GetBalance is for the gateway, the scheduler or operators and administrators with an API token; "
        )
        assert (bench.asked, bench.reached) == ([], 2)


async def test_a_person_is_known_by_an_api_token_whose_owner_is_remembered_for_seconds() -> None:
    async with serving() as bench:
        for _ in range(3):
            assert await bench.balance(token(ADMINISTRATOR)) is grpc.StatusCode.OK
            assert await bench.balance(token(USER)) is grpc.StatusCode.PERMISSION_DENIED
            assert "you call as a user" in bench.said
            assert await bench.balance(token("wpt_unknown")) is grpc.StatusCode.UNAUTHENTICATED
        assert bench.asked == [ADMINISTRATOR, USER, "wpt_unknown"]
        bench.known.clear()
        bench.now += REMEMBERED_SECONDS - 0.1
        assert await bench.balance(token(ADMINISTRATOR)) is grpc.StatusCode.OK
        bench.now += 0.2
        assert await bench.balance(token(ADMINISTRATOR)) is grpc.StatusCode.UNAUTHENTICATED


async def test_a_guess_that_looks_like_no_api_token_is_refused_without_asking() -> None:
    async with serving() as bench:
        for guess in ("guess", "wps_guess", ""):
            assert await bench.balance(token(guess)) is grpc.StatusCode.UNAUTHENTICATED
        assert bench.asked == []


async def test_few_answers_are_kept_of_many_guesses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callers, "MAX_REMEMBERED", 2)
    async with serving() as bench:
        for guess in ("wpt_1", "wpt_2", "wpt_3", "wpt_1"):
            await bench.balance(token(guess))
        assert bench.asked == ["wpt_1", "wpt_2", "wpt_3", "wpt_1"]


async def test_a_method_whose_proto_names_nobody_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "callers_of", lambda _: frozenset())
    async with serving() as bench:
        assert await bench.balance(*ServiceCredentials("gateway", SERVICE_TOKEN).metadata()) is (
            grpc.StatusCode.PERMISSION_DENIED
        )
        assert bench.said == "GetBalance is closed: its proto names no callers"
        assert bench.reached == 0


async def test_bytes_that_are_no_message_are_the_callers_fault_and_only_read_for_those_who_may_call() -> None:
    async with serving() as bench:
        call = bench.channel.unary_unary("/wavepool.billing.v1.BillingService/GetBalance")
        for metadata, code in (
            (ServiceCredentials("gateway", SERVICE_TOKEN).metadata(), grpc.StatusCode.INVALID_ARGUMENT),
            ((), grpc.StatusCode.UNAUTHENTICATED),
        ):
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await call(b"\xff", metadata=metadata, timeout=30)
            assert refused.value.code() is code


@pytest.mark.parametrize("code", [grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.INTERNAL])
async def test_billing_that_cannot_be_asked_makes_nobody_a_caller(code: grpc.StatusCode) -> None:
    async def failing() -> Owner:
        raise grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(), "it is down")

    with pytest.raises(RefusedCallError, match=r"billing cannot be asked .* \(it is down\)") as caught:
        await if_found(failing())
    assert caught.value.code is grpc.StatusCode.UNAVAILABLE


async def test_streams_in_both_directions_are_for_those_who_may_call_and_each_message_is_read() -> None:
    reached: list[bytes] = []

    class Servicer(session_pb2_grpc.SessionServiceServicer):
        async def Connect(self, request_iterator: Any, context: Any) -> AsyncIterator[Any]:  # noqa: N802 - grpc's own
            async for request in request_iterator:
                reached.append(request.data)
                yield session_pb2.ConnectResponse(data=request.data.upper())

    async def identify(context: Any) -> access.Caller:
        kind = dict(context.invocation_metadata() or ()).get("kind", "")
        return access.Caller(frozenset({kind}), kind)

    server = ServiceServer("executor", ServiceSettings(port=0), {}, identify)
    session_pb2_grpc.add_SessionServiceServicer_to_server(Servicer(), server.grpc)
    await server.start()
    try:
        async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
            stub: Any = session_pb2_grpc.SessionServiceStub(channel)
            said = [session_pb2.ConnectRequest(data=word) for word in (b"one", b"two")]
            answers = stub.Connect(iter(said), metadata=(("kind", "lease_holder"),), timeout=30)
            assert [answer.data async for answer in answers] == [b"ONE", b"TWO"]
            raw = channel.stream_stream("/wavepool.executor.v1.SessionService/Connect")
            for kind, code in (
                ("gateway", grpc.StatusCode.PERMISSION_DENIED),
                ("lease_holder", grpc.StatusCode.INVALID_ARGUMENT),
            ):
                with pytest.raises(grpc.aio.AioRpcError) as refused:
                    await raw(iter([b"\xff"]), metadata=(("kind", kind),), timeout=30).read()
                assert refused.value.code() is code
            assert reached == [b"one", b"two"]
    finally:
        await server.stop(timedelta(0))


async def test_other_services_are_known_by_their_own_tokens_while_the_file_lists_them(tmp_path: Path) -> None:
    file = tmp_path / "callers.toml"
    listed = CallersFile(file).services
    trainer, allowed = "a-token-of-20-letters", frozenset({"other_service"})

    async def caller(*metadata: tuple[str, str]) -> Caller | None:
        context: Any = SimpleNamespace(invocation_metadata=lambda: metadata)
        try:
            return await Callers(ServiceCredentials("vmpool", SERVICE_TOKEN), nobody, others=listed).identify(context)
        except RefusedCallError:
            return None

    assert await caller(token(trainer)) is None
    file.write_text(f'[trainer]\ntoken = "{trainer}"\naccounts = ["acme"]\n\n[no-token]\n')
    assert await caller(token(trainer)) == Caller(allowed, "the other service trainer", "trainer", ("acme",))
    for guess in (trainer[:-1], "", "no-token"):
        assert await caller(token(guess), ("wavepool-service", "no-token")) is None
    file.write_text("[trainer]\ntoken = 1\n")
    assert await caller(token(trainer)), "a broken file ends no service"
    file.unlink()
    assert await caller(token(trainer)) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[trainer", "cannot be read ("),
        ('[trainer]\ntoken = "short"', "trainer.token: a name has up to 40 small letters"),
        ("[Trainer]", "Trainer: a name has up to 40 small letters"),
        ("[trainer]\naccount = 'acme'", "trainer.account: there is no such key; a service has `token` and `accounts`"),
        ("[scheduler]", "scheduler is a name of our own; choose another"),
        (f'[a]\ntoken = "{"x" * 20}"\n[b]\ntoken = "{"x" * 20}"', "two services have the same token"),
    ],
)
def test_a_wrong_list_of_other_services_says_what_is_wrong(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "callers.toml").write_text(text)
    with pytest.raises(CallersFileError, match=r"^WAVEPOOL_CALLERS_FILE: ") as refused:
        check_network(ServiceSettings(port=0, data_dir=tmp_path), "vmpool")
    assert said in str(refused.value)
    assert "short" not in str(refused.value)
