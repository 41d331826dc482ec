"""The command line of `python -m services.executor.core`."""

from __future__ import annotations

import argparse
import math
import os
from argparse import ArgumentParser
from pathlib import Path

from problems.kit.definition import SizeSet
from services.executor.core.certify.steps import FEWEST_RUNS, Section
from services.executor.core.problem_host.interpreter import named_python
from services.executor.core.run.installation import default_cache_folder
from services.executor.devices.plugins import device_names
from submissions.modes import Mode, TimingMode
from vocabulary.limits import DEFAULT_DTYPE

_DEFINITION = "a problem of your own: Python source of a problem class, or a folder with KernelBot's task.yml"


def parser() -> ArgumentParser:
    """Returns the parser of all commands, with their options."""
    whole = argparse.ArgumentParser(prog="wavepool core", description="The core alone, no services.")
    shared, on_gpu = _shared("cpu"), _shared("rocm")
    commands = whole.add_subparsers(dest="command", required=True)
    _add_bench(commands.add_parser("bench", parents=[shared], help="compile, check and benchmark one file"))
    _add_profile(
        commands.add_parser("profile", parents=[on_gpu], help="check one file, and show its kernels by a profiler")
    )
    _add_isa(commands.add_parser("isa", parents=[shared], help="what the MI300X's compiler makes of one file; no GPU"))
    _add_check(
        commands.add_parser("check", parents=[shared], help="find wrong accesses and races in one file's kernels")
    )
    _add_record(commands.add_parser("record", parents=[shared], help="what one file would have the device do; no GPU"))
    linter = commands.add_parser("lint", parents=[shared], help="prove problems: honest passes, lazy kernels fail")
    linter.add_argument("slugs", nargs="*", help="problems; all where none is given")
    two = commands.add_parser("compare", parents=[shared], help="which of two results is faster, if that can be said")
    for name in ("first", "second"):
        two.add_argument(name, type=Path, help="what `bench --json` printed, or a signed report")
    statuses = "Exit status: 0 all passed, 1 something failed, 2 bad input, 3 the device cannot be opened."
    about = "find out what works on this machine, with figures; goes on where it was stopped"
    _add_certify(commands.add_parser("certify", parents=[on_gpu], help=about, description=about, epilog=statuses))
    commands.add_parser("serve", parents=[shared], help="run one job from stdin, events to stdout")
    commands.add_parser("fork-server", parents=[shared], help="fork judges on request; stdin is the socket")
    return whole


def _shared(device: str) -> ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--device", default=device, help=f"{', '.join(device_names())}; {device} by default")
    shared.add_argument("--sandbox", default="auto", help="auto, required, bubblewrap, docker or process")
    shared.add_argument("--cache-folder", type=Path, default=default_cache_folder(), help="where builds are kept")
    shared.add_argument("--cache-mib", type=int, default=2048, help="the most that the builds may fill")
    shared.add_argument("--forbidden", type=Path, help="TOML file that adds to forbidden.toml or changes it")
    shared.add_argument("--torch-python", type=Path, default=named_python(), help="evaluates problem definitions")
    of_hip = os.environ.get("EXECUTOR_HIP_VERSION", "")
    shared.add_argument("--hip-version", default=of_hip, help="the release of HIP that counts for the MI300X, e.g. 6.4")
    shared.add_argument(
        "--box-memory-mib",
        dest="sandbox_memory_mib",
        type=_natural,
        help="what a submission may use; by default what suits the device",
    )
    shared.add_argument(
        "--box-cores", dest="sandbox_cores", type=_positive, help="processors that it may fill; the same"
    )
    runs = "how many runs share this machine, and its processors and memory where answers are compared"
    shared.add_argument("--runs-at-once", type=_natural, default=1, help=runs)
    return shared


def _add_bench(one: ArgumentParser) -> None:
    one.add_argument("file", type=Path, help="HIP source")
    one.add_argument("--problem", "-p", default="", help="the slug of a problem; none for --mode sandbox")
    one.add_argument("--mode", choices=list(Mode), default=Mode.FULL)
    one.add_argument("--dtype", default=DEFAULT_DTYPE)
    one.add_argument("--sizes", choices=list(SizeSet), default=SizeSet.CPU)
    one.add_argument("--timing", choices=list(TimingMode), help="how calls are timed; the device's own way by default")
    one.add_argument(
        "--seed",
        default="",
        help="make the same inputs again: any text, or the `seed` of a report (they are from entropy otherwise)",
    )
    one.add_argument("--launch-plan", type=Path, help="JSON: the file has kernels only, and is launched by this plan")
    one.add_argument("--problem-def", type=Path, help=_DEFINITION)
    one.add_argument("--profile", action="store_true", help="then show the kernels with their times, by a profiler")
    one.add_argument("--json", action="store_true", help="print the last event as JSON, stages to stderr")


def _add_certify(certifier: ArgumentParser) -> None:
    certifier.add_argument("--out", type=Path, help="the folder to write to, or to go on in; certify-DEVICE by default")
    certifier.add_argument("--only", action="append", choices=list(Section), default=[], help="a section; repeatable")
    certifier.add_argument("--sample", type=_natural, help="at most so many steps of each of the long sections")
    certifier.add_argument("--runs", type=_runs, help="how often a kernel is submitted whose spread is measured (8)")
    certifier.add_argument("--quick", action="store_true", help="a first look: --sample 2 --runs 3")
    certifier.add_argument("--again", action="append", default=[], help="a step to try again, or `failed`; repeatable")
    certifier.add_argument("--step-seconds", type=_positive, help="every step's time limit, in place of its own")
    for name, kind in (("--step", str), ("--parent", int)):
        certifier.add_argument(name, type=kind, help=argparse.SUPPRESS)


def _natural(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def _positive(text: str) -> float:
    number = float(text)
    if not (math.isfinite(number) and number > 0):
        raise argparse.ArgumentTypeError("must be a number above 0")
    return number


def _runs(text: str) -> int:
    number = int(text)
    if number < FEWEST_RUNS:
        raise argparse.ArgumentTypeError(f"must be at least {FEWEST_RUNS}: one run has no spread")
    return number


def _add_profile(profiler: ArgumentParser) -> None:
    profiler.add_argument("file", type=Path, help="HIP source")
    profiler.add_argument("--problem", "-p", required=True, help="the slug of a problem")
    profiler.add_argument("--dtype", default=DEFAULT_DTYPE)
    profiler.add_argument("--sizes", choices=list(SizeSet), default=SizeSet.GPU)


def _add_check(checker: ArgumentParser) -> None:
    checker.add_argument("file", type=Path, help="HIP source")
    checker.add_argument("--problem", "-p", default="", help="the slug of a problem; none for a program with a main")
    checker.add_argument("--problem-def", type=Path, help=_DEFINITION)
    checker.add_argument("--dtype", default=DEFAULT_DTYPE)
    checker.add_argument("--sizes", choices=list(SizeSet), default=SizeSet.CPU, help="the smallest of these are taken")
    checker.add_argument("--memcheck", action="store_true", help="bounds, freed and unwritten memory, alignment")
    checker.add_argument(
        "--racecheck", action="store_true", help="missing barriers and order; both where none is named"
    )
    checker.add_argument("--json", action="store_true", help="print the findings as JSON, progress to stderr")


def _add_record(recorder: ArgumentParser) -> None:
    recorder.add_argument("file", type=Path, help="HIP source")
    recorder.add_argument("--problem", "-p", required=True, help="the slug of a problem")
    recorder.add_argument("--dtype", default=DEFAULT_DTYPE)
    recorder.add_argument("--sizes", choices=list(SizeSet), default=SizeSet.CPU)


def _add_isa(about: ArgumentParser) -> None:
    about.add_argument("file", type=Path, help="HIP source")
    about.add_argument("--problem", "-p", default="", help="the slug of the problem that it has to be a solution of")
    about.add_argument("--dtype", default=DEFAULT_DTYPE)
    about.add_argument("--json", action="store_true", help="print it as JSON")
    about.add_argument("--asm", action="store_true", help="with the instructions, below the lines that they are from")
