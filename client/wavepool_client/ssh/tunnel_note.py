"""What ssh's proxy tells the command that started ssh: ssh itself tells nobody why a connection has ended."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

NOTE = "WAVEPOOL_TUNNEL_NOTE"
"""The variable with the file's name. Without it the proxy says by itself what there is to say."""


@dataclass(frozen=True)
class TunnelNote:
    """The end of a tunnel: in words, if it `is_lost` after it was open, and if another try may go better."""

    text: str = ""
    is_lost: bool = False
    may_return: bool = False

    def leave(self) -> bool:
        """Writes the note; False if nobody asks for it."""
        if not (file := os.environ.get(NOTE)):
            return False
        with suppress(OSError):
            Path(file).write_text(json.dumps(asdict(self)), encoding="utf-8")
            return True
        return False


def note_in(file: Path) -> TunnelNote:
    """The note that was left; an empty one if there is none."""
    try:
        return TunnelNote(**json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return TunnelNote()
