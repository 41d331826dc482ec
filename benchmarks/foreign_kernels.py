"""Sends a folder of kernels to `cpu` and counts how they end, by cause: `python -m benchmarks.foreign_kernels FOLDER`.

Every .hip, .cu, .cuh, .cpp, .hpp and .py file that has a kernel is sent as its author wrote it, with the headers of the
folder that it includes in their places, as a submission is one file:

- checked, if its first line names a problem of the catalogue (`// problem: relu` or `// relu; ...`),
- run, if it is a whole program,
- compiled, otherwise. Of a Python file the HIP source of its load_inline call is compiled.

Headers in folders named `include` are not sent: they are libraries, which other files use.

Each line of the table is an end, with its cause and a file that has it, and how many of its files AMD's compiler takes,
refuses, or did not say (the gfx942 report). A file is refused rightly if AMD's compiler refuses it, too, if it is
Python whose kernels cannot be lifted, or if it needs several GPUs or a library that is no part of ROCm. A `crash` is of
a compiler or of the judge, and is always our fault: the exit status is 1 if there is one. Public repositories are good
folders; nothing of theirs belongs into ours.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from hipcpu import toolchain
from services.executor.core.compile.python_source import NotLiftedError, is_python, lifted
from services.executor.core.model.events import Compiled, Event, Finished
from services.executor.core.model.isa_report import IsaReport
from services.executor.core.model.job import CoreJob
from services.executor.core.model.verdict import Verdict
from services.executor.core.problem_host.lifted_problem import with_stand_in
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import Options, default_cache_folder, open_context
from services.executor.core.run.one_run import run
from submissions.modes import Mode

_SUFFIXES = {".hip", ".cu", ".cuh", ".cpp", ".hpp", ".py"}
_HEADERS = {".h", ".hh", ".hpp", ".cuh", ".inc"}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">][^\n]*$', re.MULTILINE)
_KERNEL = re.compile(r"__global__|load_inline|@triton\.jit|hipLaunch|<<<")
_NAMED = re.compile(r"(?://|#)\s*(?:problem:\s*)?([a-z0-9-]+)\s*(?:;|$)")
_MAIN = re.compile(r"^\s*(?:int|auto)\s+main\s*\(", re.MULTILINE)
_NOTE = re.compile(r"^note: ([^\n]+)", re.MULTILINE)
_ERROR = re.compile(r"error: ([^\n]+)")
_CONDITION = re.compile(r"^[ \t]*#[ \t]*(if|endif)")
_GUARD = re.compile(r"\s*(?:(?://[^\n]*|/\*.*?\*/)\s*)*#[ \t]*ifndef[ \t]+(\w+)\s+#[ \t]*define[ \t]+\1\b", re.DOTALL)
_ONCE = re.compile(r"^[ \t]*#[ \t]*pragma[ \t]+once\b", re.MULTILINE)
_OF_NO_ROCM = re.compile(r"several GPUs|no part of HIP|^note: cu|^note: (?!hip|roc)\S+: this header is not on")
_RIGHT = ("accepted", "ran", "compiled", "refused rightly")
_ENDS = (*_RIGHT, "refused", "another verdict", "crash")


def sources(folder: Path, every: int) -> Iterator[Path]:
    """Every so many of the files with kernels, in the order of their names."""
    files = (
        path
        for path in sorted(folder.rglob("*"))
        if path.suffix in _SUFFIXES and path.is_file() and not _is_of_a_library(path.relative_to(folder))
    )
    with_kernels = [path for path in files if _KERNEL.search(path.read_bytes().decode(errors="replace"))]
    yield from with_kernels[::every]


def _is_of_a_library(path: Path) -> bool:
    return path.suffix in _HEADERS and "include" in path.parts


class OwnHeaders:
    """The headers of a folder, to be put in the places where its files include them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._by_name: dict[str, list[Path]] = defaultdict(list)
        for path in sorted(folder.rglob("*")):
            if path.suffix in _HEADERS and path.is_file():
                self._by_name[path.name].append(path)

    def one_file(self, path: Path) -> str:
        """The text of a file with the headers of the folder that it includes, each once.

        A header that is included under a condition comes again where it is included next.
        """
        return self._expanded(path, {path})

    def _expanded(self, path: Path, there: set[Path]) -> str:
        text = path.read_bytes().decode(errors="replace")
        depth = -1 if _GUARD.match(text) else 0
        lines: list[str] = []
        for line in text.splitlines(keepends=True):
            if found := _CONDITION.match(line):
                depth += 1 if found[1] == "if" else -1
            lines.append(_INCLUDE.sub(lambda include: self._in_place(path, include, there, depth), line))  # noqa: B023  used in it
        return "".join(lines)

    def _in_place(self, path: Path, include: re.Match[str], there: set[Path], depth: int) -> str:
        found = self._find(path, include[1])
        if found is None:
            return _in_hips_folder(include)
        if found in there:
            return ""
        inside = there if depth <= 0 else set(there)
        inside.add(found)
        text = self._expanded(found, inside)
        if not _ONCE.search(text):
            return text
        name = re.sub(r"\W", "_", f"ONCE_{found.relative_to(self._folder)}")
        return f"#ifndef {name}\n#define {name}\n{_ONCE.sub('', text)}\n#endif\n"

    def _find(self, path: Path, name: str) -> Path | None:
        if (toolchain.PACKAGE / "include" / name).is_file():
            return None
        beside = (path.parent / name).resolve()
        if beside.is_file():
            return beside
        # Build files say where it is, and we do not read them.
        ends = [one for one in self._by_name[Path(name).name] if one.as_posix().endswith(f"/{Path(name)}")]
        return ends[0] if len(ends) == 1 else None


def _in_hips_folder(include: re.Match[str]) -> str:
    """An include with HIP's folder before a header of HIP's, as the build files of some searched in that folder."""
    is_hips = include[1].startswith("hip_") and (toolchain.PACKAGE / "include" / "hip" / include[1]).is_file()
    return include[0].replace(include[1], f"hip/{include[1]}") if is_hips else include[0]


def _job(path: Path, headers: OwnHeaders, context: RunContext) -> tuple[CoreJob, str]:
    """What to send, and how it ends if nothing is wrong."""
    source = headers.one_file(path)
    named = _NAMED.match(source.partition("\n")[0])
    if named and _is_known(named[1], context):
        return CoreJob(source, Mode.CHECK, named[1]), "accepted"
    if is_python(source):
        source = with_stand_in(lifted(source).source)
    if _MAIN.search(source):
        return CoreJob(source, Mode.SANDBOX), "ran"
    return CoreJob(f"{source}\nint main() {{}}\n", Mode.SANDBOX), "compiled"


def _is_known(slug: str, context: RunContext) -> bool:
    try:
        return bool(context.find_problem(slug))
    except Exception:  # noqa: BLE001  whatever the catalogue says of an unknown name
        return False


def end_of(finished: Finished, expected: str) -> tuple[str, str]:
    """How a run ended and why, in words that files with the same cause share."""
    if finished.verdict is Verdict.ACCEPTED:
        return expected, ""
    if finished.verdict is Verdict.INFRA_ERROR or finished.reason == "compiler_crash":
        return "crash", _shared(finished.message)
    if finished.verdict not in {Verdict.COMPILE_ERROR, Verdict.FORBIDDEN_SOURCE, Verdict.FORBIDDEN_LIBRARY}:
        return "another verdict", f"{finished.verdict} {finished.reason}".strip()
    if note := _NOTE.search(finished.details):
        end = "refused rightly" if _OF_NO_ROCM.search(note[0]) else "refused"
        return end, _shared(note[1].partition(": ")[2] or note[1])
    error = _ERROR.search(finished.details)
    return "refused", _shared(error[1] if error else finished.message)


def _shared(text: str) -> str:
    """A message without the names, numbers and places that differ from file to file."""
    return re.sub(r"'[^']*'|`[^`]*`|\b0x[0-9a-f]+\b|\b\d+\b", "…", text)[:140]


def _amds_word(report: IsaReport | None) -> str:
    if report and report.refused:
        return "refuses"
    return "takes" if report and report.kernels else "did not say"


async def _sent(path: Path, headers: OwnHeaders, context: RunContext) -> tuple[str, str, str]:
    """The end, the cause and AMD's word on a file."""
    try:
        job, expected = _job(path, headers, context)
    except NotLiftedError as error:
        return "refused rightly", f"Python: {_shared(str(error))}", "did not say"
    reports: list[IsaReport] = []

    def note(event: Event) -> None:
        if isinstance(event, Compiled):
            reports.append(event.isa)

    finished = await run(job, context, note)
    word = _amds_word(finished.isa or next(iter(reports), None))
    end, cause = end_of(finished, expected)
    return "refused rightly" if (end, word) == ("refused", "refuses") else end, cause, word


async def _main(folder: Path, every: int, *, verbose: bool) -> int:
    context = await open_context(Options("cpu", "auto", default_cache_folder(), 4096))
    headers = OwnHeaders(folder)
    found: dict[tuple[str, str], list[tuple[Path, str]]] = defaultdict(list)
    for path in sources(folder, every):
        end, cause, word = await _sent(path, headers, context)
        found[end, cause].append((path, word))
        if verbose:
            print(f"{path.relative_to(folder)}: {end}, AMD's compiler {word}: {cause}", file=sys.stderr, flush=True)
    print("\n".join(table(folder, found)))
    return int(any(end == "crash" for end, _ in found))


def table(folder: Path, found: dict[tuple[str, str], list[tuple[Path, str]]]) -> Iterator[str]:
    """The lines of the table: the commonest causes of each end first."""
    yield f"{'files':>5} {'AMD takes':>9} {'refuses':>7} {'unsaid':>6}  end: cause (a file)"
    for end in _ENDS:
        causes = [(cause, files) for (each, cause), files in found.items() if each == end]
        for cause, files in sorted(causes, key=lambda one: -len(one[1])):
            words = Counter(word for _, word in files)
            said = f"{words['takes']:>9} {words['refuses']:>7} {words['did not say']:>6}"
            example = files[0][0].relative_to(folder)
            yield f"{len(files):>5} {said}  {end}{f': {cause}' if cause else ''} ({example})"
    right = sum(len(files) for (end, _), files in found.items() if end in _RIGHT)
    yield f"{sum(map(len, found.values())):>5} files, {right} of them as they should"


def main() -> int:
    """Sends the files and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="send each N-th file only")
    parser.add_argument("--verbose", action="store_true", help="say how each file ended, on stderr")
    chosen = parser.parse_args()
    if not chosen.folder.is_dir():
        parser.error(f"{chosen.folder} is no folder")
    return asyncio.run(_main(chosen.folder.resolve(), chosen.every, verbose=chosen.verbose))


if __name__ == "__main__":
    sys.exit(main())
