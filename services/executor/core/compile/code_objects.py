"""The code objects of a finished build, named by digests, so that a report says exactly which bytes were timed.

A build is one ELF file. GPU code lies in sections that the compilers make for it or, in a build of kernels alone, among
the constants. Processor code lies in the executable sections. The digests are of the file that the judge installed and
that the sandbox could only read. The judge takes them when it installs the file, and reads the file again after each
runner that used it. A process may still change the copy in its own memory.
"""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from elftools.common.exceptions import ELFError
from elftools.elf.constants import SH_FLAGS
from elftools.elf.elffile import ELFFile

from services.executor.core.model.failure import InfrastructureFailure

_DEVICE_SECTIONS = frozenset({".hip_fatbin", ".nv_fatbin", "__nv_relfatbin"})
"""Sections in which hipcc and nvcc put GPU code."""
_IMAGE_SECTION = ".rodata"


@dataclass(frozen=True)
class CodeObject:
    """A section of a build that is executed, by a GPU if `is_device`. `sha256` is in hex."""

    section: str
    sha256: str
    size_bytes: int
    is_device: bool


def code_objects(executable: bytes, *, has_image: bool) -> tuple[CodeObject, ...]:
    """Returns all code sections of an executable, in the file's order; none if it is not an ELF file.

    With `has_image` the GPU's kernels lie among the constants, as under contract D.
    """
    try:
        file = cast("Any", ELFFile(io.BytesIO(executable)))
        sections = list(file.iter_sections())
    except ELFError:
        return ()
    found: list[CodeObject] = []
    for section in sections:
        is_device = section.name in _DEVICE_SECTIONS or (has_image and section.name == _IMAGE_SECTION)
        if is_device or section["sh_flags"] & SH_FLAGS.SHF_EXECINSTR:
            start, size = int(section["sh_offset"]), int(section["sh_size"])
            digest = hashlib.sha256(executable[start : start + size]).hexdigest()
            found.append(CodeObject(str(section.name), digest, size, is_device))
    return tuple(found)


def require_unchanged(path: Path, sha256: str) -> None:
    """Raises InfrastructureFailure if the file at `path` is no longer the one that was installed."""
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        found = f"nothing ({error.strerror})"
    if found != sha256:
        raise InfrastructureFailure(
            "The executable changed between its installation and the end of a call, which a sandbox cannot do; run "
            "again elsewhere.",
            details=f"{path.name}: installed {sha256}, found {found}",
        )
