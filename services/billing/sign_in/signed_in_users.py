"""The users of people who sign in, as the sign-in needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import timedelta

    from services.billing.config import SignInRole
    from services.billing.identity.api_token import ApiToken


class SignedInUsers(Protocol):
    """Keeps the users of people who sign in."""

    async def sign_in(
        self,
        *,
        issuer: str,
        subject: str,
        preferred_name: str,
        email: str,
        teams: Collection[str],
        role: SignInRole | None,
        lifetime: timedelta,
    ) -> tuple[ApiToken, str]:
        """Finds or adds the user, brings teams and role up to date, and makes a token with its secret.

        Only `issuer` and `subject` together say who somebody is: names and addresses pass from one person to another.
        Without `role`, a known user keeps the role.
        """
        ...
