"""Decides about the mails that callers want about the ends of their submissions and reservations."""

from __future__ import annotations

from services.billing.alerts.channels.mail import mail_address
from services.billing.errors import NoAddressError, NotAllowedError, NoticesOffError
from services.billing.identity.caller import Caller
from services.billing.identity.rights import Role, Scope
from services.billing.identity.user import Notify, User
from services.billing.service.own_user import own_user
from services.billing.store.user_store import UserStore

_WHAT = "Mails about ends"


class NoticeOrders:
    """Shows and sets users' choices, as far as callers may; `available` if there is a mail server."""

    def __init__(self, users: UserStore, *, available: bool) -> None:
        self._users = users
        self.available = available

    async def get(self, caller: Caller, user: str) -> User:
        """A user, or the caller if `user` is empty."""
        return await own_user(self._users, caller, user, Scope.READ, _WHAT)

    async def set(self, caller: Caller, user: str, notify: Notify) -> User:
        """The same user after the choice; raises NoticesOffError and NoAddressError if no mail could be sent."""
        person = await own_user(self._users, caller, user, Scope.MANAGE, _WHAT)
        if notify is not Notify.NEVER:
            self._check_reachable(person)
        return await self._users.set_notify(person.user_id, notify)

    def _check_reachable(self, person: User) -> None:
        if person.role is Role.SERVICE:
            raise NotAllowedError(f"User {person.name!r} has the role service. Only people are mailed, not programs.")
        if not self.available:
            raise NoticesOffError
        try:
            mail_address(person.email)
        except ValueError:
            raise NoAddressError(person.name) from None
