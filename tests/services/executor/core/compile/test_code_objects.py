from __future__ import annotations

import hashlib
import struct
import sys
from pathlib import Path

import pytest

from services.executor.core.compile.code_objects import code_objects, require_unchanged
from services.executor.core.model.failure import InfrastructureFailure
from services.executor.core.model.verdict import Verdict

ALLOC, EXECUTABLE = 0x2, 0x4


def elf(sections: dict[str, tuple[bytes, int]]) -> bytes:
    """A 64-bit ELF file with these sections, each with its content and flags."""
    names = b"\0" + b"".join(name.encode() + b"\0" for name in (*sections, ".shstrtab"))
    content, headers = b"", [bytes(64)]
    for name, (data, flags) in {**sections, ".shstrtab": (names, 0)}.items():
        kind = 3 if name == ".shstrtab" else 1
        place = names.index(name.encode() + b"\0")
        headers.append(struct.pack("<IIQQQQIIQQ", place, kind, flags, 0, 64 + len(content), len(data), 0, 0, 1, 0))
        content += data
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = struct.pack(
        "<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, 64 + len(content), 0, 64, 56, 0, 64, len(headers), len(headers) - 1
    )
    return identity + header + content + b"".join(headers)


FILE = elf(
    {
        ".text": (b"host code", ALLOC | EXECUTABLE),
        ".rodata": (b"image", ALLOC),
        ".hip_fatbin": (b"for a GPU", ALLOC),
        ".data": (b"numbers", ALLOC),
    }
)


def test_code_for_processor_and_gpu_is_named_with_its_digest() -> None:
    found = {one.section: one for one in code_objects(FILE, has_image=False)}
    assert set(found) == {".text", ".hip_fatbin"}
    assert found[".hip_fatbin"].sha256 == hashlib.sha256(b"for a GPU").hexdigest()
    assert found[".hip_fatbin"].size_bytes == 9
    assert {name: one.is_device for name, one in found.items()} == {".text": False, ".hip_fatbin": True}


def test_kernels_that_came_as_an_image_lie_among_the_constants() -> None:
    found = {one.section: one.is_device for one in code_objects(FILE, has_image=True)}
    assert found == {".text": False, ".rodata": True, ".hip_fatbin": True}


def test_a_byte_of_code_more_or_less_shows() -> None:
    other = FILE.replace(b"host code", b"hostcode ")
    assert code_objects(other, has_image=False)[0].sha256 != code_objects(FILE, has_image=False)[0].sha256
    assert code_objects(other, has_image=False)[1] == code_objects(FILE, has_image=False)[1]


@pytest.mark.parametrize("data", [b"", b"#!/bin/sh\n", b"\x7fELF", FILE[:80]])
def test_what_is_no_whole_elf_file_has_none(data: bytes) -> None:
    assert code_objects(data, has_image=True) == ()


def test_a_real_program_has_code() -> None:
    assert any(one.section == ".text" for one in code_objects(Path(sys.executable).read_bytes(), has_image=False))


def test_a_file_that_changed_or_went_is_our_fault(tmp_path: Path) -> None:
    path = tmp_path / "runner"
    path.write_bytes(b"code")
    digest = hashlib.sha256(b"code").hexdigest()
    require_unchanged(path, digest)
    path.write_bytes(b"other code")
    with pytest.raises(InfrastructureFailure) as changed:
        require_unchanged(path, digest)
    assert changed.value.verdict is Verdict.INFRA_ERROR
    path.unlink()
    with pytest.raises(InfrastructureFailure):
        require_unchanged(path, digest)
