"""The builtins that the cpu device's own clang has for gfx942: `python -m tests.hipcpu.amd_builtins` writes the table.

Clang lists its builtins nowhere, so their names are found in its program, and clang is asked which of them gfx942 has,
and for their types. Reasons why the cpu device lacks one are kept from the table before.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from hipcpu import toolchain
from hipcpu.front.amd_builtins import TABLE, reasons

_NAME = re.compile(rb"__builtin_amdgcn_\w+")
_HAS = re.compile(r"^HAS (\w+)$", re.MULTILINE)
_TYPE = re.compile(r"(?:FunctionDecl|DeclRefExpr).*? '?(__builtin_amdgcn_\w+)'? (?:extern )?'([^']*)'")
_TARGET = ("-triple", "amdgcn-amd-amdhsa", "-target-cpu", "gfx942", "-aux-triple", toolchain.TRIPLE, "-fcuda-is-device")
_TITLE = "# Builtins for gfx942 in clang {}, of the wheel ziglang {}: name, type, why the cpu device has none.\n"


def version() -> str:
    """The table's first line, which says where the table is from."""
    compiler = toolchain.compiler()
    text = subprocess.run([compiler.program, "clang", "--version"], capture_output=True, text=True, check=True).stdout
    return _TITLE.format(text.split()[2], compiler.version)


def builtins_of_clang() -> dict[str, str]:
    """Every builtin of gfx942 with its type."""
    names = sorted({name.decode() for name in _NAME.findall(Path(toolchain.compiler().program).read_bytes())})
    asked = "".join(f"#if __has_builtin({name})\nHAS {name}\n#endif\n" for name in names)
    there = _HAS.findall(_clang("-E", source=asked))
    calls = "".join(f"{name}();\n" for name in there)
    function = f"__attribute__((device)) void f() {{\n{calls}}}\n"
    dump = _clang("-fsyntax-only", "-ferror-limit", "0", "-ast-dump", source=function)
    types: dict[str, str] = {}
    for name, one in _TYPE.findall(dump):
        types.setdefault(name, one)
    return {name: types[name] for name in there}


def table() -> str:
    """The table as it should be."""
    known = reasons()
    rows = (f"{name}\t{one}\t{known.get(name, '')}\n" for name, one in builtins_of_clang().items())
    return "".join([version(), *rows])


def _clang(*options: str, source: str) -> str:
    command = [toolchain.compiler().program, "clang", "-cc1", *_TARGET, *options, "-x", "hip", "-"]
    return subprocess.run(command, input=source, capture_output=True, text=True, check=False).stdout


if __name__ == "__main__":
    text = table()
    TABLE.write_text(text)
