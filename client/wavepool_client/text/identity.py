"""Rows about users, teams, accounts and tokens; pure, and tolerant of missing fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from wavepool_client.text.columns import Column, Fields, written
from wavepool_client.text.machines import dollars_text
from wavepool_client.text.start_times import time_text

CREDIT = {"granted": "granted_usd", "spent": "charged_usd", "held": "held_usd", "available": "available_usd"}


def account_rows(account: Fields) -> Sequence[tuple[str, object]]:
    """What is known of one account."""
    names = [("account", account.get("name")), ("id", account.get("id")), ("owner", owner_text(account))]
    return [*names, *((name, dollars_text(account.get(field))) for name, field in CREDIT.items())]


def owner_text(account: Fields) -> str:
    """Whose an account is, for example `team compilers`."""
    return f"{account['owner']} {account.get('owner_name')}" if account.get("owner") else "no owner"


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


_CREATED = written("create_time", day_text)
ACCOUNTS: Mapping[str, Column] = {"name": "name", "id": "id", "owner": owner_text, "created": _CREATED}
USERS: Mapping[str, Column] = {
    "name": "name",
    "id": "id",
    "role": "role",
    "email": "email",
    "state": _state,
    "created": _CREATED,
}
TEAMS: Mapping[str, Column] = {"name": "name", "id": "id", "account": "account_id", "created": _CREATED}
MEMBERS: Mapping[str, Column] = {
    "member": "user_name",
    "level": "level",
    "from": lambda member: "sign-in" if member.get("from_sign_in") else "hand",
}
KEYS: Mapping[str, Column] = {
    "name": "name",
    "type": "type",
    "fingerprint": "fingerprint",
    "id": "id",
    "added": _CREATED,
}


def token_columns(now: datetime) -> Mapping[str, Column]:
    """The columns of tokens, with what each is worth at `now`."""
    return {
        "id": "id",
        "name": "name",
        "secret": lambda token: f"{token.get('prefix')}…",
        "user": "user_name",
        "charges": "account_name",
        "scopes": lambda token: ", ".join(token.get("scopes") or []) or "all of the role",
        "state": lambda token: token_state(token, now),
        "created": _CREATED,
    }
