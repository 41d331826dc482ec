"""What people may do with each other's jobs, reservations and disks; pure, and decided here alone."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum


class Right(StrEnum):
    """One kind of act."""

    SEE = "see"
    END = "end"
    CHANGE = "change"
    """Its name, its time and who may log in; texts to its terminals."""
    ENTER = "enter"
    """Give a key to oneself or to others. Nobody logs in without one, whatever their rights."""


class Standing(StrEnum):
    """What somebody is to a thing."""

    OWNER = "owner"
    EDITOR = "editor"
    """Whom the owner lets change it."""
    OPERATOR = "operator"
    MANAGER = "manager"
    """Of the team that it is charged to."""
    MEMBER = "member"
    """Sees the account that it is charged to."""


@dataclass(frozen=True)
class Asker:
    """Who asks: sees what is charged to `account_ids`, or as an operator all if that is empty."""

    user_id: str
    account_ids: Collection[str]
    managed_account_ids: Collection[str] = ()


@dataclass(frozen=True)
class Belonging:
    """Whose a thing is. `account_id` is empty for a disk, which no team shares."""

    owner_id: str
    account_id: str = ""
    editor_ids: Collection[str] = ()
    is_personal: bool = False
    """It holds what is its owner's alone: a disk."""


_ALL = frozenset(Right)
_SHARED = frozenset({Right.SEE, Right.END})
_RIGHTS: Mapping[Standing, frozenset[Right]] = {
    Standing.OWNER: _ALL,
    Standing.EDITOR: _ALL,
    Standing.OPERATOR: _ALL,
    Standing.MANAGER: _ALL,
    Standing.MEMBER: _SHARED,
}


def standing_of(asker: Asker, thing: Belonging) -> Standing | None:
    """The standing that gives the most; None for others, who are not to learn that the thing exists."""
    if asker.account_ids and thing.account_id and thing.account_id not in asker.account_ids:
        return None
    if asker.user_id and asker.user_id == thing.owner_id:
        return Standing.OWNER
    if asker.user_id and asker.user_id in thing.editor_ids:
        return Standing.EDITOR
    if not asker.account_ids:
        return Standing.OPERATOR
    if not thing.account_id:
        return None
    return Standing.MANAGER if thing.account_id in asker.managed_account_ids else Standing.MEMBER


def may(right: Right, standing: Standing, thing: Belonging) -> bool:
    """True if somebody of this standing has the right."""
    is_kept_from = thing.is_personal and standing is Standing.MANAGER
    return right in (_SHARED if is_kept_from else _RIGHTS[standing])
