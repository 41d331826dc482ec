from __future__ import annotations

import asyncio
import stat
from pathlib import Path

import grpc
import pytest
from wavepool.billing.v1 import billing_pb2, billing_pb2_grpc

from servicekit.rpc.channels import open_channel
from servicekit.rpc.credentials import ServiceCredentials
from servicekit.service_token import NoServiceTokenError, ServiceToken, service_token_of
from tests.servicekit.conftest import Serve

NEW = "wps_new-token-of-30-characters"


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
    sender.file.write_text(f"{NEW}\n{old}\n")
    assert sender.current() == NEW
    assert receiver.is_in(sent(NEW))
    assert receiver.is_in(sent(old))
    sender.file.write_text(f"{NEW}\n")
    assert receiver.is_in(sent(NEW))
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


WRONG = [
    (b"", "holds no token"),
    (b" \n", "holds no token"),
    (b"\xff", "cannot be read"),
    (b"# changed today\n" + NEW.encode(), "line 1: a token is 20 to 200 letters"),
    (NEW.encode() + b"\nshort\n", "line 2: a token is"),
    (b"\xef\xbb\xbf" + NEW.encode(), "line 1: a token is"),
]


@pytest.mark.parametrize(("content", "said"), WRONG)
def test_a_file_without_tokens_is_named_at_the_start(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "service-token").write_bytes(content)
    with pytest.raises(NoServiceTokenError, match=f"WAVEPOOL_SERVICE_TOKEN_FILE: {tmp_path}/service-token.*{said}"):
        service_token_of(tmp_path)


def test_a_file_that_an_operator_names_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NoServiceTokenError, match="cannot be read"):
        ServiceToken(tmp_path / "misspelt" / "token")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [*(content for content, _ in WRONG), None])
def test_a_file_that_breaks_later_is_logged_once_and_the_token_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes | None
) -> None:
    token = service_token_of(tmp_path)
    old = token.current()
    if content is None:
        token.file.unlink()
    else:
        token.file.write_bytes(content)
    for _ in range(3):
        assert token.current() == old
        assert token.is_in(sent(old))
    assert [record.message for record in caplog.records] == ["the services' token stays as it was"]
    token.file.write_text(f"{NEW}\n")
    assert token.current() == NEW


def test_a_file_that_others_can_read_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    service_token_of(tmp_path).file.chmod(0o644)
    service_token_of(tmp_path)
    assert "other users can read the services' token" in caplog.text


async def test_a_call_without_the_token_is_refused_before_it_reaches_the_service(serve: Serve, tmp_path: Path) -> None:
    reached: list[object] = []

    async def note(request: object, context: object) -> billing_pb2.GetBalanceResponse:
        del context
        reached.append(request)
        return billing_pb2.GetBalanceResponse()

    async with serve(note) as (server, stub):
        await stub.GetBalance(billing_pb2.GetBalanceRequest(), timeout=60)
        for credentials in (None, ServiceCredentials("gateway", service_token_of(tmp_path))):
            async with open_channel(f"127.0.0.1:{server.port}", credentials) as channel:
                other = billing_pb2_grpc.BillingServiceStub(channel)
                with pytest.raises(grpc.aio.AioRpcError, match="send `authorization: Bearer <token>`") as refused:
                    await other.GetBalance(billing_pb2.GetBalanceRequest(), timeout=60)
                assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
                with pytest.raises(grpc.aio.AioRpcError, match="send `authorization: Bearer <token>`"):
                    await channel.unary_unary("/wavepool.billing.v1.BillingService/GetBalance")(b"\xff", timeout=60)
    assert len(reached) == 1
