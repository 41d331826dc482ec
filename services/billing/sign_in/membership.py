"""Makes a user of an ID token's claims: name, e-mail address, teams and role. No I/O."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, get_args

from services.billing.config import SignInRole
from services.billing.errors import NotAdmittedError
from services.billing.sign_in.id_token import InvalidIdTokenError

if TYPE_CHECKING:
    from collections.abc import Mapping

ROLES: tuple[SignInRole, ...] = get_args(SignInRole)
"""From the fewest rights to the most."""


@dataclass(frozen=True)
class Membership:
    """A person as the identity provider describes them.

    `email` is empty unless the provider has verified it. `role` is None if the operator leaves roles to Wavepool.
    """

    subject: str
    preferred_name: str
    email: str
    teams: tuple[str, ...]
    role: SignInRole | None


@dataclass(frozen=True)
class MembershipRules:
    """What the operator makes of the provider's groups. An empty `admitted_…` admits everybody."""

    groups_claim: str
    teams: Mapping[str, str]
    roles: Mapping[str, SignInRole]
    admitted_groups: tuple[str, ...] = ()
    admitted_email_domains: tuple[str, ...] = ()

    def membership(self, claims: Mapping[str, Any]) -> Membership:
        """The person of verified claims; raises NotAdmittedError, or InvalidIdTokenError if the groups are no names."""
        groups = self._groups(claims)
        roles: list[SignInRole] = [ROLES[0], *(self.roles[group] for group in groups if group in self.roles)]
        email = str(claims.get("email", "")) if claims.get("email_verified") is True else ""
        self._admit(groups, email)
        return Membership(
            subject=claims["sub"],
            preferred_name=_preferred_name(claims),
            email=email,
            teams=tuple(sorted({self.teams[group] for group in groups if group in self.teams})),
            role=ROLES[max(map(ROLES.index, roles))] if self.roles else None,
        )

    def _admit(self, groups: tuple[str, ...], email: str) -> None:
        if self.admitted_groups and not set(groups) & set(self.admitted_groups):
            raise NotAdmittedError("you are not in a group that may use this Wavepool")
        domains = self.admitted_email_domains
        if domains and not email.lower().endswith(tuple(f"@{domain.lower()}" for domain in domains)):
            raise NotAdmittedError(f"you need a verified e-mail address at {' or '.join(domains)}")

    def _groups(self, claims: Mapping[str, Any]) -> tuple[str, ...]:
        value = _found(claims, self.groups_claim)
        names = cast("list[object]", value) if isinstance(value, list) else [value] if value else []
        if not all(isinstance(name, str) for name in names):
            raise InvalidIdTokenError(
                f"its claim {self.groups_claim!r} is not a list of names; ask the operator to correct it"
            )
        return tuple(cast("list[str]", names))


def _found(claims: Mapping[str, Any], name: str) -> object:
    """The claim of this name, or the one that the name leads to, as `realm_access.roles` does."""
    if name in claims:
        return claims[name]
    value: object = claims
    for part in name.split("."):
        value = cast("Mapping[str, object]", value).get(part) if isinstance(value, dict) else None
    return value


def _preferred_name(claims: Mapping[str, Any]) -> str:
    email = str(claims.get("email", ""))
    choices = (claims.get("preferred_username"), email.partition("@")[0], claims.get("name"), claims["sub"])
    return next(str(choice) for choice in choices if choice)
