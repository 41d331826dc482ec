"""A person's keys from all places, over gRPC."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from wavepool.billing.v1 import identity_pb2 as pb

from servicekit.rpc.errors import RpcFailure, rpc_failure
from services.billing.config import BillingSettings
from services.billing.identity.rights import Role, Scope
from services.billing.service.billing_service import Stores
from tests.local_github import LocalGithub
from tests.ssh_keys import new_key

if TYPE_CHECKING:
    from wavepool.billing.v1.identity_pb2_grpc import IdentityServiceAsyncStub

ACCOUNT, FILE, HUB, BOTH = (new_key(name) for name in ("account", "file", "hub", "both"))


@pytest.fixture
def settings(tmp_path: Path, database_url: str, github: LocalGithub) -> BillingSettings:
    (tmp_path / "keys").mkdir()
    return BillingSettings(
        port=0,
        data_dir=tmp_path / "data",
        database_url=database_url,
        keys_dir=tmp_path / "keys",
        github_url=github.url,
    )


@pytest.fixture
async def ada(stores: Stores) -> str:
    """The id of a token of ada, who is Ada-L on GitHub; bob is there, too, and an administrator."""
    users = [await stores.users.create(name, role) for name, role in (("ada", Role.USER), ("bob", Role.ADMIN))]
    await stores.users.update("ada", github_name="ada-l")
    return (await stores.tokens.create(users[0].user_id, "t"))[0].token_id


async def resolved(identity: IdentityServiceAsyncStub, token: str, person: str = "") -> pb.ResolveKeysResponse:
    return await identity.ResolveKeys(pb.ResolveKeysRequest(caller_token_id=token, person=person))


async def failure(call: Awaitable[Any]) -> RpcFailure:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    return rpc_failure(error.value)


async def test_keys_of_all_places_are_joined_and_each_is_there_once(
    identity: IdentityServiceAsyncStub, stores: Stores, github: LocalGithub, ada: str, tmp_path: Path
) -> None:
    user = await stores.users.get("ada")
    for pair in (ACCOUNT, BOTH):
        await stores.keys.add(user.user_id, pair.plain, "")
    (tmp_path / "keys" / "ada.keys").write_text(f"# of the lab\n{FILE.line}\n{BOTH.line}\n")
    github.keys["ada-l"] = f"{HUB.plain}\n{BOTH.plain}\n"
    answer = await resolved(identity, ada)
    assert (answer.user, list(answer.notes)) == ("ada", [])
    assert [(key.public_key, key.origin) for key in answer.keys] == [
        (ACCOUNT.plain, "wavepool"),
        (BOTH.plain, "wavepool"),
        (FILE.plain, "ada.keys"),
        (HUB.plain, f"{github.host}/ada-l"),
    ]
    assert answer.keys[0].fingerprint == ACCOUNT.fingerprint


async def test_a_place_that_does_not_answer_is_a_note_if_there_is_another_key(
    identity: IdentityServiceAsyncStub, stores: Stores, github: LocalGithub, ada: str
) -> None:
    github.answer = (500, {}, b"")
    refused = await failure(resolved(identity, ada))
    assert (refused.code, "it answers 500" in refused.message) == (grpc.StatusCode.UNAVAILABLE, True)
    assert refused.retry_after is not None
    await stores.keys.add((await stores.users.get("ada")).user_id, ACCOUNT.plain, "")
    answer = await resolved(identity, ada)
    assert ([key.origin for key in answer.keys], "it answers 500" in answer.notes[0]) == (["wavepool"], True)


async def test_who_has_no_key_hears_where_to_add_one(
    identity: IdentityServiceAsyncStub, github: LocalGithub, stores: Stores, ada: str
) -> None:
    github.keys["ada-l"] = ""
    refused = await failure(resolved(identity, ada))
    assert refused.code is grpc.StatusCode.FAILED_PRECONDITION
    expected = f"{github.host}/ada-l.keys is empty: add a key at {github.url}/settings/keys, or `wavepool keys add`"
    assert refused.message == expected
    await stores.users.update("ada", github_name="")
    assert (await failure(resolved(identity, ada))).message.startswith(
        "you have no SSH key here: `wavepool keys add FILE` adds one, or `wavepool keys claim NAME`"
    )


async def test_somebody_on_github_is_named_apart_from_users_here(
    identity: IdentityServiceAsyncStub, stores: Stores, github: LocalGithub, ada: str
) -> None:
    github.keys |= {"bob": HUB.plain, "ada-l": FILE.plain}
    answer = await resolved(identity, ada, "github:Bob")
    assert (answer.user, [key.origin for key in answer.keys]) == ("bob@github", [f"{github.host}/bob"])
    assert (await resolved(identity, ada, "github:Ada-L")).user == "ada", "who has claimed the name keeps their own"
    # A key that bob has here lets nobody in under another name.
    await stores.keys.add((await stores.users.get("bob")).user_id, HUB.plain, "")
    refused = await failure(resolved(identity, ada, "github:bob"))
    assert (refused.code, "another user has it here" in refused.message) == (grpc.StatusCode.FAILED_PRECONDITION, True)
    assert (await resolved(identity, ada, "bob")).user == "bob"


@pytest.mark.parametrize(
    "person", ["github:", "github:a/b", "github:../x", "github:-a", "github:a--b", "github:" + "a" * 40]
)
async def test_what_is_no_name_of_github_is_not_asked_for(
    identity: IdentityServiceAsyncStub, github: LocalGithub, ada: str, person: str
) -> None:
    refused = await failure(resolved(identity, ada, person))
    assert (refused.code, [field for field, _ in refused.violations]) == (grpc.StatusCode.INVALID_ARGUMENT, ["person"])
    assert github.asked == []


async def test_unknown_and_disabled_users_and_narrow_tokens_get_no_keys(
    identity: IdentityServiceAsyncStub, stores: Stores, github: LocalGithub, ada: str
) -> None:
    carl = await stores.users.create("carl")
    await stores.keys.add(carl.user_id, ACCOUNT.plain, "")
    await stores.users.update("carl", disabled=True, github_name="carl")
    github.keys["carl"] = HUB.plain
    assert "'carl' is disabled" in (await failure(resolved(identity, ada, "github:carl"))).message
    # Nothing says which of them are users here.
    for person in ("carl", "bob", "nobody-here"):
        refused = await failure(resolved(identity, ada, person))
        assert refused.code is grpc.StatusCode.FAILED_PRECONDITION
        assert refused.message.startswith(f"no user {person!r} with an SSH key is here.")
    user = await stores.users.get("ada")
    narrow, _ = await stores.tokens.create(user.user_id, "t", scopes=frozenset({Scope.READ}))
    assert (await failure(resolved(identity, narrow.token_id))).code is grpc.StatusCode.PERMISSION_DENIED


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "ada.keys has no key. Ask the operator"),
        (b"\xff\xff", "it is not UTF-8"),
        (b"#" * 300_000, "it has more than"),
        (b"-----BEGIN OPENSSH PRIVATE KEY-----", "is a private key"),
    ],
)
async def test_a_file_that_is_wrong_says_so(
    identity: IdentityServiceAsyncStub, stores: Stores, ada: str, tmp_path: Path, content: bytes, said: str
) -> None:
    await stores.users.update("ada", github_name="")
    (tmp_path / "keys" / "ada.keys").write_bytes(content)
    assert said in (await failure(resolved(identity, ada))).message
