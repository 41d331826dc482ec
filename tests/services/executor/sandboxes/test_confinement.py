"""A sandbox without its own root sees its mounts at their real paths."""

from __future__ import annotations

import pytest

from services.executor.sandboxes.launch_order import Hold
from services.executor.sandboxes.process.confinement import seen_inside

MOUNTS = [("/data/jobs/7", "/build", True), ("/opt/zig", "/toolchain", False), ("/x", "/build-cache", False)]


@pytest.mark.parametrize(
    ("word", "seen"),
    [
        ("/build", "/data/jobs/7"),
        ("/build/solution.hip", "/data/jobs/7/solution.hip"),
        ("-I/build/include", "-I/data/jobs/7/include"),
        ("--sysroot=/toolchain/lib", "--sysroot=/opt/zig/lib"),
        ("/toolchain/bin:/build/bin", "/opt/zig/bin:/data/jobs/7/bin"),
        ("cat </build/in >/build/out", "cat </data/jobs/7/in >/data/jobs/7/out"),
        ("/build-cache/a", "/x/a"),
        ("/builder", "/builder"),
        ("src/build/x", "src/build/x"),
        ("/usr/build", "/usr/build"),
    ],
)
def test_paths_are_put_back_to_their_sources(word: str, seen: str) -> None:
    assert seen_inside(word, MOUNTS, []) == seen


def test_a_root_of_its_own_needs_no_such_thing() -> None:
    assert seen_inside("/build", MOUNTS, [Hold.PRIVATE_ROOT]) == "/build"
