"""Runs clang over a submission: the host side and the kernel side at the same time."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hipcpu import toolchain
from hipcpu.build_folder import ToolchainError
from hipcpu.front.amd_source import LABELS_HEADER, amd_source
from hipcpu.front.included_files import dependency_options, foreign_files

# Errors of a source begin with its name; these are about our precompiled headers.
BROKEN_PRELUDE = re.compile(r"^(?:fatal )?error: .*\b(?:PCH|precompiled).*$", re.MULTILINE)
_EMBEDDED = re.compile(r"""^[ \t]*#[ \t]*embed[ \t]*["<]([^">\n]+)""", re.MULTILINE)
_LINES = ("-debug-info-kind=line-tables-only", "-dwarf-version=5")
# Arguments of launches must not contain leftovers of memory: recordings of a launch are compared byte by byte.
_DEFINED = ("-ftrivial-auto-var-init=zero",)
_DEPENDENCIES = ("host.d", "kernels.d")
_TRANSLATED = "translated.hip"
_OF_ROCM = re.compile(r"""^[ \t]*#[ \t]*include[ \t]*["<](hipcub|cub|rocprim|thrust)/""", re.MULTILINE)
_CUDA_NAME = re.compile(r"\bcuda[A-Z]\w*")
_OWN_CUDA_NAME = re.compile(r"^[ \t]*#[ \t]*define[ \t]+cuda[A-Z]", re.MULTILINE)


class CompilerCrashError(Exception):
    """A signal ended clang; `number` is the signal's number."""

    def __init__(self, number: int, messages: str) -> None:
        super().__init__(messages)
        self.number = number


@dataclass(frozen=True)
class Parsed:
    """Both sides' IR and clang's messages; the IR is None for a side that has errors.

    `foreign_files` are included or embedded files that are neither the source nor headers of the toolchain.
    """

    host: str | None
    kernels: str | None
    messages: str
    foreign_files: tuple[str, ...] = ()


def parse(folder: Path, source: str, *, lines: bool = False) -> Parsed:
    """Compile `folder`/`source` to the unoptimised IR of both sides; raises ToolchainError and CompilerCrashError.

    The host's IR holds the source line of each instruction; with `lines`, or with intrinsics by label, so does the
    kernels'.
    """
    # Once, and before either side reads the translation.
    named = _named(folder, source)
    with_rocm, may_need_rocm = _headers_for(folder / source)
    # What is called by label is only known to be refused after the calls have been inlined.
    lines = lines or LABELS_HEADER in named
    parsed = _parsed(folder, source, named, lines=lines, with_rocm=with_rocm)
    if may_need_rocm and (parsed.host is None or parsed.kernels is None):
        return _parsed(folder, source, named, lines=lines, with_rocm=True)
    return parsed


def _headers_for(source: Path) -> tuple[bool, bool]:
    """Return whether a source is compiled with ROCm's libraries, and whether it may need them if not.

    Our own few names of hipCUB come first: they compile and run faster.
    """
    named = {match[1] for match in _OF_ROCM.finditer(source.read_text(errors="replace"))}
    if not named or toolchain.prepared().why_no_rocm:
        return False, False
    needs_rocm = bool(named - {"hipcub", "cub"})
    return needs_rocm, not needs_rocm


def _parsed(folder: Path, source: str, named: Sequence[str], *, lines: bool, with_rocm: bool) -> Parsed:
    host = _start(folder, *named, *_LINES, *_DEFINED, kernels=False, with_rocm=with_rocm)
    kernels = _start(folder, *named, *(_LINES if lines else ()), kernels=True, with_rocm=with_rocm)
    # Both have ended before either is judged, so an exception leaves no process behind.
    outputs = [_judged(*ended) for ended in [_ended(process) for process in (host, kernels)]]
    texts = [text for text, _ in outputs]
    foreign = _foreign_files(folder, source) or _missing_embeds(folder, source, texts)
    return Parsed(texts[0], texts[1], _merge(outputs[0][1], outputs[1][1]), foreign)


def parse_host(folder: Path, source: str) -> tuple[str | None, str]:
    """Compile the host side alone; returns its IR, or None on errors, and clang's messages. Raises as `parse` does."""
    named = _named(folder, source)
    with_rocm, may_need_rocm = _headers_for(folder / source)
    text, messages = _parsed_host(folder, named, with_rocm=with_rocm)
    return _parsed_host(folder, named, with_rocm=True) if may_need_rocm and text is None else (text, messages)


def _parsed_host(folder: Path, named: Sequence[str], *, with_rocm: bool) -> tuple[str | None, str]:
    return _judged(*_ended(_start(folder, *named, *_LINES, *_DEFINED, kernels=False, with_rocm=with_rocm)))


def _ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    text, messages = process.communicate()
    return process.returncode, text, _shown(messages)


def _judged(status: int, text: str, messages: str) -> tuple[str | None, str]:
    if status < 0:
        raise CompilerCrashError(-status, messages)
    if found := BROKEN_PRELUDE.search(messages):
        raise ToolchainError(f"the precompiled headers cannot be used: {found[0]}")
    return text if status == 0 else None, messages


def header_options(source: Path) -> list[str]:
    """Return options for nvcc's implicit include, if the source uses CUDA's names without defining them.

    They also stop clang from proposing other spellings: the nearest name that it knows is HIP's.
    """
    text = source.read_text(errors="replace")
    is_cuda = _CUDA_NAME.search(text) and not _OWN_CUDA_NAME.search(text)
    return ["-include", "cuda_runtime.h", "-fno-spell-checking"] if is_cuda else []


def _start(folder: Path, *more: str, kernels: bool, with_rocm: bool) -> subprocess.Popen[str]:
    prepared = toolchain.prepared()
    prelude = prepared.prelude(kernels=kernels, with_rocm=with_rocm)
    options = ["-include-pch", str(prelude), "-emit-llvm", "-o", "-", *more]
    options += dependency_options(folder / _DEPENDENCIES[kernels])
    first = prepared.rocm_options() if with_rocm else ()
    command = toolchain.compiler().hip(prepared.include, *options, kernels=kernels, first=first)
    return subprocess.Popen(  # noqa: S603 - our own compiler, in the build's sandbox
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
    )


def _named(folder: Path, source: str) -> list[str]:
    """Return the options that name the source, or its translation if something in it is AMD's and no C++.

    Headers that the source needs and does not include come with it.
    """
    needed = header_options(folder / source)
    found = amd_source((folder / source).read_text(errors="replace"))
    if found is None:
        return [*needed, source]
    # Its lines are the source's own, in messages and in debug information.
    (folder / _TRANSLATED).write_text(f'# 1 "{source}"\n{found.text}')
    return [*needed, *(option for header in found.headers for option in ("-include", header)), _TRANSLATED]


def _foreign_files(folder: Path, source: str) -> tuple[str, ...]:
    prepared = toolchain.prepared()
    own = (folder / source, folder / _TRANSLATED, toolchain.compiler().folder, *prepared.parts)
    # A side with errors may leave no rule, but then the source is refused anyway.
    rules = [file.read_text(errors="replace") for name in _DEPENDENCIES if (file := folder / name).is_file()]
    return tuple(dict.fromkeys(name for rule in rules for name in foreign_files(rule, folder, own)))


def _missing_embeds(folder: Path, source: str, texts: Sequence[str | None]) -> tuple[str, ...]:
    """Return a file that `#embed` names and that is missing.

    If clang 22 writes dependencies, it takes a missing file for an empty one, and leaves out that side's rule: without
    this check, one missing file would hide all others.
    """
    if all(text is None or (folder / name).is_file() for text, name in zip(texts, _DEPENDENCIES, strict=True)):
        return ()
    named = _EMBEDDED.findall((folder / source).read_text(errors="replace"))
    return next(((name,) for name in named if not os.path.exists(folder / name)), ("#embed",))  # noqa: PTH110 - asks for no rights


def _shown(messages: str) -> str:
    prepared = toolchain.prepared()
    shown = toolchain.compiler().without_folders(messages, prepared.include)
    return shown.replace(f"{prepared.rocm_headers}/", "") if prepared.rocm_headers else shown


_SUMMARY = re.compile(r"^\d+ (?:error|warning)s?(?: and \d+ errors?)? generated.*\n", re.MULTILINE)
_MESSAGE_START = re.compile(r"^(?=(?:In file included|[^\s:]+:\d+:\d+: (?:fatal error|error|warning)))", re.MULTILINE)


def _merge(host: str, kernels: str) -> str:
    """Merge both sides' messages; most come from both, and each is shown once."""
    seen: dict[str, None] = {}
    for text in (host, kernels):
        for message in _MESSAGE_START.split(_SUMMARY.sub("", text)):
            seen.setdefault(message)
    return "".join(seen)
