"""Users' own SSH keys, on a real server."""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from wavepool.billing.v1 import identity_pb2 as pb

from servicekit.rpc.errors import RpcFailure, rpc_failure
from services.billing.errors import InvalidFieldError, KeyTakenError
from services.billing.identity.rights import Role, Scope
from services.billing.identity.ssh_key import MOST_KEYS
from services.billing.identity.team import MemberLevel
from services.billing.service.billing_service import Stores
from tests.ssh_keys import new_key

if TYPE_CHECKING:
    from wavepool.billing.v1.identity_pb2_grpc import IdentityServiceAsyncStub

ADA, BOB = new_key("ada@laptop"), new_key("bob@laptop")


@pytest.fixture
async def tokens(stores: Stores) -> dict[str, str]:
    """Ids of tokens by the names of their users; `team` charges a team of ada's."""
    roles = {"admin": Role.ADMIN, "ada": Role.USER, "bob": Role.USER}
    users = {name: await stores.users.create(name, role) for name, role in roles.items()}
    made = {name: (await stores.tokens.create(user.user_id, "t"))[0].token_id for name, user in users.items()}
    team = await stores.teams.create("compilers")
    await stores.teams.add_member(team.team_id, users["ada"].user_id, MemberLevel.MEMBER)
    shared, _ = await stores.tokens.create(users["ada"].user_id, "t", account_id=team.account_id)
    reader, _ = await stores.tokens.create(users["ada"].user_id, "t", scopes=frozenset({Scope.READ}))
    return {**made, "team": shared.token_id, "reader": reader.token_id}


async def failure(call: Awaitable[Any]) -> RpcFailure:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    return rpc_failure(error.value)


async def test_a_user_adds_lists_and_removes_a_key(identity: IdentityServiceAsyncStub, tokens: dict[str, str]) -> None:
    made = (await identity.AddKey(pb.AddKeyRequest(caller_token_id=tokens["ada"], public_key=ADA.line))).key
    assert (made.name, made.type, made.fingerprint) == ("ada@laptop", "ssh-ed25519", ADA.fingerprint)
    again = await identity.AddKey(pb.AddKeyRequest(caller_token_id=tokens["ada"], public_key=ADA.line, name="other"))
    assert again.key == made, "a repeated request changes nothing"
    listed = await identity.ListKeys(pb.ListKeysRequest(caller_token_id=tokens["reader"]))
    assert list(listed.keys) == [made]
    for reference in (made.key_id, BOB.fingerprint):
        other = identity.RemoveKey(pb.RemoveKeyRequest(caller_token_id=tokens["bob"], key=reference))
        assert (await failure(other)).code is grpc.StatusCode.NOT_FOUND
    await identity.RemoveKey(pb.RemoveKeyRequest(caller_token_id=tokens["ada"], key=made.fingerprint))
    assert not (await identity.ListKeys(pb.ListKeysRequest(caller_token_id=tokens["ada"]))).keys


async def test_a_key_belongs_to_one_user_until_it_is_removed(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str]
) -> None:
    made = await identity.AddKey(pb.AddKeyRequest(caller_token_id=tokens["ada"], public_key=ADA.line))
    second = pb.AddKeyRequest(caller_token_id=tokens["bob"], public_key=f"{ADA.line} again")
    refused = await failure(identity.AddKey(second))
    assert refused.code is grpc.StatusCode.ALREADY_EXISTS
    assert ADA.fingerprint in refused.message
    assert "ada" not in refused.message, "whose it is stays hidden"
    await identity.RemoveKey(pb.RemoveKeyRequest(caller_token_id=tokens["admin"], key=made.key.key_id))
    assert (await identity.AddKey(second)).key.fingerprint == ADA.fingerprint


async def test_administrators_manage_the_keys_of_others_and_nobody_else_does(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str]
) -> None:
    made = await identity.AddKey(pb.AddKeyRequest(caller_token_id=tokens["admin"], user="bob", public_key=BOB.line))
    own = await identity.ListKeys(pb.ListKeysRequest(caller_token_id=tokens["bob"], user="bob"))
    assert list(own.keys) == [made.key]
    for call in (
        identity.AddKey(pb.AddKeyRequest(caller_token_id=tokens["ada"], user="bob", public_key=ADA.line)),
        identity.ListKeys(pb.ListKeysRequest(caller_token_id=tokens["ada"], user="bob")),
        identity.AddKey(pb.AddKeyRequest(caller_token_id=tokens["reader"], public_key=ADA.line)),
    ):
        assert (await failure(call)).code is grpc.StatusCode.PERMISSION_DENIED
    unknown = identity.ListKeys(pb.ListKeysRequest(caller_token_id=tokens["admin"], user="eve"))
    assert (await failure(unknown)).code is grpc.StatusCode.NOT_FOUND


async def test_a_token_that_a_team_shares_lets_nobody_in(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str]
) -> None:
    for call in (
        identity.AddKey(pb.AddKeyRequest(caller_token_id=tokens["team"], public_key=BOB.line)),
        identity.ListKeys(pb.ListKeysRequest(caller_token_id=tokens["team"])),
    ):
        refused = await failure(call)
        assert (refused.code, "charges a team" in refused.message) == (grpc.StatusCode.PERMISSION_DENIED, True)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n", "is a private key"),
        (f'command="sh" {ADA.line}', "has options"),
        ("ssh-dss AAAAB3NzaC1kc3M= old", "is a DSA key"),
        ("ssh-ed25519 AAAA", "is no whole ssh-ed25519 key"),
        ("", "must be one line"),
        (f"{ADA.line}\n{BOB.line}", "must be one line"),
        ("<html>", "begins with '<html>'"),
    ],
)
async def test_what_is_no_key_is_refused_with_the_reason(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str], text: str, fault: str
) -> None:
    refused = await failure(identity.AddKey(pb.AddKeyRequest(caller_token_id=tokens["ada"], public_key=text)))
    [(field, said)] = refused.violations
    assert (refused.code, field) == (grpc.StatusCode.INVALID_ARGUMENT, "public_key")
    assert fault in said
    assert "c2VjcmV0" not in refused.message


async def test_a_short_rsa_key_is_refused(identity: IdentityServiceAsyncStub, tokens: dict[str, str]) -> None:
    private = generate_private_key(65537, 1024)  # noqa: S505 - it is to be refused
    short = private.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    refused = await failure(identity.AddKey(pb.AddKeyRequest(caller_token_id=tokens["ada"], public_key=short.decode())))
    assert "has 1024 bits; an RSA key needs at least 2048" in refused.message


async def test_a_name_that_is_too_long_is_refused_and_a_long_comment_is_cut(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str]
) -> None:
    long = pb.AddKeyRequest(caller_token_id=tokens["ada"], public_key=ADA.line, name="x" * 65)
    assert [field for field, _ in (await failure(identity.AddKey(long))).violations] == ["name"]
    commented = pb.AddKeyRequest(caller_token_id=tokens["ada"], public_key=f"{ADA.line}{'x' * 100}")
    assert len((await identity.AddKey(commented)).key.name) == 64


async def test_a_user_has_a_limited_number_of_keys(stores: Stores, tokens: dict[str, str]) -> None:
    del tokens
    ada, bob = await stores.users.get("ada"), await stores.users.get("bob")
    for number in range(MOST_KEYS):
        await stores.keys.add(ada.user_id, new_key().plain, str(number))
    with pytest.raises(InvalidFieldError, match=f"you have {MOST_KEYS}"):
        await stores.keys.add(ada.user_id, ADA.plain, "")
    _, is_new = await stores.keys.add(bob.user_id, ADA.plain, "")
    assert is_new
    with pytest.raises(KeyTakenError):
        await stores.keys.add(ada.user_id, ADA.plain, "")


async def test_the_log_has_who_changed_which_key_and_no_key(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await identity.AddKey(pb.AddKeyRequest(caller_token_id=tokens["admin"], user="ada", public_key=ADA.line))
    await identity.RemoveKey(pb.RemoveKeyRequest(caller_token_id=tokens["ada"], key=ADA.fingerprint))
    said = [(record.message, vars(record)) for record in caplog.records if "a key was" in record.message]
    assert [(text, fields["user"], fields["by"]) for text, fields in said] == [
        ("a key was added", "ada", "admin"),
        ("a key was removed", "ada", "ada"),
    ]
    assert {fields["fingerprint"] for _, fields in said} == {ADA.fingerprint}
    assert not any(ADA.plain.split()[1] in str(vars(record)) for record in caplog.records)
