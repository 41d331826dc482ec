"""Profiles: who sees them, and who chooses that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import grpc
import pytest
from wavepool.billing.v1 import identity_pb2 as pb

from services.billing.identity.rights import Scope
from services.billing.identity.team import MemberLevel
from services.billing.identity.user import ProfileVisibility
from services.billing.service.billing_service import Stores
from tests.services.billing.test_keys import failure

if TYPE_CHECKING:
    from wavepool.billing.v1.identity_pb2_grpc import IdentityServiceAsyncStub

OFF, PUBLIC = pb.PROFILE_VISIBILITY_OFF, pb.PROFILE_VISIBILITY_PUBLIC
DENIED = grpc.StatusCode.PERMISSION_DENIED


@pytest.fixture
async def tokens(stores: Stores) -> dict[str, str]:
    """Ids of tokens by the names of their users; `team` charges a team of ada's, and `reader` is ada's."""
    made: dict[str, str] = {}
    for name in ("ada", "bob"):
        user = await stores.users.create(name)
        made[name] = (await stores.tokens.create(user.user_id, "t"))[0].token_id
    ada, team = await stores.users.get("ada"), await stores.teams.create("compilers")
    await stores.teams.add_member(team.team_id, ada.user_id, MemberLevel.MEMBER)
    shared, _ = await stores.tokens.create(ada.user_id, "t", account_id=team.account_id)
    reader, _ = await stores.tokens.create(ada.user_id, "t", scopes=frozenset({Scope.READ}))
    return {**made, "team": shared.token_id, "reader": reader.token_id}


async def shown(identity: IdentityServiceAsyncStub, token: str, name: str = "") -> pb.Profile:
    return (await identity.GetProfile(pb.GetProfileRequest(caller_token_id=token, name=name))).profile


async def chosen(
    identity: IdentityServiceAsyncStub, token: str, visibility: pb.ProfileVisibility.ValueType
) -> pb.Profile:
    return (await identity.SetProfile(pb.SetProfileRequest(caller_token_id=token, visibility=visibility))).profile


async def test_a_profile_is_public_until_its_user_switches_it_off(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str]
) -> None:
    ada = await shown(identity, tokens["bob"], "ada")
    assert (ada.name, ada.visibility) == ("ada", PUBLIC)
    assert (await chosen(identity, tokens["ada"], OFF)).visibility == OFF
    hidden, unknown = [await failure(shown(identity, tokens["bob"], name)) for name in ("ada", "eve")]
    assert hidden.code is unknown.code is grpc.StatusCode.NOT_FOUND
    assert hidden.message == unknown.message.replace("eve", "ada")
    for name in ("", "ada"):
        assert await shown(identity, tokens["reader"], name) == pb.Profile(
            user_id=ada.user_id, name="ada", visibility=OFF
        )
    assert (await chosen(identity, tokens["ada"], PUBLIC)).visibility == PUBLIC
    assert await shown(identity, tokens["bob"], "ada") == ada


async def test_a_profile_is_found_by_its_name_alone(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str], stores: Stores
) -> None:
    user_id = (await stores.users.get("ada")).user_id
    assert (await failure(shown(identity, tokens["bob"], user_id))).code is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize("token", ["team", "reader"])
async def test_a_narrow_token_does_not_choose(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str], token: str
) -> None:
    assert (await failure(chosen(identity, tokens[token], OFF))).code is DENIED
    assert (await shown(identity, tokens["ada"])).visibility == PUBLIC


@pytest.mark.parametrize("visibility", [0, 9])
async def test_a_choice_that_is_none_is_refused(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str], visibility: pb.ProfileVisibility.ValueType
) -> None:
    refused = await failure(chosen(identity, tokens["ada"], visibility))
    assert (refused.code, "public, off" in str(refused)) == (grpc.StatusCode.INVALID_ARGUMENT, True)


def test_a_word_of_a_later_version_shows_nothing() -> None:
    assert ProfileVisibility("friends") is ProfileVisibility.OFF
