from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from services.billing.errors import NotAdmittedError
from services.billing.sign_in.id_token import InvalidIdTokenError
from services.billing.sign_in.membership import MembershipRules

RULES = MembershipRules(
    groups_claim="groups",
    teams={"gpu-users": "research", "lab": "research", "ops": "platform"},
    roles={"ops": "operator", "gpu-admins": "admin", "everybody": "user"},
)


def test_groups_become_teams_and_the_role_with_the_most_rights() -> None:
    person = RULES.membership({"sub": "u1", "groups": ["ops", "gpu-users", "lab", "gpu-admins", "everybody", "choir"]})
    assert (person.teams, person.role) == (("platform", "research"), "admin")


@pytest.mark.parametrize("groups", [[], None, "", ["choir"], ["GPU-ADMINS"], ["gpu-admins "]])
def test_without_a_group_that_the_operator_names_nobody_has_more_than_the_role_of_a_user(groups: Any) -> None:
    person = RULES.membership({"sub": "u1", "groups": groups})
    assert (person.teams, person.role) == ((), "user")


def test_without_rules_groups_mean_nothing() -> None:
    person = MembershipRules("groups", {}, {}).membership({"sub": "u1", "groups": ["admin", "gpu-admins"]})
    assert (person.teams, person.role) == ((), None)


def test_one_group_may_be_a_text() -> None:
    assert RULES.membership({"sub": "u1", "groups": "ops"}).teams == ("platform",)


@pytest.mark.parametrize("groups", [7, True, {"ops": True}, [["ops"]], ["ops", None]])
def test_groups_that_are_no_names_are_refused(groups: Any) -> None:
    with pytest.raises(InvalidIdTokenError, match="not a list of names; ask the operator"):
        RULES.membership({"sub": "u1", "groups": groups})


@pytest.mark.parametrize("claim", ["https://example.org/groups", "realm_access.roles"])
def test_the_claim_may_have_dots_in_its_name_or_lie_in_an_object(claim: str) -> None:
    rules = replace(RULES, groups_claim=claim)
    claims = {"https://example.org/groups": ["ops"], "realm_access": {"roles": ["ops"]}}
    assert rules.membership({"sub": "u1", **claims}).role == "operator"
    assert rules.membership({"sub": "u1", "realm_access": "ops"}).role == "user"


@pytest.mark.parametrize(
    ("claims", "name"),
    [
        ({"preferred_username": "ada", "email": "a@example.org", "name": "Ada L."}, "ada"),
        ({"email": "a@example.org", "name": "Ada L."}, "a"),
        ({"name": "Ada L."}, "Ada L."),
        ({}, "u1"),
    ],
)
def test_the_name_is_the_first_that_the_provider_has(claims: dict[str, str], name: str) -> None:
    assert RULES.membership({"sub": "u1", **claims}).preferred_name == name


@pytest.mark.parametrize("verified", [False, None, "true", 1])
def test_an_address_counts_only_if_the_provider_has_verified_it(verified: Any) -> None:
    rules = replace(RULES, admitted_email_domains=("example.org",))
    claims = {"sub": "u1", "email": "ada@Example.org"}
    assert rules.membership({**claims, "email_verified": True}).email == "ada@Example.org"
    with pytest.raises(NotAdmittedError, match="verified e-mail address"):
        rules.membership({**claims, "email_verified": verified})


@pytest.mark.parametrize("address", ["ada@evil-example.org", "ada@example.org.evil.net", "example.org", "", "@"])
def test_other_domains_are_not_admitted(address: str) -> None:
    rules = replace(RULES, admitted_email_domains=("example.org",))
    with pytest.raises(NotAdmittedError):
        rules.membership({"sub": "u1", "email": address, "email_verified": True})


def test_only_members_of_the_named_groups_are_admitted() -> None:
    rules = replace(RULES, admitted_groups=("gpu-users", "ops"))
    assert rules.membership({"sub": "u1", "groups": ["ops"]}).role == "operator"
    with pytest.raises(NotAdmittedError, match="not in a group"):
        rules.membership({"sub": "u1", "groups": ["choir"]})
