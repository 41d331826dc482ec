"""Finds the reservation that a person means: by id, by its beginning, by name, or as the only one that fits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wavepool_client.errors import InputError, NotFoundError
from wavepool_client.text.reservations import PREFIX, choice_text, host_name

Fields = dict[str, Any]

LEAST_CHARACTERS = 4
WHOLE_ID_CHARACTERS = len(PREFIX) + 26


class SeveralError(InputError):
    """Several reservations fit; `choices` has them."""

    def __init__(self, message: str, choices: Sequence[Fields]) -> None:
        self.choices = list(choices)
        super().__init__("\n".join([message, *(f"  {choice_text(one)}" for one in self.choices)]))


def is_reservation(text: str) -> bool:
    """True for what can only be a reservation's id; a submission's begins otherwise."""
    return text.startswith(PREFIX)


def is_whole_id(text: str) -> bool:
    """True for an id that needs no looking up."""
    return is_reservation(text) and len(text) == WHOLE_ID_CHARACTERS


def chosen(text: str, found: Sequence[Fields]) -> Fields:
    """The one of `found` that `text` names.

    Raises NotFoundError if there is none, and SeveralError if there are several.
    """
    code = text.removeprefix(PREFIX).upper()
    for fitting in (
        [one for one in found if one.get("id") == text],
        [one for one in found if one.get("name") == text],
        [one for one in found if host_name(str(one.get("id") or "")) == text],
        [one for one in found if _code(one).startswith(code)] if len(code) >= LEAST_CHARACTERS else [],
    ):
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise SeveralError(f"{text!r} fits {len(fitting)} reservations; give more of the id:", fitting)
    hint = f"; the beginning of an id has at least {LEAST_CHARACTERS} characters"
    raise NotFoundError(
        f"there is no reservation {text!r}{'' if len(code) >= LEAST_CHARACTERS else hint}; "
        "`wavepool reservations` lists yours"
    )


def only_one(found: Sequence[Fields], what: str) -> Fields:
    """The only one of `found`, which are those in the state `what`.

    Raises NotFoundError if there is none, and SeveralError if there are several.
    """
    if len(found) == 1:
        return found[0]
    if not found:
        raise NotFoundError(f"you have no {what} reservation; `wavepool reserve` makes one")
    raise SeveralError(f"you have {len(found)} {what} reservations; give the id of one:", found)


def _code(one: Fields) -> str:
    return str(one.get("id") or "").removeprefix(PREFIX)
