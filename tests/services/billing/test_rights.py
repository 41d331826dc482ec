from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.billing.errors import InvalidFieldError, NotAllowedError, ScopeMissingError
from services.billing.identity.account import check_name, name_like
from services.billing.identity.api_token import ApiToken, check_expiry
from services.billing.identity.caller import Caller
from services.billing.identity.rights import (
    ALL_SCOPES,
    ROLE_SCOPES,
    Role,
    Scope,
    given_scopes,
    scopes_from_words,
    usable_scopes,
)
from services.billing.identity.team import MemberLevel, Membership, Origin, Team
from services.billing.identity.user import User, check_email, email_or_none

NOW = datetime(2026, 1, 1, tzinfo=UTC)
roles = st.sampled_from(Role)
scope_sets = st.frozensets(st.sampled_from(Scope))


@given(roles, scope_sets, scope_sets, roles)
def test_a_token_for_the_same_user_never_exceeds_its_maker_whatever_the_role_becomes(
    role: Role, giver: frozenset[Scope], asked: frozenset[Scope], later: Role
) -> None:
    try:
        new = given_scopes(role, giver, role, asked)
    except (ScopeMissingError, InvalidFieldError):
        return
    assert usable_scopes(role, new) <= usable_scopes(role, giver)
    # A token that is not narrowed grows with the role, but only if its maker does, too.
    assert usable_scopes(later, new) <= usable_scopes(later, giver)


@given(roles, scope_sets, roles, scope_sets)
def test_a_token_for_another_user_exceeds_neither_its_maker_nor_that_user(
    maker: Role, giver: frozenset[Scope], owner: Role, asked: frozenset[Scope]
) -> None:
    usable = usable_scopes(maker, giver)
    if Scope.ADMIN not in usable:
        return  # only administrators make tokens for others
    try:
        new = given_scopes(maker, giver, owner, asked)
    except (ScopeMissingError, InvalidFieldError):
        return
    assert usable_scopes(owner, new) <= usable & ROLE_SCOPES[owner]
    assert asked in (frozenset(), new)


@given(roles, scope_sets)
def test_what_is_asked_for_and_may_be_given_is_given(role: Role, giver: frozenset[Scope]) -> None:
    usable = usable_scopes(role, giver)
    for scope in ALL_SCOPES:
        if scope in usable:
            assert given_scopes(role, giver, role, frozenset({scope})) == {scope}
        else:
            with pytest.raises(ScopeMissingError, match=scope):
                given_scopes(role, giver, role, frozenset({scope}))


def test_a_typo_is_refused_with_the_nearest_name() -> None:
    assert scopes_from_words([" Read", "SUBMIT"]) == {Scope.READ, Scope.SUBMIT}
    with pytest.raises(InvalidFieldError, match="the nearest is submit"):
        scopes_from_words(["read", "sumbit"])


def test_an_administrator_gives_a_user_only_what_the_role_has() -> None:
    assert given_scopes(Role.ADMIN, frozenset(), Role.USER, frozenset()) == frozenset()
    with pytest.raises(InvalidFieldError, match="role user may have only read, submit, manage"):
        given_scopes(Role.ADMIN, frozenset(), Role.USER, frozenset({Scope.OPERATE}))
    with pytest.raises(InvalidFieldError, match="role service may have only"):
        given_scopes(Role.ADMIN, frozenset({Scope.ADMIN}), Role.SERVICE, frozenset())


def caller(role: Role = Role.USER, *scopes: Scope, charges: str = "acct_ada", teams: tuple[str, ...] = ()) -> Caller:
    user = User("user_ada", "ada", role, "acct_ada", NOW)
    token = ApiToken("tok_1", user.user_id, charges, "t", "wpt_", NOW, frozenset(scopes))
    return Caller(user, token, "ada", frozenset(teams))


def test_a_teams_token_sees_the_team_alone_and_a_users_own_all_teams() -> None:
    own, teams = caller(teams=("acct_t", "acct_u")), caller(charges="acct_t", teams=("acct_t", "acct_u"))
    assert own.visible_account_ids == {"acct_ada", "acct_t", "acct_u"}
    assert teams.visible_account_ids == {"acct_t"}
    assert (own.may_charge, teams.may_charge, caller(charges="acct_t").may_charge) == (True, True, False)
    assert not own.sees_account("acct_other")
    assert caller(Role.OPERATOR).sees_account("acct_other")
    assert not caller(Role.ADMIN, Scope.READ).sees_account("acct_other")


def test_managers_and_administrators_lead_a_team() -> None:
    members = (Membership("user_ada", "ada", MemberLevel.MANAGER, Origin.HAND),)
    led = Team("team_1", "t", "acct_t", NOW, members)
    followed = Team("team_2", "u", "acct_u", NOW, (Membership("user_ada", "ada", MemberLevel.MEMBER, Origin.HAND),))
    caller().require_lead_of(led)
    caller(Role.ADMIN).require_lead_of(followed)
    for one, team in ((caller(), followed), (caller(Role.OPERATOR), followed), (caller(Role.USER, Scope.READ), led)):
        with pytest.raises(NotAllowedError):
            one.require_lead_of(team)


def test_an_expiry_is_in_the_future() -> None:
    assert check_expiry(None, NOW) is None
    assert check_expiry(NOW + timedelta(seconds=1), NOW)
    for over in (NOW, NOW - timedelta(days=1)):
        with pytest.raises(InvalidFieldError, match="in the future"):
            check_expiry(over, NOW)


@pytest.mark.parametrize("email", ["", "ada@example.org", "a+b@[::1]"])
def test_addresses_are_taken(email: str) -> None:
    assert check_email(email) == email_or_none(email) == email


@pytest.mark.parametrize("email", ["ada", "@", "a b@c", "a@b\n", "a@" + "b" * 254, "a@b\x00"])
def test_what_is_no_address_is_refused(email: str) -> None:
    with pytest.raises(InvalidFieldError, match="email"):
        check_email(email)
    assert email_or_none(email) == ""


@given(st.text())
def test_every_name_at_a_provider_gives_a_legal_one(text: str) -> None:
    assert check_name(name_like(text)) == name_like(text)


def test_a_name_resembles_that_at_the_provider() -> None:
    names = {
        name_like(text) for text in ("Ada.Lovelace@example.org", "ADA LOVELACE", "--ada_lovelace--", "Äda Lovelace")
    }
    assert names == {"ada-lovelace"}
    assert (name_like("愛"), name_like(""), len(name_like("x" * 500))) == ("user", "user", 56)
