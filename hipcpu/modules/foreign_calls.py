"""Checks the external symbols of a build of kernels alone: our runtime, arithmetic, and functions of real devices.

On this device the whole C library could be linked into a kernel. A GPU has no files, processes or threads, and a
submission of kernels alone must run no other code, so such a build is refused.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from hipcpu.ir.module import Module
from hipcpu.ir.text import words

_HEADERS = Path(__file__).parents[1] / "include"
_OURS = "__wp_"
_DECLARED = re.compile(rf"\b{_OURS}\w+(?=\()")

_CONSTRUCTORS = frozenset(("@llvm.global_ctors", "@llvm.global_dtors"))
_EXTERNAL = frozenset(("external", "extern_weak"))
_METADATA = "llvm.metadata"
# C's mathematics, also with the suffix of float or long double.
_MATHEMATICS = frozenset(
    words(
        "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi erf erfc erfcinv erfinv exp "
        "exp10 exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llrint "
        "llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter pow pow10 powi remainder "
        "remquo rint round scalbln scalbn sin sincos sinh sqrt tan tanh tgamma trunc y0 y1 yn"
    )
)
_DEVICE_LIBRARY = frozenset(
    words(
        "memcpy memmove memset memcmp memchr strlen strcmp strncmp abort __assert_fail __cxa_pure_virtual printf "
        "vprintf puts putchar malloc free _Znwm _Znam _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm"
    )
)


class ForeignCallError(Exception):
    """Device code needs something that no device has; the message is for its author."""


def refuse_foreign_calls(module: Module) -> None:
    """Raise ForeignCallError for a module of kernels that needs more than a device has."""
    variables = module.variables
    if not _CONSTRUCTORS.isdisjoint(variables):
        raise ForeignCallError("a device variable has a constructor: nothing but kernels runs in a build of kernels")
    for each in variables.values():
        # A linker's section for code that runs before `main`, or a function that chooses the address of another.
        if each.kind == "ifunc" or each.section not in ("", _METADATA):
            raise ForeignCallError(
                f"device code names a section of its own (`{each.section or 'ifunc'}`), which no device has"
            )
    external = {symbol for symbol, each in variables.items() if not _EXTERNAL.isdisjoint(each.qualifiers)}
    found = sorted(symbol[1:] for symbol in module.declarations | external)
    if foreign := [name for name in found if not _is_device_function(name)]:
        raise ForeignCallError(
            f"kernels call {', '.join(f'`{name}`' for name in foreign[:5])}, which no device has: kernels that are "
            "launched by a plan may use arithmetic, memory, printf and assert only"
        )


@cache
def _declared() -> frozenset[str]:
    """The functions of our runtime that the headers declare for devices; the others are for the host alone."""
    return frozenset(name for header in _HEADERS.rglob("*.h") for name in _DECLARED.findall(header.read_text("utf-8")))


def _is_device_function(name: str) -> bool:
    if name.startswith(_OURS):
        return name in _declared()
    if name.startswith("llvm.") or name in _DEVICE_LIBRARY or name in _MATHEMATICS:
        return True
    return name[-1:] in {"f", "l"} and (name[:-1] in _MATHEMATICS or name.removesuffix("_r") in _MATHEMATICS)
