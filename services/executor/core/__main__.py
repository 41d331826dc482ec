"""`python -m services.executor.core`: the core alone, without services."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from problems.definition import SizeSet
from services.executor.core.bench import BAD_USAGE, INFRASTRUCTURE, bench
from services.executor.core.equipment import (
    Options,
    catalogue,
    default_cache_folder,
    open_equipment,
)
from services.executor.core.forbidden import ForbiddenRulesError
from services.executor.core.isa_command import isa
from services.executor.core.job import CoreJob, Mode
from services.executor.core.lint import lint
from services.executor.core.nursery import Nursery
from services.executor.core.serve import serve
from services.executor.devices.device import ToolchainError
from services.executor.devices.plugins import BrokenDeviceError, UnknownDeviceError, device_names
from services.executor.sandboxes.sandbox import SandboxError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.executor.core.run import Equipment


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; answers the exit status: 0 accepted, 1 not accepted, 2 bad usage, 3 infrastructure."""
    parent = os.getppid()
    chosen = _parser().parse_args(arguments)
    if chosen.command in {"bench", "isa"}:
        try:
            _read_files(chosen)
        except OSError as error:
            sys.stderr.write(f"{error.filename}: {error.strerror}\n")
            return BAD_USAGE
    options = Options(
        chosen.device, chosen.sandbox, chosen.cache_folder, chosen.cache_mib, chosen.forbidden, chosen.torch_python
    )
    try:
        if chosen.command == "nursery":
            return _nursery(options)
        return asyncio.run(_run(chosen, options, parent))
    except (UnknownDeviceError, ForbiddenRulesError) as error:
        sys.stderr.write(f"{error}\n")
        return BAD_USAGE
    except (BrokenDeviceError, SandboxError) as error:
        sys.stderr.write(f"{error}\n")
        return INFRASTRUCTURE


def _read_files(chosen: argparse.Namespace) -> None:
    """Raises OSError with the name of a file that cannot be read."""
    chosen.source = chosen.file.read_text("utf-8", errors="replace")
    for name in ("launch_plan", "problem_def"):
        file: Path | None = getattr(chosen, name, None)
        setattr(chosen, f"{name}_text", file.read_text("utf-8", errors="replace") if file else "")


def _nursery(options: Options) -> int:
    asyncio.run(_ready(options))
    nursery_pid = os.getpid()
    try:
        channel = socket.socket(fileno=sys.stdin.fileno())
    except OSError as error:
        sys.stderr.write(f"nursery: stdin must be the socket that requests come over: {error.strerror}\n")
        return BAD_USAGE
    Nursery(channel, lambda: asyncio.run(_serve(options, nursery_pid))).tend()
    return 0


async def _serve(options: Options, parent: int) -> int:
    return await serve(await _ready(options), parent)


async def _ready(options: Options) -> Equipment:
    """Before the job comes: what a run would otherwise have to wait for."""
    equipment = await open_equipment(options)
    catalogue()
    with suppress(ToolchainError):
        equipment.device.toolchain()
    with suppress(ToolchainError):
        if equipment.inspector is not None:
            equipment.inspector.toolchain()
    return equipment


async def _run(chosen: argparse.Namespace, options: Options, parent: int) -> int:
    if chosen.command == "serve":
        return await _serve(options, parent)
    task = asyncio.current_task()
    if task is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    if chosen.command == "lint":
        return await lint(chosen.slugs, await open_equipment(options))
    if chosen.command == "isa":
        return await isa(chosen.source, await open_equipment(options), as_json=chosen.json, assembly=chosen.asm)
    return await _bench(chosen, options)


async def _bench(chosen: argparse.Namespace, options: Options) -> int:
    job = CoreJob(
        source=chosen.source,
        mode=Mode(chosen.mode),
        problem=chosen.problem,
        dtype=chosen.dtype,
        size_set=SizeSet(chosen.sizes),
        seed=chosen.seed,
        launch_plan=chosen.launch_plan_text,
        problem_def=chosen.problem_def_text,
    )
    return await bench(job, await open_equipment(options), as_json=chosen.json)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m services.executor.core", description=__doc__)
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--device", default="cpu", help=", ".join(device_names()))
    shared.add_argument("--sandbox", default="auto", help="auto, required, bubblewrap or process")
    shared.add_argument("--cache-folder", type=Path, default=default_cache_folder(), help="where builds are kept")
    shared.add_argument("--cache-mib", type=int, default=2048, help="the most that the builds may fill")
    shared.add_argument("--forbidden", type=Path, help="TOML file that adds to forbidden.toml or changes it")
    named = os.environ.get("EXECUTOR_TORCH_PYTHON")
    shared.add_argument("--torch-python", type=Path, default=named, help="evaluates problem definitions")
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("bench", parents=[shared], help="compile, check and benchmark one file")
    one.add_argument("file", type=Path, help="HIP source")
    one.add_argument("--problem", default="", help="the slug of a problem; none for --mode sandbox")
    one.add_argument("--mode", choices=list(Mode), default=Mode.FULL)
    one.add_argument("--dtype", default="float32")
    one.add_argument("--sizes", choices=list(SizeSet), default=SizeSet.CPU)
    one.add_argument(
        "--seed",
        default="",
        help="make the same inputs again: any text, or the `seed` of a report (they are from entropy otherwise)",
    )
    one.add_argument("--launch-plan", type=Path, help="JSON: the file has kernels only, and is launched by this plan")
    one.add_argument("--problem-def", type=Path, help="a problem of your own: Python source of a problem class")
    one.add_argument("--json", action="store_true", help="print the last event as JSON, stages to stderr")
    linter = commands.add_parser("lint", parents=[shared], help="prove problems: honest passes, lazy kernels fail")
    linter.add_argument("slugs", nargs="*", help="problems; all where none is given")
    about = commands.add_parser("isa", parents=[shared], help="what the MI300X's compiler makes of one file; no GPU")
    about.add_argument("file", type=Path, help="HIP source")
    about.add_argument("--json", action="store_true", help="print it as JSON")
    about.add_argument("--asm", action="store_true", help="with the instructions, below the lines that they are from")
    commands.add_parser("serve", parents=[shared], help="run one job from stdin, events to stdout")
    commands.add_parser("nursery", parents=[shared], help="fork judges on request; stdin is the socket for requests")
    return parser


if __name__ == "__main__":
    sys.exit(main())
