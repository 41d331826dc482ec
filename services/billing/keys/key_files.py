"""The keys that an operator keeps in a folder of files."""

from __future__ import annotations

import asyncio
from pathlib import Path

from services.billing.errors import KeySourceAwayError, NoKeysError
from services.billing.identity.key_list import MOST_BYTES, keys_in
from services.billing.identity.user import User
from services.billing.keys.key_source import Found


class KeyFiles:
    """A KeySource of files `<user>.keys` in one folder, which are read again for each reservation."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def keys_of(self, user: User) -> Found | None:
        """The keys in the user's file; None if there is no file."""
        # The names of users have no characters but a-z, 0-9 and "-".
        file = self._folder / f"{user.name}.keys"
        try:
            text = await asyncio.to_thread(_text_of, file)
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise KeySourceAwayError(file.name, getattr(error, "strerror", "") or "it is not UTF-8") from error
        lines, notes = keys_in(text, file.name)
        if not lines:
            why = f": {notes[0]}" if notes else ""
            raise NoKeysError(f"{file.name} has no key{why}. Ask the operator, or use `wavepool keys add`.")
        return Found(file.name, lines, notes)


def _text_of(file: Path) -> str:
    with file.open("rb") as opened:
        text = opened.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise OSError(0, f"it has more than {MOST_BYTES} bytes")
    return text.decode()
