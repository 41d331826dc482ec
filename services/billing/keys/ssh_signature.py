"""Proves with a signature of OpenSSH (PROTOCOL.sshsig) that somebody has the private half of a key."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import re
from typing import TYPE_CHECKING

import asyncssh
from asyncssh.packet import PacketDecodeError, SSHPacket, String

from services.billing.errors import InvalidFieldError

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMESPACE = "wavepool"
"""Keeps a signature that was made for something else, such as a commit, from serving here."""
MOST_CHARACTERS = 16_384
_ARMOUR = re.compile(r"-----BEGIN SSH SIGNATURE-----\s(.*)\n-----END SSH SIGNATURE-----", re.DOTALL)
_MAGIC = b"SSHSIG"
_VERSION = 1
_HASHES = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}
_ALGORITHMS = {
    b"ssh-ed25519",
    b"rsa-sha2-256",
    b"rsa-sha2-512",
    b"ecdsa-sha2-nistp256",
    b"ecdsa-sha2-nistp384",
    b"ecdsa-sha2-nistp521",
    b"sk-ssh-ed25519@openssh.com",
    b"sk-ecdsa-sha2-nistp256@openssh.com",
    b"webauthn-sk-ecdsa-sha2-nistp256@openssh.com",
}
"""Those that OpenSSH takes: asyncssh would take RSA with SHA-1 as well."""


async def check_signature(text: str, signature: str, lines: Sequence[str]) -> None:
    """Raises InvalidFieldError unless one of the keys (types and bytes) has signed the text in our namespace."""
    if not signature.startswith("-----BEGIN SSH SIGNATURE-----") or len(signature) > MOST_CHARACTERS:
        raise InvalidFieldError(
            "signature", "is not a signature of `ssh-keygen -Y sign`, which begins with BEGIN SSH SIGNATURE"
        )
    if not await asyncio.to_thread(_is_signed, text, signature, lines):
        rule = (
            f"`ssh-keygen -Y sign -n {NAMESPACE}` must make it from exactly this text, with one of the keys on GitHub"
        )
        raise InvalidFieldError("signature", f"is not right: {rule}. Begin again")


def _is_signed(text: str, signature: str, lines: Sequence[str]) -> bool:
    armoured = _ARMOUR.match(signature)
    try:
        packet = SSHPacket(base64.b64decode("".join(armoured[1].split()), validate=True) if armoured else b"")
        if packet.get_bytes(len(_MAGIC)) != _MAGIC or packet.get_uint32() != _VERSION:
            return False
        public, namespace, reserved, hash_name, signed = (packet.get_string() for _ in range(5))
        packet.check_end()
        algorithm = SSHPacket(signed).get_string()
    except (ValueError, PacketDecodeError):
        return False
    # A certificate has other bytes than the key that it certifies, so it does not count.
    line = next((line for line in lines if base64.b64decode(line.split()[1]) == public), None)
    allowed = namespace == NAMESPACE.encode() and hash_name in _HASHES and algorithm in _ALGORITHMS
    if line is None or not allowed:
        return False
    digest = _HASHES[hash_name](text.encode()).digest()
    data = _MAGIC + String(namespace) + String(reserved) + String(hash_name) + String(digest)
    return asyncssh.import_public_key(line).verify(data, signed)
