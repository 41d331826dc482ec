from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from services.billing.errors import (
    InvalidFieldError,
    NameTakenError,
    TeamNotFoundError,
    UserDisabledError,
    UserNotFoundError,
)
from services.billing.identity.account import OwnerKind
from services.billing.identity.api_token import ApiToken
from services.billing.identity.rights import Role
from services.billing.identity.team import MemberLevel, Origin
from services.billing.service.billing_service import Stores

DAY = timedelta(days=1)


async def test_a_user_is_found_by_id_and_by_name_and_owns_an_account(stores: Stores) -> None:
    user = await stores.users.create("ada", Role.OPERATOR, "ada@example.org")
    assert await stores.users.get("ada") == await stores.users.get(user.user_id) == user
    assert await stores.users.find_by_name("bob") is None
    (owned,) = await stores.accounts.owned()
    assert (owned.account_id, owned.owner, owned.owner_name) == (user.account_id, OwnerKind.USER, "ada")
    with pytest.raises(UserNotFoundError):
        await stores.users.get("bob")


async def test_names_of_users_teams_and_accounts_are_taken_once(stores: Stores) -> None:
    await stores.users.create("ada")
    await stores.teams.create("compilers")
    await stores.accounts.create("lost")
    for name in ("ada", "compilers", "lost"):
        for create in (stores.users.create, stores.teams.create, stores.accounts.create):
            with pytest.raises(NameTakenError, match=name):
                await create(name)
    assert [user.name for user in await stores.users.list_all()] == ["ada"]
    assert [(one.name, one.owner) for one in await stores.accounts.owned()] == [
        ("ada", OwnerKind.USER),
        ("compilers", OwnerKind.TEAM),
        ("lost", None),
    ]
    assert [one.name for one in await stores.accounts.owned(["lost"])] == ["lost"]


async def test_of_users_with_one_name_at_the_same_time_one_is_made(stores: Stores) -> None:
    ends = await asyncio.gather(*(stores.users.create("ada") for _ in range(4)), return_exceptions=True)
    assert sorted(type(end).__name__ for end in ends) == ["NameTakenError"] * 3 + ["User"]


async def test_members_come_change_and_go(stores: Stores) -> None:
    team, ada = await stores.teams.create("compilers"), await stores.users.create("ada")
    bob = await stores.users.create("bob")
    await stores.teams.add_member(team.team_id, bob.user_id, MemberLevel.MEMBER)
    await stores.teams.add_member(team.team_id, ada.user_id, MemberLevel.MEMBER)
    changed = await stores.teams.add_member(team.team_id, ada.user_id, MemberLevel.MANAGER)
    assert [(one.user_name, one.level, one.origin) for one in changed.members] == [
        ("ada", MemberLevel.MANAGER, Origin.HAND),
        ("bob", MemberLevel.MEMBER, Origin.HAND),
    ]
    assert await stores.teams.get("compilers") == changed
    assert (await stores.teams.list_all())[0].members == ()
    await stores.teams.remove_member(team.team_id, bob.user_id)
    again = await stores.teams.remove_member(team.team_id, bob.user_id)
    assert [one.user_name for one in again.members] == ["ada"]
    with pytest.raises(TeamNotFoundError):
        await stores.teams.get("others")


async def sign_in(stores: Stores, subject: str = "1", **changes: Any) -> tuple[ApiToken, str]:
    fields: dict[str, Any] = {
        "issuer": "https://id.example.org",
        "subject": subject,
        "preferred_name": "Ada",
        "email": "ada@example.org",
        "teams": (),
        "role": None,
        "lifetime": DAY,
    }
    return await stores.outside_identities.sign_in(**fields | changes)


async def teams_of(stores: Stores, user: str) -> dict[str, Origin]:
    teams = [await stores.teams.get(team.team_id) for team in await stores.teams.list_all()]
    return {team.name: one.origin for team in teams for one in team.members if one.user_name == user}


async def test_a_first_sign_in_adds_the_user_and_the_second_finds_it(stores: Stores) -> None:
    first, secret = await sign_in(stores)
    second, _ = await sign_in(stores, preferred_name="another", email="new@example.org")
    assert (first.user_id, first.account_id) == (second.user_id, second.account_id)
    caller = await stores.tokens.authenticate(secret)
    assert (caller.user.name, caller.user.role, caller.user.email) == ("ada", Role.USER, "new@example.org")
    assert first.expire_time == first.create_time + DAY
    assert len(await stores.users.list_all()) == 1


async def test_a_name_or_an_address_of_somebody_else_opens_nothing_of_theirs(stores: Stores) -> None:
    ada = await stores.users.create("ada", Role.ADMIN, "ada@example.org")
    await stores.teams.create("ada-2")
    token, _ = await sign_in(stores)
    other, _ = await sign_in(stores, "2", issuer="https://evil.example.org")
    assert ada.user_id not in {token.user_id, other.user_id}
    assert [user.name for user in await stores.users.list_all()] == ["ada", "ada-3", "ada-4"]


async def test_teams_follow_the_provider_and_those_made_by_hand_stay(stores: Stores) -> None:
    token, _ = await sign_in(stores, teams={"compilers", "kernels"})
    by_hand = await stores.teams.create("board")
    await stores.teams.add_member(by_hand.team_id, token.user_id, MemberLevel.MANAGER)
    # A manager by hand is no more the provider's business.
    kernels = await stores.teams.get("kernels")
    await stores.teams.add_member(kernels.team_id, token.user_id, MemberLevel.MANAGER)
    await sign_in(stores, teams={"drivers", "board"})
    assert await teams_of(stores, "ada") == {
        "drivers": Origin.SIGN_IN,
        "board": Origin.HAND,
        "kernels": Origin.HAND,
    }
    assert (await stores.teams.get("board")).level_of(token.user_id) is MemberLevel.MANAGER


async def test_nobody_keeps_a_group_out_by_taking_its_name(stores: Stores) -> None:
    squatter = await stores.users.create("kernels")
    token, _ = await sign_in(stores, teams={"kernels"})
    team = await stores.teams.get("kernels")
    assert (team.level_of(token.user_id), team.level_of(squatter.user_id)) == (MemberLevel.MEMBER, None)
    (account,) = await stores.accounts.owned([team.account_id])
    assert (account.name, account.owner_name) == ("kernels-2", "kernels")


async def test_a_role_changes_only_if_the_provider_names_one(stores: Stores) -> None:
    token, _ = await sign_in(stores, role=Role.OPERATOR)
    await sign_in(stores)
    assert (await stores.users.get(token.user_id)).role is Role.OPERATOR
    await sign_in(stores, role=Role.USER)
    assert (await stores.users.get(token.user_id)).role is Role.USER


async def test_the_last_administrator_signs_in_and_stays_one(stores: Stores, caplog: pytest.LogCaptureFixture) -> None:
    token, _ = await sign_in(stores, role=Role.ADMIN)
    _, secret = await sign_in(stores, role=Role.USER, teams={"kernels"})
    caller = await stores.tokens.authenticate(secret)
    assert (caller.user.user_id, caller.user.role) == (token.user_id, Role.ADMIN)
    assert "keeps the role" in caplog.text
    assert await teams_of(stores, "ada") == {"kernels": Origin.SIGN_IN}


async def test_a_disabled_user_does_not_sign_in(stores: Stores) -> None:
    token, _ = await sign_in(stores)
    await stores.users.update(token.user_id, disabled=True)
    with pytest.raises(UserDisabledError):
        await sign_in(stores, teams={"kernels"})
    assert await stores.teams.list_all() == []


async def test_sign_ins_at_the_same_time_make_one_user(stores: Stores) -> None:
    made = await asyncio.gather(*(sign_in(stores, teams={"kernels"}) for _ in range(6)))
    assert len({token.user_id for token, _ in made}) == 1
    assert len(await stores.teams.list_all()) == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"lifetime": timedelta(0)}, "lifetime"),
        ({"lifetime": -DAY}, "lifetime"),
        ({"subject": ""}, "subject"),
        ({"issuer": ""}, "subject"),
        ({"teams": {"No Spaces"}}, "name"),
        ({"teams": {"x" * 10_000}}, "name"),
    ],
)
async def test_a_bad_sign_in_changes_nothing(stores: Stores, changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidFieldError, match=field):
        await sign_in(stores, **changes)
    assert await stores.users.list_all() == []
