"""A sandbox that takes all it can get takes its own share and nothing of the host."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.executor.sandboxes.gaps import Gap
from tests.services.executor.sandboxes.shell import SMALL_FILES, SMALL_MEMORY, SandboxedShell


async def test_countless_files_exceed_the_file_limit(shell: SandboxedShell) -> None:
    # Most files exist beforehand: on a busy disk, writing them can take longer than the sandbox may last.
    for number in range(19_990):
        (shell.folder / f"before{number}").touch()
    program = 'for my $i (1..1000) { open(my $f, ">", "/build/$i") or last } sleep 50'

    ending = await shell.run(f"perl -e '{program}'")

    assert ending.files_exceeded


async def test_folders_in_folders_exceed_the_file_limit(shell: SandboxedShell) -> None:
    program = "chdir q(/build); for (1..300) { mkdir q(d) or last; chdir q(d) or last } sleep 50"

    ending = await shell.run(f"perl -e '{program}'")

    assert ending.files_exceeded


async def test_shared_memory_is_bounded(shell: SandboxedShell) -> None:
    ending = await shell.run("exec head -c 20M /dev/zero >/dev/shm/big", SMALL_FILES)

    assert ending.files_exceeded or ending.code == 1


async def test_files_in_memory_count_as_memory(shell: SandboxedShell) -> None:
    each = "my $fd = syscall(319, $name, 0); open(my $file, q(>&=), $fd) or exit 9; push @kept, $file;"
    fill = f"my $name = q(hidden); my $piece = q(x) x 1048576; for (1..20) {{ {each} print $file $piece x 5 }}"

    # Time for the limit to be noticed.
    ending = await shell.run(f"perl -e '{fill} sleep 50'", SMALL_MEMORY)

    assert ending.memory_exceeded, ending


async def test_the_sandbox_s_own_temporary_folders_count_as_memory(shell: SandboxedShell) -> None:
    if shell.admits(Gap.SOCKETS):
        pytest.skip("a sandbox without a root of its own has its temporary folder on a disk")
    each = replace(SMALL_MEMORY, file_mib=48)

    ending = await shell.run("head -c 40M /dev/zero >/tmp/file; head -c 40M /dev/zero >/dev/shm/file; sleep 50", each)

    assert ending.memory_exceeded, ending


async def test_descriptors_run_out_in_the_sandbox_alone(shell: SandboxedShell) -> None:
    program = 'my @f; while (open(my $f, "<", "/dev/null")) { push @f, $f } print scalar @f'

    ending = await shell.run(f"perl -e '{program}'")

    assert 0 < int(ending.stdout) < 1024


async def test_a_flood_on_both_streams_at_once_is_capped(shell: SandboxedShell) -> None:
    ending = await shell.run("(yes out | head -c 30M) & (yes err | head -c 30M >&2) & wait; exit 5")

    assert ending.code == 5
    assert ending.output_truncated
    assert set(ending.stdout.split()) <= {b"out", b"ou", b"o"}
