"""The person behind a call, for the audit log; carried as the request id is."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import asdict, dataclass

import orjson

METADATA_KEY = "wavepool-actor-bin"


@dataclass(frozen=True)
class Actor:
    """Who acts, and from where."""

    user_id: str = ""
    user_name: str = ""
    token_id: str = ""
    address: str = ""

    def metadata(self) -> tuple[str, bytes]:
        """The pair that a call carries. A service believes it only of the gateway, or of another process of its own."""
        return METADATA_KEY, orjson.dumps(asdict(self))

    @classmethod
    def of_metadata(cls, value: bytes) -> Actor:
        """Reads what `metadata` wrote."""
        return cls(**orjson.loads(value))


_actor: ContextVar[Actor | None] = ContextVar("actor", default=None)
_before: ContextVar[list[object] | None] = ContextVar("before", default=None)


def current_actor() -> Actor | None:
    """The person behind the call that is being answered; None if there is none."""
    return _actor.get()


def set_actor(actor: Actor | None) -> None:
    """Takes note of the person."""
    _actor.set(actor)


def place_after(time_us: int, act_id: str) -> str:
    """The token of the page after an act, in the list of any service or of all; its time in microseconds since 1970."""
    return f"{time_us}_{act_id}"


def noting_before() -> list[object]:
    """Begins to take note of what the call changes; gives the notes, which fill up until it is answered."""
    notes: list[object] = []
    _before.set(notes)
    return notes


def note_before(*changed: object) -> None:
    """Tells the audit log what was there before the change that is being made: records, or values by name."""
    notes = _before.get()
    if notes is not None:
        notes.extend(changed)
