"""Roles, scopes, and what follows from them.

A scope names one kind of action. A user's role has some scopes, and a token may narrow them. A token's scopes are
intersected with the role's each time it is used, so a lowered role narrows all tokens at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from services.billing.errors import InvalidFieldError, ScopeMissingError
from vocabulary.names import none_of


class Role(StrEnum):
    """What a user may do in general."""

    USER = "user"
    OPERATOR = "operator"
    ADMIN = "admin"
    SERVICE = "service"


class Scope(StrEnum):
    """One kind of action."""

    READ = "read"
    """See what the token's accounts have: submissions, credit, prices; and the pool."""
    SUBMIT = "submit"
    """Submit and cancel submissions."""
    MANAGE = "manage"
    """Make, list and revoke one's own tokens, and look after the members of teams that one manages."""
    OPERATE = "operate"
    """Order and end machines, and see what everybody and everything costs."""
    ADMIN = "admin"
    """Manage users, teams, accounts, and tokens of others."""


ALL_SCOPES = frozenset(Scope)
_USER_SCOPES = frozenset({Scope.READ, Scope.SUBMIT, Scope.MANAGE})
ROLE_SCOPES: Mapping[Role, frozenset[Scope]] = {
    Role.SERVICE: frozenset({Scope.READ, Scope.SUBMIT}),
    Role.USER: _USER_SCOPES,
    Role.OPERATOR: _USER_SCOPES | {Scope.OPERATE},
    Role.ADMIN: ALL_SCOPES,
}


def usable_scopes(role: Role, token_scopes: frozenset[Scope]) -> frozenset[Scope]:
    """All that a token may do for a user with this role; a token without scopes of its own is not narrowed."""
    return ROLE_SCOPES[role] & (token_scopes or ALL_SCOPES)


def scopes_from_words(words: Iterable[str]) -> frozenset[Scope]:
    """The scopes with these names; raises InvalidFieldError, with the nearest name, if one is unknown."""
    named = [word.strip().casefold() for word in words]
    for word in named:
        if word not in ALL_SCOPES:
            raise InvalidFieldError("scopes", none_of(word, list(Scope)))
    return frozenset(Scope(word) for word in named)


def given_scopes(giver: Role, giver_token: frozenset[Scope], owner: Role, asked: frozenset[Scope]) -> frozenset[Scope]:
    """The scopes of a new token for a user with the role `owner`.

    `giver` is the role of the user who makes it, and `giver_token` has the scopes of the token that this is done with.
    Without `asked`, the new token may do all that this token may; the result is empty only if this token is not
    narrowed either. Raises ScopeMissingError if the giver lacks an asked scope, and InvalidFieldError if the owner's
    role lacks one.
    """
    usable = usable_scopes(giver, giver_token)
    for scope in sorted(asked - usable):
        raise ScopeMissingError(scope, words_of(usable))
    if not asked and not giver_token:
        return frozenset()
    possible = ROLE_SCOPES[owner]
    wanted = asked or usable & possible
    if not wanted or not wanted <= possible:
        raise InvalidFieldError("scopes", f"a user with the role {owner} may have only {words_of(possible)}")
    return wanted


def words_of(scopes: Iterable[str]) -> str:
    """The names of scopes for people, in the order of the vocabulary."""
    known = set(scopes)
    return ", ".join(scope for scope in Scope if scope in known) or "none"
