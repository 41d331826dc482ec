"""`python -m services.executor.core`: runs the core alone, without services."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from wavepool.submission.v1.submission_pb2 import Submission

from hipcpu.build_folder import ToolchainError
from problems.kit.definition import Problem, SizeSet
from problems.library.catalogue import CatalogueError
from problems.library.variants import UnknownElementTypeError, variant_of
from servicekit.settings.plugins import BrokenPluginError, UnknownPluginError
from services.executor.core.check.side_by_side import share_machine
from services.executor.core.commands.bench import BAD_USAGE, INFRASTRUCTURE, bench
from services.executor.core.commands.command_line import parser
from services.executor.core.commands.compare_command import compare_files
from services.executor.core.commands.definition_file import definition_in, text_of
from services.executor.core.commands.isa_command import isa
from services.executor.core.commands.lint import lint
from services.executor.core.commands.profile import profile
from services.executor.core.commands.record_command import record
from services.executor.core.commands.sanitize_command import check, check_definition
from services.executor.core.compile.forbidden import ForbiddenRulesError, rules
from services.executor.core.model.findings import Check
from services.executor.core.model.job import CoreJob
from services.executor.core.problem_host.interpreter import TorchMissingError, torch_python
from services.executor.core.process.fork_server import ForkServer
from services.executor.core.process.serve import serve
from services.executor.core.process.warm_up import warm_up
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import (
    Options,
    catalogue,
    open_context,
    remove_leftovers,
)
from services.executor.core.sanitize.sanitizing import CheckRequest
from services.executor.devices.plugins import device_named
from services.executor.sandboxes.choice import UnknownSandboxError, sandbox_setting
from services.executor.sandboxes.kernel_calls import FREED_BYTES_KEPT, keep_freed_memory
from services.executor.sandboxes.sandbox import SandboxError
from submissions.checks import SubmissionError, checked
from submissions.modes import Mode, TimingMode, timing_number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status.

    0 accepted, 1 not accepted, 2 bad usage, 3 infrastructure, 7 right, but only the sample could be run.
    """
    parent = os.getppid()
    words = sys.argv[1:] if arguments is None else arguments
    chosen = parser().parse_args(words)
    if chosen.command == "compare":
        return compare_files(chosen.first, chosen.second)
    if chosen.command in {"bench", "check", "isa", "profile", "record"}:
        try:
            _read_files(chosen)
        except OSError as error:
            sys.stderr.write(f"{error.filename}: {error.strerror}\n")
            return BAD_USAGE
    keep_freed_memory(FREED_BYTES_KEPT)
    share_machine(chosen.runs_at_once)
    options = Options(
        chosen.device,
        chosen.sandbox,
        chosen.cache_folder,
        chosen.cache_mib,
        chosen.forbidden,
        chosen.torch_python,
        chosen.sandbox_memory_mib,
        chosen.sandbox_cores,
        chosen.hip_version,
    )
    try:
        if chosen.command == "certify" and not chosen.step:
            return _certify(chosen, words)
        return _fork_server(options) if chosen.command == "fork-server" else asyncio.run(_run(chosen, options, parent))
    except (UnknownPluginError, ForbiddenRulesError, UnknownSandboxError) as error:
        sys.stderr.write(f"{error}\n")
        return BAD_USAGE
    except (BrokenPluginError, SandboxError) as error:
        sys.stderr.write(f"{error}\n")
        return INFRASTRUCTURE


def _read_files(chosen: argparse.Namespace) -> None:
    """Reads the files that the command line names; raises OSError with the name of a file that cannot be read."""
    chosen.source = text_of(chosen.file)
    for name, read in (("launch_plan", text_of), ("problem_def", definition_in)):
        file: Path | None = getattr(chosen, name, None)
        setattr(chosen, f"{name}_text", read(file) if file else "")


def _certify(chosen: argparse.Namespace, words: Sequence[str]) -> int:
    # Other commands start without it, which is quicker.
    from services.executor.core.certify.command import (  # noqa: PLC0415
        QUICK_RUNS,
        QUICK_SAMPLE,
        RUNS,
        Request,
        certify,
        choice_of,
    )

    device_named(chosen.device)
    sandbox_setting(chosen.sandbox)
    rules(chosen.forbidden)
    runs = chosen.runs or (QUICK_RUNS if chosen.quick else RUNS)
    sample = chosen.sample or (QUICK_SAMPLE if chosen.quick else None)
    out = chosen.out or Path(f"certify-{chosen.device}")
    choice = choice_of(chosen.only, sample)
    return certify(Request(words, chosen.device, out, choice, runs, chosen.again, chosen.step_seconds))


def _fork_server(options: Options) -> int:
    context = asyncio.run(_ready(options))
    warm_up(catalogue().problems.values(), context)
    fork_server_pid = os.getpid()
    try:
        channel = socket.socket(fileno=sys.stdin.fileno())
    except OSError as error:
        sys.stderr.write(f"fork-server: stdin must be the socket that requests come over: {error.strerror}\n")
        return BAD_USAGE
    ForkServer(channel, lambda: asyncio.run(_serve(context, fork_server_pid))).serve()
    return 0


async def _serve(context: RunContext, parent: int) -> int:
    remove_leftovers(context.scratch_parent)
    return await serve(context, parent)


async def _ready(options: Options) -> RunContext:
    """Prepares in advance everything that a run would otherwise have to wait for."""
    context = await open_context(options)
    catalogue()
    with suppress(ToolchainError):
        context.device.toolchain()
    with suppress(TorchMissingError):
        torch_python(options.torch_python)
    with suppress(ToolchainError):
        if context.inspector is not None:
            context.inspector.toolchain()
    return context


async def _run(chosen: argparse.Namespace, options: Options, parent: int) -> int:
    if chosen.command == "serve":
        return await serve(await _ready(options), parent)
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    if chosen.command == "certify":
        from services.executor.core.certify.command import certify_step  # noqa: PLC0415 - as above

        return await certify_step(chosen.step, options, chosen.runs, chosen.parent)
    if chosen.command == "lint":
        return await lint(chosen.slugs, await open_context(options))
    on_one_file = {"isa": _isa, "check": _check, "record": _record, "profile": _profile}
    try:
        return await on_one_file.get(chosen.command, _bench)(chosen, options)
    except (CatalogueError, UnknownElementTypeError) as error:
        sys.stderr.write(f"--problem, --dtype: {error}\n")
        return BAD_USAGE


async def _profile(chosen: argparse.Namespace, options: Options) -> int:
    job = CoreJob(chosen.source, Mode.CHECK, chosen.problem, chosen.dtype, SizeSet(chosen.sizes))
    return await profile(job, await open_context(options))


def _problem_of(chosen: argparse.Namespace, context: RunContext) -> Problem | None:
    """Returns the problem that the command line names, if any; raises CatalogueError and UnknownElementTypeError."""
    return variant_of(context.find_problem(chosen.problem), chosen.dtype) if chosen.problem else None


async def _isa(chosen: argparse.Namespace, options: Options) -> int:
    context = await open_context(options)
    problem = _problem_of(chosen, context)
    return await isa(chosen.source, problem, context, as_json=chosen.json, assembly=chosen.asm)


async def _check(chosen: argparse.Namespace, options: Options) -> int:
    context = await open_context(options)
    checks = frozenset(check for check in Check if getattr(chosen, check.value)) or frozenset(Check)
    if chosen.problem_def:
        sizes, definition = SizeSet(chosen.sizes), chosen.problem_def_text
        job = CoreJob(chosen.source, Mode.CHECK, chosen.problem, chosen.dtype, sizes, problem_definition=definition)
        return await check_definition(job, checks, context, as_json=chosen.json)
    problem = _problem_of(chosen, context)
    cases = problem.sizes.of(SizeSet(chosen.sizes)) if problem else ()
    return await check(CheckRequest(chosen.source, problem, cases, checks), context, as_json=chosen.json)


async def _record(chosen: argparse.Namespace, options: Options) -> int:
    context = await open_context(options)
    problem = _problem_of(chosen, context)
    if problem is None:
        sys.stderr.write("--problem: is empty; name one of the catalogue\n")
        return BAD_USAGE
    return await record(chosen.source, problem, problem.sizes.of(SizeSet(chosen.sizes)), context)


async def _bench(chosen: argparse.Namespace, options: Options) -> int:
    submission = Submission(
        problem=chosen.problem,
        source=chosen.source,
        launch_plan=chosen.launch_plan_text,
        problem_definition=chosen.problem_def_text,
        mode=Mode(chosen.mode).number,
        dtype=chosen.dtype,
        timing_mode=timing_number(TimingMode(chosen.timing) if chosen.timing else None),
        profile=chosen.profile,
    )
    try:
        submission = checked(submission, {slug: entry.problem for slug, entry in catalogue().problems.items()})
    except SubmissionError as error:
        sys.stderr.write(f"{error}\n")
        return BAD_USAGE
    job = CoreJob.of(submission, SizeSet(chosen.sizes), chosen.seed)
    return await bench(job, await open_context(options), as_json=chosen.json)


if __name__ == "__main__":
    sys.exit(main())
