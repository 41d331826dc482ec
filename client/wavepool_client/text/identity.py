"""Rows about users, teams, accounts and tokens; pure, and tolerant of missing fields."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from wavepool_client.text.machines import dollars_text
from wavepool_client.text.start_times import time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

Fields = dict[str, Any]

ACCOUNT_COLUMNS = ("name", "id", "owner", "created")
USER_COLUMNS = ("name", "id", "role", "email", "state", "created")
TEAM_COLUMNS = ("name", "id", "account", "created")
MEMBER_COLUMNS = ("member", "level", "from")
KEY_COLUMNS = ("name", "type", "fingerprint", "id", "added")
TOKEN_COLUMNS = ("id", "name", "secret", "user", "charges", "scopes", "state", "created")

CREDIT = {"granted": "granted_usd", "spent": "charged_usd", "held": "held_usd", "available": "available_usd"}


def account_row(account: Fields) -> Sequence[object]:
    """One line of the list of accounts."""
    return (account.get("name"), account.get("id"), owner_text(account), day_text(account.get("create_time")))


def account_rows(account: Fields) -> Sequence[tuple[str, object]]:
    """What is known of one account."""
    names = [("account", account.get("name")), ("id", account.get("id")), ("owner", owner_text(account))]
    return [*names, *((name, dollars_text(account.get(field))) for name, field in CREDIT.items())]


def owner_text(account: Fields) -> str:
    """Whose an account is, for example `team compilers`."""
    return f"{account['owner']} {account.get('owner_name')}" if account.get("owner") else "no owner"


def user_row(user: Fields) -> Sequence[object]:
    """One line of the list of users."""
    return (
        user.get("name"),
        user.get("id"),
        user.get("role"),
        user.get("email"),
        _state(user),
        day_text(user.get("create_time")),
    )


def user_rows(user: Fields) -> Sequence[tuple[str, object]]:
    """What is known of one user."""
    return [
        ("user", user.get("name")),
        ("id", user.get("id")),
        ("role", user.get("role")),
        ("state", _state(user)),
        ("email", user.get("email")),
        ("account", user.get("account_id")),
        ("signs in at", user.get("issuer")),
        ("on GitHub", user.get("github_name")),
        ("created", day_text(user.get("create_time"))),
    ]


def team_row(team: Fields) -> Sequence[object]:
    """One line of the list of teams."""
    return (team.get("name"), team.get("id"), team.get("account_id"), day_text(team.get("create_time")))


def member_rows(team: Fields) -> Sequence[Sequence[object]]:
    """The members of a team."""
    members = cast("list[Fields]", team.get("members") or [])
    return [
        (one.get("user_name"), one.get("level"), "sign-in" if one.get("from_sign_in") else "hand") for one in members
    ]


def token_row(token: Fields, now: datetime) -> Sequence[object]:
    """One line of the list of tokens."""
    return (
        token.get("id"),
        token.get("name"),
        f"{token.get('prefix')}…",
        token.get("user_name"),
        token.get("account_name"),
        ", ".join(cast("list[str]", token.get("scopes") or [])) or "all of the role",
        token_state(token, now),
        day_text(token.get("create_time")),
    )


def key_row(key: Fields) -> Sequence[object]:
    """One line of the list of SSH keys."""
    created = day_text(key.get("create_time"))
    return (key.get("name"), key.get("type"), key.get("fingerprint"), key.get("id"), created)


def token_state(token: Fields, now: datetime) -> str:
    """Whether a token works, and until when."""
    if token.get("revoke_time"):
        return f"revoked {day_text(token['revoke_time'])}"
    end = _instant(token.get("expire_time"))
    if end is None:
        return "works"
    return f"{'expired' if end <= now else 'works until'} {time_text(end)}"


def works(token: Fields, now: datetime) -> bool:
    """True if a token is neither revoked nor expired."""
    end = _instant(token.get("expire_time"))
    return not token.get("revoke_time") and (end is None or end > now)


def day_text(time: object) -> str:
    """The day of an instant; empty if there is none."""
    instant = _instant(time)
    return f"{instant.astimezone():%Y-%m-%d}" if instant else ""


def _state(user: Fields) -> str:
    return f"disabled {day_text(user['disable_time'])}" if user.get("disable_time") else "enabled"


def _instant(time: object) -> datetime | None:
    try:
        instant = datetime.fromisoformat(time) if isinstance(time, str) else None
    except ValueError:
        return None
    return instant.replace(tzinfo=UTC) if instant is not None and instant.tzinfo is None else instant
