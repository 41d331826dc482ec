"""Builds an image from a Dockerfile in a sandbox, and says what went wrong so that its author can mend it."""

from __future__ import annotations

import json
import os
import re
import stat
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from services.executor.core.model.failure import InfrastructureFailure
from services.executor.images.errors import ImageError, ImageUnavailableError
from services.executor.sandboxes.sandbox import Limits, SandboxError
from vocabulary.build_contexts import dockerfile_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import timedelta

    from services.executor.sandboxes.sandbox import Exit, OutputListener, Stream

    OnLine = Callable[[str], None]

PROGRAM = Path(__file__).with_name("sandboxed") / "build.py"
RESULT = Path("build") / "result"
_AUTHOR = 1
"""The exit status of a build that fails by its Dockerfile."""
_OUTPUT_BYTES = 64 << 20
_PROCESSES = 4096
_MOST_LINE = 500
_LAST_LINES = 12
_MOST_WORDS = 330
_STEP = re.compile(r"(?:\[\d+/\d+\] )?STEP \d+/\d+: ")
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class BuildContext:
    """What an image is built from, as `vocabulary.build_contexts` packs it."""

    digest: str
    content: bytes

    @property
    def dockerfile(self) -> str:
        """Its Dockerfile; raises WrongContextError."""
        return dockerfile_of(self.content)


@dataclass(frozen=True)
class BuildRules:
    """How long a build may take with fetching and unpacking, and the most that it may have of disk and memory."""

    longest: timedelta
    most_bytes: int
    memory_mib: int
    cores: float

    @property
    def limits(self) -> Limits:
        """The limits of its sandbox; the caller that waits for it watches the disk."""
        return Limits(
            wall=self.longest,
            cpu=self.longest * max(1, int(self.cores)),
            memory_mib=self.memory_mib,
            processes=_PROCESSES,
            file_mib=self.most_bytes >> 20,
            output_bytes=_OUTPUT_BYTES,
            cores=self.cores,
        )


class BuildSandbox(Protocol):
    """An adapter that makes sandboxes for builds."""

    async def run(self, folder: Path, arguments: list[str], limits: Limits, on_output: OutputListener) -> Exit:
        """Run `build.py` with `folder` at /work, and its folder `build` at /build, which alone can be written to.

        Nothing that it started is left. Raises SandboxError.
        """
        ...


class Builder:
    """Builds in `sandbox`, or in none, and then it says why."""

    def __init__(self, sandbox: BuildSandbox | str, rules: BuildRules) -> None:
        self._sandbox = sandbox
        self.rules = rules

    def check(self) -> None:
        """Raise ImageError if nothing can be built here."""
        if isinstance(self._sandbox, str):
            raise ImageError(self._sandbox)

    async def build(self, context: BuildContext, bases: Mapping[str, str], folder: Path, on_line: OnLine) -> Path:
        """Build an image in `folder`, whose folder `bases` has the bases; return the layout with it.

        `bases` are the names by which the Dockerfile knows them, by their folders. Raises ImageError,
        ImageUnavailableError, OSError.
        """
        self.check()
        assert not isinstance(self._sandbox, str)  # noqa: S101  as checked
        (folder / "context.tar.gz").write_bytes(context.content)
        (folder / "build").mkdir()
        for path in (folder, folder / "context.tar.gz", folder / "bases"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        lines = Lines(on_line)
        try:
            ended = await self._sandbox.run(folder, [json.dumps(bases)], self.rules.limits, lines.take)
        except (SandboxError, InfrastructureFailure) as error:
            raise ImageUnavailableError(f"this machine cannot build it: {error}") from error
        lines.finish()
        if fault := _limit_of(ended, self.rules):
            raise ImageError(f"{lines.where}{fault}")
        if ended.code == _AUTHOR:
            raise ImageError(f"{lines.where}{lines.words}")
        if ended.code:
            raise ImageUnavailableError(f"this machine cannot build it: {lines.words}")
        layout = folder / RESULT
        make_plain(layout)
        return layout


class Lines:
    """The lines that a build writes, each told once it is whole."""

    def __init__(self, on_line: OnLine) -> None:
        self._on_line = on_line
        self._begun: dict[Stream, bytes] = {"stdout": b"", "stderr": b""}
        self._last = deque[str](maxlen=_LAST_LINES)
        self._step = ""

    def take(self, stream: Stream, chunk: bytes) -> None:
        """Take output as it comes."""
        *lines, rest = (self._begun[stream] + chunk).split(b"\n")
        self._begun[stream] = rest[-_MOST_LINE:]
        for line in lines:
            self._tell(line)

    def finish(self) -> None:
        """Take what has no line end."""
        for rest in self._begun.values():
            self._tell(rest)

    @property
    def where(self) -> str:
        """The step that was last begun, for the beginning of a sentence."""
        return f"{self._step[:150]}: " if self._step else ""

    @property
    def words(self) -> str:
        """The last lines of the step."""
        return "; ".join(self._last)[-_MOST_WORDS:] or "it gave no reason"

    def _tell(self, line: bytes) -> None:
        text = _CONTROL.sub("", line.decode(errors="replace")).strip()[:_MOST_LINE]
        if not text:
            return
        if _STEP.match(text):
            self._step = text
            self._last.clear()
        else:
            self._last.append(text)
        self._on_line(text)


def make_plain(layout: Path) -> None:
    """Make a folder readable whose author is not trusted; raises ImageError if it has more than files and folders."""
    if not stat.S_ISDIR(_mode(layout)):
        raise ImageError("the build has left no image")
    layout.chmod(0o755)
    for _, folders, files, descriptor in os.fwalk(layout, follow_symlinks=False):
        for name in (*folders, *files):
            mode = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
            if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                raise ImageError("the build has left no image")
            os.chmod(name, 0o755 if stat.S_ISDIR(mode) else 0o644, dir_fd=descriptor)


def _mode(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _limit_of(ended: Exit, rules: BuildRules) -> str:
    """Return which limit ended the build; empty if none did."""
    if ended.wall_exceeded or ended.cpu_exceeded:
        return f"it takes longer than {rules.longest.total_seconds() / 60:g} minutes (EXECUTOR_BUILD_TIMEOUT)"
    if ended.memory_exceeded:
        return f"it needs more than {rules.memory_mib} MiB of memory (EXECUTOR_BUILD_MEMORY)"
    return "it has written a file that is too large (EXECUTOR_BUILD_SIZE)" if ended.files_exceeded else ""
