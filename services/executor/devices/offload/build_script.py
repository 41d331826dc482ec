"""The shell script that compiles one submission with a compiler driver, as a pure function of its inputs.

Exit status 0 means that /build/runner (or /build/program) is there, 1 a fault of the source, with the compiler's
messages on stderr, and 2 a fault of the toolchain. 70 and statuses from 128 on are the compiler's own: it crashed on
the source.

A solution is compiled whole, for the check, and in two halves, for the timed calls: its kernels alone become
/build/replayer, and the cpu device's compiler makes /build/recorder of its host code alone. If a half cannot be made,
/build/not_recordable.txt says why, and the build still succeeds. All these steps run at the same time.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hipcpu.build_folder import NOT_RECORDABLE, RECORDER, REPLAYER, BuildKind


@dataclass(frozen=True)
class Driver:
    """The command lines of a compiler driver, to which the files are added.

    `assemble` turns an assembly file into an object. `kernels` writes the code object of a source alone. `hide_main`
    makes the `main` of an object invisible to others. `plain` compiles C++ that has nothing of HIP.
    """

    compile: Sequence[str]
    link: Sequence[str]
    kernels: Sequence[str]
    assemble: Sequence[str]
    hide_main: Sequence[str]
    plain: Sequence[str]

    def shown(self) -> str:
        """Return the command that compiles a submission's source, for people."""
        return shlex.join([*self.compile, "-c", "solution.hip", "-o", "solution.o"])


_HEAD = """cd /build || exit 2
fault() { case "$1" in 126|127) exit 2 ;; 70) exit 70 ;; esac; if [ "$1" -lt 128 ]; then exit 1; fi; exit "$1"; }
"""
# HIP's headers take nearly all of the time for a harness, and only those need them that pass a `__half` by value.
_SOLUTION = """{compile} -c solution.hip -o solution.o & theirs=$!
{{ {{ ! grep -q hip/ harness.cpp && {plain} -c harness.cpp -o harness.o; }} ||
    {compile} -c harness.cpp -o harness.o; }} >harness.txt 2>&1 & ours=$!
{kernels} solution.hip -o solution.image.o >image.txt 2>&1 & image=$!
mkdir host && cp solution.hip harness.cpp host && {{ {record}; }} >recorder.txt 2>&1 & recorder=$!
wait "$theirs" || fault $?
wait "$ours" || {{ cat harness.txt >&2; exit 2; }}
"""
# If device code asks for a call of the host, ROCm calls whatever function the device names, in our process. The
# metadata of a code object has this word for each kernel that may ask (LLVM, AMDGPUUsage, "Code Object V5 Metadata").
_CALLS_THE_HOST = "grep -aqF hidden_hostcall_buffer solution.image.o"
_CALLED = "a kernel calls the host, as printf, assert, malloc and calls by pointers do on this GPU"
_HALVES = f"""wait "$recorder"
mv host/{RECORDER} {RECORDER} 2>/dev/null || mv host/{NOT_RECORDABLE} {NOT_RECORDABLE} 2>/dev/null ||
    echo "the compiler for the recorder failed: $(tail -n 1 recorder.txt)" >{NOT_RECORDABLE}
if ! wait "$image"; then
    echo "its kernels cannot be compiled alone: $(grep -m 1 error image.txt)" >{NOT_RECORDABLE}
elif {_CALLS_THE_HOST}; then
    echo "{_CALLED}; leave these out to have a time that is proven" >{NOT_RECORDABLE}
elif ! {{{{ {{assemble}} image.s -o image.o && {{link}} {{objects}} -o {REPLAYER}; }}}} >link.txt 2>&1; then
    echo "its kernels cannot be linked alone: $(tail -n 1 link.txt)" >{NOT_RECORDABLE}
fi
if [ -e {NOT_RECORDABLE} ]; then rm -f {RECORDER} {REPLAYER}; fi
"""
# A `main` that people keep beside `solution` is never run: the runner's `main` is. A `main` that macros produce is not
# found here, and then the link fails.
_HIDE_MAIN = """if grep -qw main solution.hip; then {hide_main} solution.o || exit 2; fi
"""
# A link fails if the source lacks a symbol or defines it twice.
_LINK = """{link} {objects} -o runner >link.txt 2>&1 || {{ cat link.txt >&2; fault 1; }}
"""
_IMAGE = """cat >image.s <<'END'
.section .rodata
.balign 4096
.globl wavepool_kernels
wavepool_kernels:
.incbin "solution.image.o"
.byte 0
.section .note.GNU-stack,"",@progbits
END
"""
# If a kernel that a plan launches is missing from the image, the source is at fault. Names end with a NUL there.
_KERNELS = f"""{{kernels}} solution.hip -o solution.image.o || fault $?
if {_CALLS_THE_HOST}; then
    echo "solution.hip:1:1: error: {_CALLED}; kernels that a launch plan launches may not" >&2
    exit 1
fi
for name in $(grep -o '"[^"]*"' kernels.json | tr -d '"'); do
    grep -aqF "$name" solution.image.o && continue
    echo "solution.hip:1:1: error: the launch plan names the kernel $name," \\
        "which the source lacks; define extern \\"C\\" __global__ void $name(...)" >&2
    exit 1
done
{{assemble}} image.s -o image.o || exit 2
"""


def build_script(kind: BuildKind, driver: Driver, runner_objects: Sequence[Path], record: str) -> str:
    """Return the script for `sh -c`; `runner_objects` are our runner's, compiled before.

    `record` is the command that builds the recorder in /build/host.
    """
    compiled, link = shlex.join(driver.compile), shlex.join(driver.link)
    if kind is BuildKind.PROGRAM:
        return (
            f"{_HEAD}{compiled} -c solution.hip -o solution.o || fault $?\n{link} solution.o -o program || fault $?\n"
        )
    kernels, runner = shlex.join(driver.kernels), list(map(str, runner_objects))
    assemble = shlex.join(driver.assemble)
    alone = shlex.join(["image.o", *runner])
    if kind is BuildKind.KERNELS:
        made = _KERNELS.format(kernels=kernels, assemble=assemble)
        return _HEAD + _IMAGE + made + _LINK.format(link=link, objects=alone)
    whole = _SOLUTION.format(compile=compiled, plain=shlex.join(driver.plain), kernels=kernels, record=record)
    whole += _HIDE_MAIN.format(hide_main=shlex.join(driver.hide_main))
    whole += _LINK.format(link=link, objects=shlex.join(["solution.o", "harness.o", *runner]))
    return _HEAD + _IMAGE + whole + _HALVES.format(assemble=assemble, link=link, objects=alone)
