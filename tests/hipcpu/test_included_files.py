from __future__ import annotations

from pathlib import Path

import pytest

from hipcpu.build import SourceError, build
from hipcpu.build_folder import BuildKind
from hipcpu.front.included_files import foreign_files


def test_files_of_the_toolchain_and_the_source_are_its_own(tmp_path: Path) -> None:
    rule = f"solution: solution.hip \\\n  {tmp_path}/lib/a.h {tmp_path}/lib/../lib/b.h\n"
    assert foreign_files(rule, tmp_path, [tmp_path / "solution.hip", tmp_path / "lib"]) == []


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("/etc/passwd", "/etc/passwd"),
        ("../../etc/passwd", "../../etc/passwd"),
        ("/with\\ space", "/with space"),
        ("/cost$$s", "/cost$s"),
        ("LIB/../../c.h", "LIB/../../c.h"),
        ("LIBRARY/c.h", "LIBRARY/c.h"),
    ],
)
def test_all_others_are_foreign(tmp_path: Path, name: str, found: str) -> None:
    rule = f"solution: solution.hip {name}\n"
    assert foreign_files(rule, tmp_path, [tmp_path / "solution.hip", tmp_path / "LIB"]) == [found]


@pytest.mark.parametrize("side", ["defined(__HIP_DEVICE_COMPILE__)", "!defined(__HIP_DEVICE_COMPILE__)"])
def test_a_file_that_one_side_alone_reads_is_found(tmp_path: Path, side: str) -> None:
    text = f'#include <vector>\n#if {side}\n#define NAME "/dev/null"\n#include NAME\n#endif\nint main() {{}}\n'
    (tmp_path / "solution.hip").write_text(text)
    with pytest.raises(SourceError, match="/dev/null"):
        build(tmp_path, BuildKind.PROGRAM)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('#embed "../missing"', "../missing"),
        ("#define NAME </missing>\n#embed NAME", "#embed"),
        ("#ifdef __HIP_DEVICE_COMPILE__\n#embed <missing>\n#endif", "missing"),
        ('#embed "missing"\n#embed "/etc/passwd"', "missing"),
    ],
)
def test_a_file_that_is_not_there_is_not_embedded_as_an_empty_one(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "solution.hip").write_text(f"const char bytes[] = {{\n{text}\n}};\nint main() {{}}\n")
    with pytest.raises(SourceError, match=f"`{named}` is included or embedded"):
        build(tmp_path, BuildKind.PROGRAM)
