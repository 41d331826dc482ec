"""Lists of public SSH keys, one a line, as files and GitHub have them."""

from __future__ import annotations

from vocabulary.ssh_keys import TYPES, KeyFault, key_line

MOST_BYTES = 256 * 1024
"""Of one list; 600 large RSA keys."""
_KNOWN = (*TYPES, "ssh-dss")


def keys_in(text: str, place: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The keys in a list (type and bytes, each once), and a sentence about each line that is left out.

    One that is too old or too weak must not keep its owner out, who has another.
    """
    lines: list[str] = []
    notes: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            lines.append(key_line(line))
        except KeyFault as fault:
            notes.append(f"{place}: the key in line {number} is left out: it {fault}")
    return tuple(dict.fromkeys(lines)), tuple(notes)


def is_key_list(text: str) -> bool:
    """False for what is no list of keys, good or bad, such as a web page; an empty one is a list."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return not lines or any(kind in line for line in lines for kind in _KNOWN)
