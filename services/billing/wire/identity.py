"""Converts IdentityService's proto messages to and from billing's own types."""

from __future__ import annotations

from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.billing.v1 import identity_pb2 as pb

from servicekit.rpc.proto_of import proto_of
from services.billing.errors import InvalidFieldError
from services.billing.identity.caller import Caller
from services.billing.identity.rights import Role, Scope
from services.billing.identity.ssh_key import fingerprint_of
from services.billing.identity.team import Origin, Team
from services.billing.identity.user import User
from services.billing.keys.key_resolver import Resolved
from services.billing.store.token_store import ListedToken
from services.billing.wire.fields import member_from_proto

MAX_REFERENCE_CHARACTERS = 100
"""Longer than any id and any name."""


def caller_to_proto(caller: Caller) -> pb.AuthenticateTokenResponse:
    """The user and the rights of a token as a proto."""
    return proto_of(
        pb.AuthenticateTokenResponse,
        caller,
        caller.token,
        caller.user,
        user_name=caller.user.name,
        scopes=[scope for scope in Scope if scope in caller.scopes],
        admin=Scope.ADMIN in caller.scopes,
        visible_account_ids=sorted(caller.visible_account_ids),
        managed_account_ids=sorted(caller.managed_account_ids),
    )


def role_from_proto(number: int) -> Role | None:
    """The role with this number, None if it is not set; raises InvalidFieldError for an unknown one."""
    return member_from_proto("role", number, pb.Role, Role) if number else None


def reference_from_proto(field: str, text: str) -> str:
    """The id or name that a request gives; raises InvalidFieldError if it can be neither."""
    if len(text) > MAX_REFERENCE_CHARACTERS or not text.isprintable():
        raise InvalidFieldError(field, "is neither an id nor a name")
    return text


def expiry_from_proto(expire_time: Timestamp) -> datetime:
    """An instant; raises InvalidFieldError if it is out of range."""
    try:
        return expire_time.ToDatetime(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidFieldError("expire_time", "must be a date before the year 10000") from error


def notices_to_proto(user: User, *, available: bool) -> pb.Notices:
    """When and where a user is mailed, as a proto."""
    return proto_of(pb.Notices, user, available=available)


def profile_to_proto(user: User) -> pb.Profile:
    """A user's profile as a proto."""
    return proto_of(pb.Profile, user, visibility=user.profile)


def team_to_proto(team: Team) -> pb.Team:
    """A team with its members as a proto."""
    members = [proto_of(pb.TeamMember, one, from_sign_in=one.origin is Origin.SIGN_IN) for one in team.members]
    return proto_of(pb.Team, team, members=members)


def resolved_to_proto(resolved: Resolved) -> pb.ResolveKeysResponse:
    """A person's keys as a proto."""
    keys = [
        proto_of(pb.ResolvedKey, key, public_key=key.line, fingerprint=fingerprint_of(key.line))
        for key in resolved.keys
    ]
    return proto_of(pb.ResolveKeysResponse, resolved, user=resolved.name, keys=keys)


def token_to_proto(listed: ListedToken) -> pb.Token:
    """A token as a proto, without its secret."""
    scopes = [scope for scope in Scope if scope in listed.token.scopes]
    return proto_of(pb.Token, listed.token, listed, scopes=scopes)
