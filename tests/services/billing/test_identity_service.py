from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.billing.v1 import identity_pb2 as pb
from wavepool.billing.v1 import sign_in_pb2_grpc
from wavepool.billing.v1.sign_in_pb2 import SignInRequest

from servicekit.rpc.errors import RpcFailure, rpc_failure
from services.billing.identity.rights import Role, Scope
from services.billing.identity.team import MemberLevel
from services.billing.service.billing_service import Stores

if TYPE_CHECKING:
    from wavepool.billing.v1.identity_pb2_grpc import IdentityServiceAsyncStub

DENIED, MISSING, WRONG = (
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.INVALID_ARGUMENT,
)


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """One kind of database is enough here: the tests of the stores cover the differences."""
    return f"sqlite+aiosqlite:///{tmp_path / 'billing.db'}"


@dataclass
class People:
    """Tokens, by the id that the gateway sends."""

    admin: str
    operator: str
    ada: str
    bob: str
    service: str
    user_ids: dict[str, str]


@pytest.fixture
async def people(stores: Stores) -> People:
    roles = {"admin": Role.ADMIN, "operator": Role.OPERATOR, "ada": Role.USER, "bob": Role.USER}
    users = {name: await stores.users.create(name, role) for name, role in (roles | {"service": Role.SERVICE}).items()}
    tokens = {name: (await stores.tokens.create(user.user_id, "t"))[0].token_id for name, user in users.items()}
    return People(**tokens, user_ids={name: user.user_id for name, user in users.items()})


async def failure(call: Awaitable[Any]) -> RpcFailure:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    return rpc_failure(error.value)


async def code_of(call: Awaitable[Any]) -> grpc.StatusCode:
    return (await failure(call)).code


async def test_a_second_user_gets_credit_and_a_token_that_works(
    identity: IdentityServiceAsyncStub, stores: Stores, people: People
) -> None:
    request = pb.CreateUserRequest(
        caller_token_id=people.admin, name="eve", email="eve@example.org", grant_micros=5_000_000
    )
    user = (await identity.CreateUser(request)).user
    assert (user.name, user.role, user.HasField("disable_time")) == ("eve", pb.ROLE_USER, False)
    assert (await stores.accounts.get(user.account_id)).balance.available_micros == 5_000_000
    made = await identity.CreateToken(pb.CreateTokenRequest(caller_token_id=people.admin, user="eve", name="laptop"))
    known = await identity.AuthenticateToken(pb.AuthenticateTokenRequest(token=made.secret))
    assert known == pb.AuthenticateTokenResponse(
        user_id=user.user_id,
        user_name="eve",
        role=pb.ROLE_USER,
        account_id=user.account_id,
        account_name="eve",
        token_id=made.token.token_id,
        scopes=["read", "submit", "manage"],
        visible_account_ids=[user.account_id],
    )


async def test_only_administrators_change_users_and_teams(identity: IdentityServiceAsyncStub, people: People) -> None:
    for token in (people.operator, people.ada, people.service, "", "tok_none"):
        for call in (
            identity.CreateUser(pb.CreateUserRequest(caller_token_id=token, name="eve")),
            identity.UpdateUser(pb.UpdateUserRequest(caller_token_id=token, user="ada", role=pb.ROLE_ADMIN)),
            identity.CreateTeam(pb.CreateTeamRequest(caller_token_id=token, name="t")),
        ):
            assert await code_of(call) is DENIED
    listed = await identity.ListUsers(pb.ListUsersRequest(caller_token_id=people.operator))
    assert [(user.name, user.role) for user in listed.users][:2] == [("ada", pb.ROLE_USER), ("admin", pb.ROLE_ADMIN)]


async def test_users_see_themselves_and_operators_everybody(identity: IdentityServiceAsyncStub, people: People) -> None:
    own = await identity.GetUser(pb.GetUserRequest(caller_token_id=people.ada, user="ada"))
    assert own.user.user_id == people.user_ids["ada"]
    assert await code_of(identity.GetUser(pb.GetUserRequest(caller_token_id=people.ada, user="bob"))) is MISSING
    seen = await identity.GetUser(pb.GetUserRequest(caller_token_id=people.operator, user="bob"))
    assert seen.user.name == "bob"
    assert await code_of(identity.ListUsers(pb.ListUsersRequest(caller_token_id=people.ada))) is DENIED
    assert await code_of(identity.ListUsers(pb.ListUsersRequest(caller_token_id=""))) is DENIED


async def test_accounts_are_their_owners_to_see(identity: IdentityServiceAsyncStub, people: People) -> None:
    own = await identity.ListAccounts(pb.ListAccountsRequest(caller_token_id=people.ada))
    assert [(one.name, one.owner, one.owner_name) for one in own.accounts] == [("ada", pb.ACCOUNT_OWNER_USER, "ada")]
    for account in ("bob", own.accounts[0].account_id[:-1], "none"):
        asked = identity.GetAccount(pb.GetAccountRequest(caller_token_id=people.ada, account=account))
        assert await code_of(asked) is MISSING
    everybody = await identity.ListAccounts(pb.ListAccountsRequest(caller_token_id=people.operator))
    assert len(everybody.accounts) == 5
    seen = await identity.GetAccount(pb.GetAccountRequest(caller_token_id=people.admin, account="bob"))
    assert seen.account.owner_id == people.user_ids["bob"]


async def test_a_team_is_led_by_its_manager(identity: IdentityServiceAsyncStub, stores: Stores, people: People) -> None:
    await identity.CreateTeam(pb.CreateTeamRequest(caller_token_id=people.admin, name="kernels", grant_micros=7))

    def add(token: str, user: str, level: pb.MemberLevel.ValueType = pb.MEMBER_LEVEL_UNSPECIFIED) -> Awaitable[Any]:
        return identity.AddTeamMember(
            pb.AddTeamMemberRequest(caller_token_id=token, team="kernels", user=user, level=level)
        )

    def remove(token: str, user: str) -> Awaitable[Any]:
        return identity.RemoveTeamMember(pb.RemoveTeamMemberRequest(caller_token_id=token, team="kernels", user=user))

    assert await code_of(add(people.ada, "ada")) is MISSING
    await add(people.admin, "ada", pb.MEMBER_LEVEL_MANAGER)
    team = (await add(people.ada, "bob")).team
    assert [(one.user_name, one.level) for one in team.members] == [
        ("ada", pb.MEMBER_LEVEL_MANAGER),
        ("bob", pb.MEMBER_LEVEL_MEMBER),
    ]
    assert (await stores.accounts.get(team.account_id)).balance.available_micros == 7
    refused = await failure(add(people.bob, "service"))
    assert (refused.code, "Only managers" in refused.message) == (DENIED, True)
    assert await code_of(remove(people.bob, "ada")) is DENIED
    assert await code_of(add(people.ada, "nobody")) is MISSING
    assert await code_of(add(people.operator, "bob")) is DENIED
    listed = await identity.ListTeams(pb.ListTeamsRequest(caller_token_id=people.bob))
    assert [one.name for one in listed.teams] == ["kernels"]
    left = (await remove(people.bob, "bob")).team
    assert [one.user_name for one in left.members] == ["ada"]
    assert await code_of(identity.GetTeam(pb.GetTeamRequest(caller_token_id=people.bob, team="kernels"))) is MISSING
    assert not (await identity.ListTeams(pb.ListTeamsRequest(caller_token_id=people.bob))).teams


async def test_a_teams_token_makes_only_tokens_for_the_team_and_hides_the_rest(
    identity: IdentityServiceAsyncStub, stores: Stores, people: People
) -> None:
    team = await stores.teams.create("kernels")
    await stores.teams.add_member(team.team_id, people.user_ids["ada"], MemberLevel.MANAGER)
    made = await identity.CreateToken(
        pb.CreateTokenRequest(caller_token_id=people.ada, account="kernels", name="shared")
    )
    shared = made.token.token_id
    assert (made.token.user_name, made.token.account_name) == ("ada", "kernels")
    known = await identity.AuthenticateToken(pb.AuthenticateTokenRequest(token=made.secret))
    assert (known.account_name, list(known.visible_account_ids)) == ("kernels", [team.account_id])
    assert list(known.managed_account_ids) == [team.account_id]
    narrow = pb.CreateTokenRequest(caller_token_id=people.ada, account="kernels", name="ci", scopes=["read", "submit"])
    secret = (await identity.CreateToken(narrow)).secret
    known_narrow = await identity.AuthenticateToken(pb.AuthenticateTokenRequest(token=secret))
    assert not known_narrow.managed_account_ids
    child = await identity.CreateToken(pb.CreateTokenRequest(caller_token_id=shared, name="child"))
    assert child.token.account_name == "kernels"
    for account in ("ada", known.user_id.replace("user", "acct")):
        escape = identity.CreateToken(pb.CreateTokenRequest(caller_token_id=shared, account=account, name="x"))
        assert await code_of(escape) is MISSING
    accounts = await identity.ListAccounts(pb.ListAccountsRequest(caller_token_id=shared))
    assert [one.name for one in accounts.accounts] == ["kernels"]
    # Nor does it list or end the other tokens of its user.
    listed = await identity.ListTokens(pb.ListTokensRequest(caller_token_id=shared))
    assert [token.name for token in listed.tokens] == ["shared", "ci", "child"]
    revoke = pb.RevokeTokenRequest(caller_token_id=shared, token_id=people.ada)
    assert await code_of(identity.RevokeToken(revoke)) is MISSING
    own = await identity.ListTokens(pb.ListTokensRequest(caller_token_id=people.ada, account="kernels"))
    assert [token.name for token in own.tokens] == ["shared", "ci", "child"]
    everybodys = await identity.ListTokens(pb.ListTokensRequest(caller_token_id=people.admin, account="kernels"))
    assert [token.name for token in everybodys.tokens] == ["shared", "ci", "child"]
    # Who is no member knows of no such account.
    outsider = identity.CreateToken(pb.CreateTokenRequest(caller_token_id=people.bob, account="kernels", name="x"))
    assert await code_of(outsider) is MISSING


async def test_an_operators_token_for_a_team_makes_none_for_the_operator(
    identity: IdentityServiceAsyncStub, stores: Stores, people: People
) -> None:
    team = await stores.teams.create("kernels")
    await stores.teams.add_member(team.team_id, people.user_ids["operator"], MemberLevel.MEMBER)
    shared, _ = await stores.tokens.create(people.user_ids["operator"], "shared", account_id=team.account_id)
    wider = pb.CreateTokenRequest(caller_token_id=shared.token_id, account="operator", name="x")
    refused = await failure(identity.CreateToken(wider))
    assert (refused.code, "charges a team" in refused.message) == (DENIED, True)


async def test_tokens_of_others_are_for_administrators(identity: IdentityServiceAsyncStub, people: People) -> None:
    for token in (people.ada, people.operator):
        for fields in ({"user": "bob"}, {"user": people.user_ids["bob"]}):
            create = identity.CreateToken(pb.CreateTokenRequest(caller_token_id=token, name="x", **fields))
            listed = identity.ListTokens(pb.ListTokensRequest(caller_token_id=token, **fields))
            assert [await code_of(create), await code_of(listed)] == [DENIED, DENIED]
        revoke = identity.RevokeToken(pb.RevokeTokenRequest(caller_token_id=token, token_id=people.bob))
        assert await code_of(revoke) is MISSING
    # As before there were users: an account is enough to say whose token it is.
    made = await identity.CreateToken(pb.CreateTokenRequest(caller_token_id=people.admin, account="bob", name="new"))
    assert made.token.user_name == "bob"
    listed = await identity.ListTokens(pb.ListTokensRequest(caller_token_id=people.admin, account="bob"))
    assert [token.name for token in listed.tokens] == ["t", "new"]
    await identity.RevokeToken(pb.RevokeTokenRequest(caller_token_id=people.admin, token_id=made.token.token_id))
    gone = identity.AuthenticateToken(pb.AuthenticateTokenRequest(token=made.secret))
    assert await code_of(gone) is MISSING


async def test_a_narrow_token_makes_no_wider_one(
    identity: IdentityServiceAsyncStub, stores: Stores, people: People
) -> None:
    narrow, _ = await stores.tokens.create(
        people.user_ids["admin"], "narrow", scopes=frozenset({Scope.READ, Scope.MANAGE})
    )
    made = await identity.CreateToken(pb.CreateTokenRequest(caller_token_id=narrow.token_id, name="same"))
    assert list(made.token.scopes) == ["read", "manage"]
    wider = pb.CreateTokenRequest(caller_token_id=narrow.token_id, name="wider", scopes=["read", "admin"])
    refused = await failure(identity.CreateToken(wider))
    assert (refused.code, "needs the scope 'admin'; the token has" in refused.message) == (DENIED, True)
    assert await code_of(identity.CreateUser(pb.CreateUserRequest(caller_token_id=narrow.token_id, name="x"))) is DENIED
    service = identity.CreateToken(pb.CreateTokenRequest(caller_token_id=people.service, name="x"))
    assert await code_of(service) is DENIED
    # Whoever holds a token may end it, even if it may do nothing else.
    reading, _ = await stores.tokens.create(people.user_ids["ada"], "reading", scopes=frozenset({Scope.READ}))
    await identity.RevokeToken(pb.RevokeTokenRequest(caller_token_id=reading.token_id, token_id=reading.token_id))
    other = pb.RevokeTokenRequest(caller_token_id=narrow.token_id, token_id=people.ada)
    assert await code_of(identity.RevokeToken(other)) is MISSING


async def test_a_token_ends_with_the_one_that_made_it(
    identity: IdentityServiceAsyncStub, stores: Stores, people: People
) -> None:
    async def made_by(parent: str, **fields: Any) -> pb.CreateTokenResponse:
        return await identity.CreateToken(pb.CreateTokenRequest(caller_token_id=parent, name="child", **fields))

    async def works(secret: str) -> bool:
        try:
            await identity.AuthenticateToken(pb.AuthenticateTokenRequest(token=secret))
        except grpc.aio.AioRpcError:
            return False
        return True

    end = datetime.now(UTC) + timedelta(days=1)
    short, _ = await stores.tokens.create(people.user_ids["ada"], "short", expire_time=end)
    child = await made_by(short.token_id)
    assert child.token.expire_time.ToDatetime(UTC) == short.expire_time
    late = Timestamp()
    late.FromDatetime(end + timedelta(seconds=1))
    refused = await failure(made_by(child.token.token_id, expire_time=late))
    assert (refused.code, refused.violations[0][0]) == (WRONG, "expire_time")
    grandchild, kept = await made_by(child.token.token_id), await made_by(short.token_id)
    revoke = pb.RevokeTokenRequest(caller_token_id=kept.token.token_id, token_id=short.token_id)
    await identity.RevokeToken(revoke)
    assert [await works(one.secret) for one in (child, grandchild, kept)] == [False, False, True]


async def test_a_link_signs_its_maker_in_once_and_ends_with_the_token_that_made_it(
    identity: IdentityServiceAsyncStub, channel: grpc.aio.Channel, stores: Stores, people: People
) -> None:
    sign_in = sign_in_pb2_grpc.SignInServiceStub(channel)
    end = datetime.now(UTC) + timedelta(days=1)
    parent, _ = await stores.tokens.create(people.user_ids["admin"], "up", expire_time=end)
    asked = pb.CreateTokenRequest(caller_token_id=parent.token_id, name="page", is_link=True)
    asked.expire_time.FromDatetime(datetime.now(UTC) + timedelta(hours=1))
    link = await identity.CreateToken(asked)
    assert (link.secret[:4], link.token.prefix) == ("wpl_", link.secret[:10])
    # It is no token: neither for requests, nor as the last one that an administrator has.
    assert await code_of(identity.AuthenticateToken(pb.AuthenticateTokenRequest(token=link.secret))) is MISSING
    assert await code_of(identity.ListTokens(pb.ListTokensRequest(caller_token_id=link.token.token_id))) is DENIED
    signed_in = await sign_in.SignIn(SignInRequest(link=link.secret))
    known = await identity.AuthenticateToken(pb.AuthenticateTokenRequest(token=signed_in.token))
    assert (known.user_name, signed_in.expire_time.ToDatetime(UTC)) == ("admin", parent.expire_time)
    for secret in (link.secret, signed_in.token, "wpl_unknown"):
        refused = await failure(sign_in.SignIn(SignInRequest(link=secret)))
        assert (refused.code, refused.violations[0][0]) == (WRONG, "link")
    await identity.RevokeToken(pb.RevokeTokenRequest(caller_token_id=people.admin, token_id=parent.token_id))
    assert await code_of(identity.AuthenticateToken(pb.AuthenticateTokenRequest(token=signed_in.token))) is MISSING
    for_ada = pb.CreateTokenRequest(caller_token_id=people.admin, user="ada", name="x", is_link=True)
    assert (await failure(identity.CreateToken(for_ada))).violations[0][0] == "link"
    kept = pb.CreateTokenRequest(caller_token_id=people.admin, name="x", is_link=True)
    assert (await identity.CreateToken(kept)).secret
    last = identity.RevokeToken(pb.RevokeTokenRequest(caller_token_id=people.admin, token_id=people.admin))
    assert await code_of(last) is grpc.StatusCode.FAILED_PRECONDITION


async def test_the_role_of_a_user_is_known_and_a_disabled_user_has_none(
    identity: IdentityServiceAsyncStub, people: People
) -> None:
    async def role() -> int:
        return (await identity.GetRole(pb.GetRoleRequest(user_id=people.user_ids["bob"]))).role

    assert await role() == pb.ROLE_USER
    change = pb.UpdateUserRequest(caller_token_id=people.admin, user="bob", role=pb.ROLE_ADMIN)
    assert (await identity.UpdateUser(change)).user.role == pb.ROLE_ADMIN
    assert await role() == pb.ROLE_ADMIN
    disabled = await identity.UpdateUser(
        pb.UpdateUserRequest(caller_token_id=people.admin, user="bob", disabled=True, email="b@example.org")
    )
    assert (disabled.user.HasField("disable_time"), disabled.user.email) == (True, "b@example.org")
    assert await role() == pb.ROLE_UNSPECIFIED
    assert await code_of(identity.GetRole(pb.GetRoleRequest())) is MISSING
    token = identity.CreateToken(pb.CreateTokenRequest(caller_token_id=people.admin, user="bob", name="x"))
    assert await code_of(token) is grpc.StatusCode.FAILED_PRECONDITION


async def test_names_are_told_of_users_that_there_are(identity: IdentityServiceAsyncStub, people: People) -> None:
    bob = people.user_ids["bob"]
    found = await identity.ListNames(pb.ListNamesRequest(user_ids=[bob, "user_nobody"]))
    assert dict(found.names) == {bob: "bob"}
    assert not (await identity.ListNames(pb.ListNamesRequest())).names
    many = pb.ListNamesRequest(user_ids=[f"user_{number}" for number in range(201)])
    assert await code_of(identity.ListNames(many)) is grpc.StatusCode.INVALID_ARGUMENT


async def test_the_last_administrator_stays(identity: IdentityServiceAsyncStub, people: People) -> None:
    for call in (
        identity.UpdateUser(pb.UpdateUserRequest(caller_token_id=people.admin, user="admin", role=pb.ROLE_USER)),
        identity.UpdateUser(pb.UpdateUserRequest(caller_token_id=people.admin, user="admin", disabled=True)),
        identity.RevokeToken(pb.RevokeTokenRequest(caller_token_id=people.admin, token_id=people.admin)),
    ):
        refused = await failure(call)
        assert (refused.code, "first" in refused.message) == (grpc.StatusCode.FAILED_PRECONDITION, True)


@pytest.mark.parametrize(
    ("method", "fields", "code", "field"),
    [
        ("CreateUser", {"name": ""}, WRONG, "name"),
        ("CreateUser", {"name": "A b"}, WRONG, "name"),
        ("CreateUser", {"name": "x" * 10_000}, WRONG, "name"),
        ("CreateUser", {"name": "eve", "grant_micros": -1}, WRONG, "grant_micros"),
        ("CreateUser", {"name": "eve", "grant_micros": 2**62}, WRONG, "grant_micros"),
        ("CreateUser", {"name": "eve", "email": "eve"}, WRONG, "email"),
        ("CreateUser", {"name": "eve", "role": 9}, WRONG, "role"),
        ("CreateUser", {"name": "ada"}, grpc.StatusCode.ALREADY_EXISTS, ""),
        ("CreateTeam", {"name": "ada"}, grpc.StatusCode.ALREADY_EXISTS, ""),
        ("CreateTeam", {"name": "t\0"}, WRONG, "name"),
        ("UpdateUser", {"user": "none"}, MISSING, ""),
        ("UpdateUser", {"user": "a\0"}, WRONG, "user"),
        ("UpdateUser", {"user": "x" * 10_000}, WRONG, "user"),
        ("UpdateUser", {"user": "ada", "role": -1}, WRONG, "role"),
        ("GetTeam", {"team": "none"}, MISSING, ""),
        ("GetTeam", {"team": "\0"}, WRONG, "team"),
        ("GetAccount", {"account": "\0"}, WRONG, "account"),
        ("AddTeamMember", {"team": "none", "user": "ada"}, MISSING, ""),
        ("CreateToken", {"name": "x" * 65}, WRONG, "name"),
        ("CreateToken", {"name": "x", "scopes": ["sumbit"]}, WRONG, "scopes"),
        ("CreateToken", {"name": "x", "scopes": ["admin"], "user": "ada"}, WRONG, "scopes"),
        ("CreateToken", {"name": "x", "account": "bob", "user": "ada"}, WRONG, "account"),
        ("CreateToken", {"name": "x", "expire_time": Timestamp(seconds=1)}, WRONG, "expire_time"),
        ("CreateToken", {"name": "x", "expire_time": Timestamp(seconds=2**60)}, WRONG, "expire_time"),
        ("CreateToken", {"name": "x", "user": "none"}, MISSING, ""),
        ("ListTokens", {"account": "none"}, MISSING, ""),
        ("RevokeToken", {"token_id": "none"}, MISSING, ""),
        ("RevokeToken", {"token_id": "\0"}, WRONG, "token_id"),
    ],
)
async def test_bad_input_has_the_statuses_of_the_proto(
    identity: IdentityServiceAsyncStub,
    people: People,
    method: str,
    fields: dict[str, Any],
    code: grpc.StatusCode,
    field: str,
) -> None:
    request = getattr(pb, f"{method}Request")(caller_token_id=people.admin, **fields)
    refused = await failure(getattr(identity, method)(request))
    assert (refused.code, refused.violations[0][0] if refused.violations else "") == (code, field)


async def test_an_expiry_travels_to_the_gateway(identity: IdentityServiceAsyncStub, people: People) -> None:
    end = Timestamp()
    end.FromDatetime(datetime.now(UTC) + timedelta(hours=1))
    made = await identity.CreateToken(pb.CreateTokenRequest(caller_token_id=people.ada, name="short", expire_time=end))
    known = await identity.AuthenticateToken(pb.AuthenticateTokenRequest(token=made.secret))
    assert abs(known.expire_time.ToDatetime() - end.ToDatetime()) < timedelta(milliseconds=1)
    assert made.token.expire_time == known.expire_time


async def test_no_token_carries_an_administrators_rights_beyond_the_sign_in_that_gave_them(
    identity: IdentityServiceAsyncStub, stores: Stores, people: People
) -> None:
    who = {"issuer": "https://id.example", "subject": "1", "preferred_name": "eve", "email": "", "teams": ()}
    token, _ = await stores.outside_identities.sign_in(**who, role=Role.ADMIN, lifetime=timedelta(hours=1))
    ordered = pb.CreateTokenRequest(caller_token_id=token.token_id, name="ci")
    refused = await failure(identity.CreateToken(ordered))
    assert (refused.code, refused.violations[0][0]) == (grpc.StatusCode.INVALID_ARGUMENT, "expire_time")
    assert "give narrower scopes" in refused.message
    narrow = pb.CreateTokenRequest(caller_token_id=token.token_id, name="ci", scopes=["read", "submit"])
    assert (await identity.CreateToken(narrow)).secret
    assert token.expire_time
    ordered.expire_time.FromDatetime(token.expire_time)
    assert (await identity.CreateToken(ordered)).secret
