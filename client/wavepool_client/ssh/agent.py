"""The person's own ssh-agent: which keys it has, and what it signs with them.

Its protocol is small (draft-ietf-sshm-ssh-agent): a length, a number for what is asked or answered, and strings with
their lengths.
"""

from __future__ import annotations

import os
import socket

ANSWER_SECONDS = 5
_LIST, _LISTED = 11, 12
_SIGN, _SIGNED = 13, 14
_RSA_SHA2_512 = 4


def string(value: bytes) -> bytes:
    """A string as SSH writes it (RFC 4251, 5)."""
    return len(value).to_bytes(4, "big") + value


def strings(blob: bytes) -> list[bytes]:
    """The strings that lie one after another in `blob`."""
    found: list[bytes] = []
    while blob:
        size = int.from_bytes(blob[:4], "big")
        found.append(blob[4 : 4 + size])
        blob = blob[4 + size :]
    return found


def agent_keys() -> list[tuple[bytes, str]]:
    """The public keys that the agent has, with their comments; none if there is no agent, or it does not answer."""
    try:
        listed = _asked(_LIST, b"", _LISTED, ANSWER_SECONDS)
    except OSError:
        return []
    fields = strings(listed[4:])
    return [(key, comment.decode(errors="replace")) for key, comment in zip(fields[::2], fields[1::2], strict=False)]


def agent_signature(key: bytes, data: bytes) -> bytes:
    """The agent's signature of `data` with a key that it has; the person may have to confirm it. Raises OSError."""
    asked = string(key) + string(data) + _RSA_SHA2_512.to_bytes(4, "big")
    return strings(_asked(_SIGN, asked, _SIGNED, None))[0]


def _asked(question: int, body: bytes, expected: int, seconds: float | None) -> bytes:
    path = os.environ.get("SSH_AUTH_SOCK")
    if not path:
        raise OSError("there is no agent (SSH_AUTH_SOCK)")
    with socket.socket(socket.AF_UNIX) as agent:
        agent.settimeout(seconds)
        agent.connect(path)
        agent.sendall(string(bytes([question]) + body))
        with agent.makefile("rb") as answers:
            answer = answers.read(int.from_bytes(answers.read(4), "big"))
    if answer[:1] != bytes([expected]):
        raise OSError("the agent refused")
    return answer[1:]
