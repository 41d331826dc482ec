"""Converts IdentityService's proto messages to and from billing's own types."""

from __future__ import annotations

from datetime import UTC, datetime

from google.protobuf.timestamp_pb2 import Timestamp
from wavepool.billing.v1 import identity_pb2 as pb

from servicekit.rpc.proto_time import instant_to_proto
from services.billing.errors import InvalidFieldError
from services.billing.identity.account import OwnedAccount, OwnerKind
from services.billing.identity.caller import Caller
from services.billing.identity.rights import Role, Scope
from services.billing.identity.ssh_key import SshKey, fingerprint_of
from services.billing.identity.team import MemberLevel, Origin, Team
from services.billing.identity.user import Notify, ProfileVisibility, User
from services.billing.keys.key_resolver import Resolved
from services.billing.store.token_store import ListedToken

MAX_REFERENCE_CHARACTERS = 100
"""Longer than any id and any name."""

_ROLES = {one: pb.Role.Value(f"ROLE_{one.name}") for one in Role}
_ROLES_BY_NUMBER: dict[int, Role] = {number: role for role, number in _ROLES.items()}
_LEVELS = {one: pb.MemberLevel.Value(f"MEMBER_LEVEL_{one.name}") for one in MemberLevel}
_LEVELS_BY_NUMBER: dict[int, MemberLevel] = {number: level for level, number in _LEVELS.items()}
_NOTIFY = {one: pb.Notify.Value(f"NOTIFY_{one.name}") for one in Notify}
_NOTIFY_BY_NUMBER: dict[int, Notify] = {number: notify for notify, number in _NOTIFY.items()}
_PROFILES = {one: pb.ProfileVisibility.Value(f"PROFILE_VISIBILITY_{one.name}") for one in ProfileVisibility}
_PROFILES_BY_NUMBER: dict[int, ProfileVisibility] = {number: one for one, number in _PROFILES.items()}
_OWNERS = {
    None: pb.ACCOUNT_OWNER_UNSPECIFIED,
    OwnerKind.USER: pb.ACCOUNT_OWNER_USER,
    OwnerKind.TEAM: pb.ACCOUNT_OWNER_TEAM,
}


def caller_to_proto(caller: Caller) -> pb.AuthenticateTokenResponse:
    """The user and the rights of a token as a proto."""
    return pb.AuthenticateTokenResponse(
        user_id=caller.user.user_id,
        user_name=caller.user.name,
        role=_ROLES[caller.user.role],
        account_id=caller.token.account_id,
        account_name=caller.account_name,
        token_id=caller.token.token_id,
        scopes=[scope for scope in Scope if scope in caller.scopes],
        expire_time=instant_to_proto(caller.token.expire_time),
        admin=Scope.ADMIN in caller.scopes,
        visible_account_ids=sorted(caller.visible_account_ids),
        managed_account_ids=sorted(caller.managed_account_ids),
    )


def role_from_proto(number: int) -> Role | None:
    """The role with this number, None if it is not set; raises InvalidFieldError for an unknown one."""
    if number and number not in _ROLES_BY_NUMBER:
        raise InvalidFieldError("role", f"must be one of {', '.join(Role)}")
    return _ROLES_BY_NUMBER.get(number)


def role_to_proto(user: User) -> pb.Role.ValueType:
    """The user's role as a proto; a disabled user has none."""
    return pb.ROLE_UNSPECIFIED if user.disable_time else _ROLES[user.role]


def level_from_proto(number: int) -> MemberLevel:
    """The level with this number, MEMBER if it is not set; raises InvalidFieldError for an unknown one."""
    if number and number not in _LEVELS_BY_NUMBER:
        raise InvalidFieldError("level", f"must be one of {', '.join(MemberLevel)}")
    return _LEVELS_BY_NUMBER.get(number, MemberLevel.MEMBER)


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


def user_to_proto(user: User) -> pb.User:
    """A user as a proto."""
    return pb.User(
        user_id=user.user_id,
        name=user.name,
        email=user.email,
        role=_ROLES[user.role],
        account_id=user.account_id,
        create_time=instant_to_proto(user.create_time),
        disable_time=instant_to_proto(user.disable_time),
        issuer=user.issuer,
        subject=user.subject,
        github_name=user.github_name,
    )


def notify_from_proto(number: int) -> Notify:
    """The choice with this number; raises InvalidFieldError for none and for an unknown one."""
    if number not in _NOTIFY_BY_NUMBER:
        raise InvalidFieldError("notify", f"must be one of {', '.join(Notify)}")
    return _NOTIFY_BY_NUMBER[number]


def notices_to_proto(user: User, *, available: bool) -> pb.Notices:
    """When and where a user is mailed, as a proto."""
    return pb.Notices(notify=_NOTIFY[user.notify], email=user.email, available=available)


def profile_from_proto(number: int) -> ProfileVisibility:
    """The choice with this number; raises InvalidFieldError for none and for an unknown one."""
    if number not in _PROFILES_BY_NUMBER:
        raise InvalidFieldError("visibility", f"must be one of {', '.join(ProfileVisibility)}")
    return _PROFILES_BY_NUMBER[number]


def profile_to_proto(user: User) -> pb.Profile:
    """A user's profile as a proto."""
    return pb.Profile(user_id=user.user_id, name=user.name, visibility=_PROFILES[user.profile])


def team_to_proto(team: Team) -> pb.Team:
    """A team with its members as a proto."""
    members = [
        pb.TeamMember(
            user_id=member.user_id,
            user_name=member.user_name,
            level=_LEVELS[member.level],
            from_sign_in=member.origin is Origin.SIGN_IN,
        )
        for member in team.members
    ]
    return pb.Team(
        team_id=team.team_id,
        name=team.name,
        account_id=team.account_id,
        create_time=instant_to_proto(team.create_time),
        members=members,
    )


def account_to_proto(account: OwnedAccount) -> pb.Account:
    """An account with its owner as a proto."""
    return pb.Account(
        account_id=account.account_id,
        name=account.name,
        create_time=instant_to_proto(account.create_time),
        owner=_OWNERS[account.owner],
        owner_id=account.owner_id,
        owner_name=account.owner_name,
    )


def key_to_proto(key: SshKey) -> pb.Key:
    """A public key as a proto."""
    return pb.Key(
        key_id=key.key_id,
        user_id=key.user_id,
        name=key.name,
        type=key.type,
        fingerprint=key.fingerprint,
        create_time=instant_to_proto(key.create_time),
    )


def resolved_to_proto(resolved: Resolved) -> pb.ResolveKeysResponse:
    """A person's keys as a proto."""
    keys = [
        pb.ResolvedKey(public_key=key.line, fingerprint=fingerprint_of(key.line), origin=key.origin)
        for key in resolved.keys
    ]
    return pb.ResolveKeysResponse(user=resolved.name, user_id=resolved.user_id, keys=keys, notes=resolved.notes)


def token_to_proto(listed: ListedToken) -> pb.Token:
    """A token as a proto, without its secret."""
    token = listed.token
    return pb.Token(
        token_id=token.token_id,
        name=token.name,
        create_time=instant_to_proto(token.create_time),
        revoke_time=instant_to_proto(token.revoke_time),
        prefix=token.prefix,
        user_id=token.user_id,
        user_name=listed.user_name,
        account_id=token.account_id,
        account_name=listed.account_name,
        scopes=[scope for scope in Scope if scope in token.scopes],
        expire_time=instant_to_proto(token.expire_time),
    )
