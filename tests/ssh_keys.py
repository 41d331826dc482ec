"""Fresh key pairs for SSH, made without OpenSSH, and a stand-in for its agent."""

from __future__ import annotations

import socketserver
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import asyncssh
from asyncssh.packet import SSHPacket, String, UInt32

from vocabulary.ssh_keys import Key

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass(frozen=True)
class Pair:
    """A key pair; `line` is the public key with its comment, `plain` without."""

    line: str
    plain: str
    private: str

    @property
    def fingerprint(self) -> str:
        return Key("", self.plain).fingerprint

    @cached_property
    def key(self) -> asyncssh.SSHKey:
        return asyncssh.import_private_key(self.private)

    def keep(self, file: Path) -> Pair:
        """Writes `file`, which only its owner may read, and `file`.pub."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(0o600)
        file.write_text(self.private)
        file.with_name(f"{file.name}.pub").write_text(f"{self.line}\n")
        return self


def new_key(comment: str = "test", kind: str = "ssh-ed25519", **size: int) -> Pair:
    """A pair in the forms of OpenSSH's files."""
    made: asyncssh.SSHKey = asyncssh.generate_private_key(kind, comment, **size)
    line = made.export_public_key().decode().strip()
    return Pair(line, " ".join(line.split()[:2]), made.export_private_key().decode())


@contextmanager
def running_agent(path: Path, *pairs: Pair, signs: bool = True) -> Iterator[None]:
    """Answers on a socket as ssh-agent does, with these keys; without `signs` it refuses to sign."""
    keys = {pair.key.public_data: pair for pair in pairs}

    class Answers(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while size := self.rfile.read(4):
                answer = _answer(keys, SSHPacket(self.rfile.read(int.from_bytes(size, "big"))), signs=signs)
                self.wfile.write(String(answer))

    with socketserver.ThreadingUnixStreamServer(str(path), Answers) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        yield
        server.shutdown()
        thread.join()


def _answer(keys: dict[Any, Pair], asked: SSHPacket, *, signs: bool) -> bytes:
    if asked.get_byte() == 11:  # which keys there are
        listed = [String(blob) + String(pair.line.partition(" ")[2].partition(" ")[2]) for blob, pair in keys.items()]
        return b"\x0c" + UInt32(len(listed)) + b"".join(listed)
    if not signs:
        return b"\x05"
    pair, data, flags = keys[asked.get_string()], asked.get_string(), asked.get_uint32()
    algorithm = pair.key.algorithm if flags != 4 or pair.key.algorithm != b"ssh-rsa" else b"rsa-sha2-512"
    return b"\x0e" + String(pair.key.sign(data, algorithm))
