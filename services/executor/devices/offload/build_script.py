"""The shell script that compiles one submission with a compiler driver, as a pure function of what is compiled.

Exit status 0: /build/runner (or /build/program) is there. 1: the source is at fault, and the compiler's text is on
stderr. 2: the toolchain is. 70 and from 128 on, as of the compiler itself: it crashed on the source. The submission and
our harness are compiled at the same time.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from services.executor.devices.device import BuildKind

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Driver:
    """How a compiler driver is called; each is a command line to which the files are added.

    `assemble` turns an assembly file into an object. `kernels` writes the code object of a source alone.
    `hide_main` makes the `main` of an object invisible to others.
    """

    compile: Sequence[str]
    link: Sequence[str]
    kernels: Sequence[str]
    assemble: Sequence[str]
    hide_main: Sequence[str]


_HEAD = """cd /build || exit 2
fault() { case "$1" in 126|127) exit 2 ;; 70) exit 70 ;; esac; if [ "$1" -lt 128 ]; then exit 1; fi; exit "$1"; }
"""
_OURS = """{compile} -c harness.cpp -o harness.o >harness.txt 2>&1 & ours=$!
wait "$theirs" || fault $?
wait "$ours" || {{ cat harness.txt >&2; exit 2; }}
"""
# A driver that people keep beside `solution` is never run: the runner's `main` is. A name that macros put together is
# not found here, and then the link fails.
_HIDE_MAIN = """if grep -qw main solution.hip; then {hide_main} solution.o || exit 2; fi
"""
# A link fails for what the source lacks or has twice.
_LINK = """{link} {objects} -o runner >link.txt 2>&1 || {{ cat link.txt >&2; fault 1; }}
"""
# Kernels that are named in the harness and missing from the image are the source's fault. Names end with a NUL in it.
_KERNELS = """for name in $(sed -n '1s|^// kernels: ||p' harness.cpp | grep -o '"[^"]*"' | tr -d '"'); do
    grep -aqF "$name" solution.image.o && continue
    echo "solution.hip:1:1: error: the launch plan names the kernel $name," \\
        "which the source lacks; define extern \\"C\\" __global__ void $name(...)" >&2
    exit 1
done
cat >image.s <<'END'
.section .rodata
.balign 4096
.globl wavepool_kernels
wavepool_kernels:
.incbin "solution.image.o"
.byte 0
.section .note.GNU-stack,"",@progbits
END
{assemble} image.s -o image.o || exit 2
"""


def build_script(kind: BuildKind, driver: Driver, runner_objects: Sequence[Path]) -> str:
    """What `sh -c` is given; `runner_objects` are our runner's, compiled before."""
    compiled, link = shlex.join(driver.compile), shlex.join(driver.link)
    if kind is BuildKind.PROGRAM:
        return (
            f"{_HEAD}{compiled} -c solution.hip -o solution.o || fault $?\n{link} solution.o -o program || fault $?\n"
        )
    ours = _OURS.format(compile=compiled)
    objects = ["harness.o", *map(str, runner_objects)]
    if kind is BuildKind.SOLUTION:
        theirs = f"{compiled} -c solution.hip -o solution.o & theirs=$!\n"
        ours += _HIDE_MAIN.format(hide_main=shlex.join(driver.hide_main))
        return _HEAD + theirs + ours + _LINK.format(link=link, objects=shlex.join(["solution.o", *objects]))
    theirs = f"{shlex.join(driver.kernels)} solution.hip -o solution.image.o & theirs=$!\n"
    image = _KERNELS.format(assemble=shlex.join(driver.assemble))
    return _HEAD + theirs + ours + image + _LINK.format(link=link, objects=shlex.join(["image.o", *objects]))
