"""The user and the token behind a request, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass

from services.billing.errors import NotAllowedError, ScopeMissingError
from services.billing.identity.api_token import ApiToken
from services.billing.identity.rights import Scope, usable_scopes, words_of
from services.billing.identity.team import MemberLevel, Team
from services.billing.identity.user import User


@dataclass(frozen=True)
class Caller:
    """A user with the token of a request.

    `team_account_ids` are the accounts of the user's teams, and `led_account_ids` those of teams that the user manages.
    """

    user: User
    token: ApiToken
    account_name: str
    """The name of the account that the token charges."""
    team_account_ids: frozenset[str] = frozenset()
    led_account_ids: frozenset[str] = frozenset()

    @property
    def scopes(self) -> frozenset[Scope]:
        """All that the token may do: what both its own scopes and the user's role allow."""
        return usable_scopes(self.user.role, self.token.scopes)

    @property
    def charges_own_account(self) -> bool:
        """True if the token charges the user's own account, and not a team's."""
        return self.token.account_id == self.user.account_id

    @property
    def may_charge(self) -> bool:
        """True if the user may still charge the token's account; False once the user has left the team."""
        return self.charges_own_account or self.token.account_id in self.team_account_ids

    @property
    def visible_account_ids(self) -> frozenset[str]:
        """The accounts whose jobs and credit the token may see.

        A token that charges a team sees this team alone: sharing it in the team shares nothing else.
        """
        own = frozenset({self.token.account_id})
        return own | self.team_account_ids if self.charges_own_account else own

    @property
    def managed_account_ids(self) -> frozenset[str]:
        """Those of the visible accounts whose team the token may manage."""
        return self.led_account_ids & self.visible_account_ids if Scope.MANAGE in self.scopes else frozenset()

    @property
    def sees_everything(self) -> bool:
        """True if the caller may see all users, teams and accounts."""
        return bool(self.scopes & {Scope.OPERATE, Scope.ADMIN})

    def require(self, scope: Scope) -> None:
        """Raises ScopeMissingError if the token may not do this kind of thing."""
        if scope not in self.scopes:
            raise ScopeMissingError(scope, words_of(self.scopes))

    def require_charge_of(self, user_id: str) -> None:
        """Raises ScopeMissingError unless the caller may change the tokens of this user."""
        self.require(Scope.MANAGE if user_id == self.user.user_id else Scope.ADMIN)

    def require_lead_of(self, team: Team) -> None:
        """Raises NotAllowedError unless the caller may change the members of this team."""
        if Scope.ADMIN in self.scopes:
            return
        if team.level_of(self.user.user_id) is not MemberLevel.MANAGER:
            raise NotAllowedError(f"Only managers of team {team.name!r} and administrators may do this.")
        self.require(Scope.MANAGE)

    def holds(self, token: ApiToken) -> bool:
        """True if a token is the user's own; for a token that charges a team, only if both charge the same."""
        is_own = token.user_id == self.user.user_id
        return is_own and (self.charges_own_account or token.account_id == self.token.account_id)

    def sees_account(self, account_id: str) -> bool:
        """True if the caller may see this account, its jobs and its team."""
        return self.sees_everything or account_id in self.visible_account_ids
