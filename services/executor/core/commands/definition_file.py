"""The text of a problem definition's file, or of KernelBot's files in a folder."""

from __future__ import annotations

import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

TASK = "task.yml"
_LISTED = re.compile(
    r"""["']?name["']?\s*:\s*["']?(?P<name>[\w.-]+\.py)["']?\s*,\s*["']?source["']?\s*:\s*["']?(?P<source>[\w./-]+)"""
)
"""A file that task.yml lists."""
_NOT_OF_THE_PROBLEM = frozenset({"submission.py", "eval.py"})


def text_of(file: Path) -> str:
    """The text of a file in UTF-8 or UTF-16; raises OSError."""
    data = file.read_bytes()
    encoding = "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8"
    return data.decode(encoding, errors="replace")


def definition_in(path: Path) -> str:
    """The definition in a file, or in the files that KernelBot's task.yml lists; raises OSError.

    `definition_of` of the client, which imports nothing of Wavepool, does the same.
    """
    if path.is_dir():
        path /= TASK
    if path.name != TASK:
        return text_of(path)
    task = text_of(path)
    listed = {found["name"]: found["source"] for found in _LISTED.finditer(task)}
    files = {TASK: task, "reference.py": text_of(path.with_name(listed.pop("reference.py", "reference.py")))}
    files |= {name: text_of(path.parent / source) for name, source in listed.items() if name not in _NOT_OF_THE_PROBLEM}
    return "".join(f"# file: {name}\n{text}\n" for name, text in files.items())
