"""Landlock: a process gives up files, TCP and signals for itself and its children; needs no root and no packages."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable

from services.executor.sandboxes.kernel_calls import Call, call

# Number of file rights in each version of the interface: a ruleset may name only known ones.
_FILE_RIGHTS_OF_VERSION = (0, 13, 14, 15, 15, 16)
_NETWORK_VERSION = 4
SIGNALS_VERSION = 6
_BIND_AND_CONNECT_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _DEVICE_CONTROL = 1 << 14, 1 << 15
_READ_ONLY = _EXECUTE | _READ_FILE | _READ_FOLDER
_ON_PLAIN_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _DEVICE_CONTROL
_RULE_PATH_BENEATH = 1
_GET_VERSION = 1


def landlock_version() -> int:
    """Return the kernel's version of the interface; 0 if there is none."""
    try:
        return call(Call.LANDLOCK_CREATE_RULESET, None, 0, _GET_VERSION)
    except OSError:
        return 0


def restrict_files(readable: Iterable[str], writable: Iterable[str]) -> int:
    """Restrict this process to the given paths that exist; returns the version in force, 0 for no restriction."""
    version = landlock_version()
    if version == 0:
        return 0
    every_right = (1 << _FILE_RIGHTS_OF_VERSION[min(version, len(_FILE_RIGHTS_OF_VERSION) - 1)]) - 1
    network = _BIND_AND_CONNECT_TCP if version >= _NETWORK_VERSION else 0
    scopes = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= SIGNALS_VERSION else 0
    attributes = struct.pack("=QQQ", every_right, network, scopes)
    size = 24 if version >= SIGNALS_VERSION else 16 if version >= _NETWORK_VERSION else 8
    ruleset = call(Call.LANDLOCK_CREATE_RULESET, attributes, size, 0)
    for path in readable:
        _allow(ruleset, path, _READ_ONLY)
    for path in writable:
        _allow(ruleset, path, every_right)
    call(Call.LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    return version


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not os.path.isdir(path):  # noqa: PTH112  this module stays clear of pathlib's import time
        rights &= _ON_PLAIN_FILES
    call(Call.LANDLOCK_ADD_RULE, ruleset, _RULE_PATH_BENEATH, struct.pack("=Qi", rights, descriptor), 0)
    os.close(descriptor)
