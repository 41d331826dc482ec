from __future__ import annotations

import asyncio
import stat
from typing import TYPE_CHECKING

import grpc
import pytest
from wavepool.billing.v1 import billing_pb2, billing_pb2_grpc

from servicekit.rpc.channels import open_channel
from servicekit.service_token import NoServiceTokenError, service_token_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servicekit.conftest import Serve


def sent(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


def test_the_first_service_makes_a_token_that_nobody_else_may_read_and_the_others_take_it(tmp_path: Path) -> None:
    first, second = service_token_of(tmp_path / "new"), service_token_of(tmp_path / "new")
    token = first.current()
    assert len(token) > 40
    assert second.current() == token
    assert second.is_in(sent(token))
    assert stat.S_IMODE(first.file.stat().st_mode) == 0o600
    assert list((tmp_path / "new").iterdir()) == [first.file]


async def test_services_that_start_at_once_agree_on_one_token(tmp_path: Path) -> None:
    tokens = await asyncio.gather(*(asyncio.to_thread(service_token_of(tmp_path).current) for _ in range(32)))
    assert len(set(tokens)) == 1


def test_a_token_is_changed_in_two_steps_that_no_service_notices(tmp_path: Path) -> None:
    sender, receiver = service_token_of(tmp_path), service_token_of(tmp_path)
    old = sender.current()
    receiver.current()
    sender.file.write_text(f"new\n{old}\n")
    assert sender.current() == "new"
    assert receiver.is_in(sent("new"))
    assert receiver.is_in(sent(old))
    sender.file.write_text("new\n")
    assert receiver.is_in(sent("new"))
    assert not receiver.is_in(sent(old))


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        (),
        sent(""),
        sent("guess"),
        (("authorization", "Basic abc"),),
        (("authorization", "Bearer"),),
        (("authorization-bin", b"x"),),
        (("authorization", "Bearer \N{SNOWMAN}"),),
    ],
)
def test_nothing_but_the_token_is_taken(tmp_path: Path, metadata: object) -> None:
    token = service_token_of(tmp_path)
    token.current()
    assert not token.is_in(metadata)


@pytest.mark.parametrize(
    ("content", "said"), [(b"", "holds no token; delete it"), (b" \n", "holds no token"), (b"\xff", "can neither")]
)
def test_a_file_without_a_token_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    token = service_token_of(tmp_path)
    token.file.write_bytes(content)
    with pytest.raises(NoServiceTokenError, match=f"WAVEPOOL_SERVICE_TOKEN_FILE: {token.file} {said}"):
        token.is_in(sent("any"))


async def test_a_call_without_the_token_is_refused_before_it_reaches_the_service(serve: Serve, tmp_path: Path) -> None:
    reached: list[object] = []

    async def note(request: object, context: object) -> billing_pb2.GetBalanceResponse:
        del context
        reached.append(request)
        return billing_pb2.GetBalanceResponse()

    async with serve(note) as (server, stub):
        await stub.GetBalance(billing_pb2.GetBalanceRequest(), timeout=60)
        for token in (None, service_token_of(tmp_path).current):
            async with open_channel(f"127.0.0.1:{server.port}", token) as channel:
                other = billing_pb2_grpc.BillingServiceStub(channel)
                with pytest.raises(grpc.aio.AioRpcError, match="send `authorization: Bearer <token>`") as refused:
                    await other.GetBalance(billing_pb2.GetBalanceRequest(), timeout=60)
                assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
    assert len(reached) == 1
