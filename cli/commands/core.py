"""`wavepool core`: the compile, check and benchmark core alone, without services."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path  # noqa: TC003 - typer reads annotations at run time
from typing import Annotated

import typer

app = typer.Typer(help="The compile, check and benchmark core alone: no services, no queue, no account.")


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def bench(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The kernel's source.", exists=True, dir_okay=False)],
    *,
    problem: Annotated[
        str, typer.Option("--problem", "-p", help="The problem's slug; none with --problem-def or --mode sandbox.")
    ] = "",
) -> None:
    """Compile, check and benchmark a kernel on this machine; further options go to the core as they are.

    `python -m services.executor.core bench --help` lists them: --mode, --problem-def, --launch-plan, --device and more.
    """
    core = [sys.executable, "-m", "services.executor.core", "bench", str(file), "--problem", problem]
    raise typer.Exit(subprocess.run([*core, *context.args], check=False).returncode)  # noqa: S603 - our own program


@app.command()
def compare(
    first: Annotated[Path, typer.Argument(help="A signed report, or what `bench --json` printed.", dir_okay=False)],
    second: Annotated[Path, typer.Argument(help="Another of the same problem and device.", dir_okay=False)],
) -> None:
    """Say which of two results is faster: FASTER, SLOWER, SAME, or UNCLEAR where the measurements do not tell."""
    core = [sys.executable, "-m", "services.executor.core", "compare", str(first), str(second)]
    raise typer.Exit(subprocess.run(core, check=False).returncode)  # noqa: S603 - our own program


@app.command()
def isa(
    file: Annotated[Path, typer.Argument(help="The kernel's source.", exists=True, dir_okay=False)],
    *,
    problem: Annotated[str, typer.Option("--problem", "-p", help="Refuse what a run for this problem would.")] = "",
    dtype: Annotated[str, typer.Option("--dtype", help="The problem's element type.")] = "float32",
    as_json: Annotated[bool, typer.Option("--json", help="Print it as JSON.")] = False,
    asm: Annotated[bool, typer.Option("--asm", help="With the instructions, below the lines they are from.")] = False,
) -> None:
    """Say what the MI300X's compiler makes of a kernel: registers, LDS, occupancy, hints. No GPU takes part."""
    core = [sys.executable, "-m", "services.executor.core", "isa", str(file), "--dtype", dtype]
    core += ["--problem", problem] if problem else []
    options = [*(["--json"] if as_json else []), *(["--asm"] if asm else [])]
    raise typer.Exit(subprocess.run([*core, *options], check=False).returncode)  # noqa: S603 - our own program


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def check(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The kernel's source.", exists=True, dir_okay=False)],
    *,
    problem: Annotated[str, typer.Option("--problem", "-p", help="The problem's slug; none for a whole program.")] = "",
    memcheck: Annotated[bool, typer.Option("--memcheck", help="Bounds, freed and unwritten memory.")] = False,
    racecheck: Annotated[bool, typer.Option("--racecheck", help="Missing barriers, races. Both where none.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Find wrong accesses to memory and data races in kernels, with block, thread and source line. No GPU is needed."""
    core = [sys.executable, "-m", "services.executor.core", "check", str(file)]
    core += ["--problem", problem] if problem else []
    chosen = {"--memcheck": memcheck, "--racecheck": racecheck, "--json": as_json}
    core += [option for option, wanted in chosen.items() if wanted]
    raise typer.Exit(subprocess.run([*core, *context.args], check=False).returncode)  # noqa: S603 - our own program


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def profile(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The kernel's source.", exists=True, dir_okay=False)],
    *,
    problem: Annotated[str, typer.Option("--problem", "-p", help="The problem's slug.")],
    device: Annotated[str, typer.Option("--device", help="A device that has a profiler.")] = "rocm",
) -> None:
    """Check a kernel under the GPU's own profiler, and show how long each of its kernels took."""
    core = [sys.executable, "-m", "services.executor.core", "profile", str(file), "--problem", problem]
    core += ["--device", device, *context.args]
    raise typer.Exit(subprocess.run(core, check=False).returncode)  # noqa: S603 - our own program


def certify(
    context: typer.Context,
    *,
    device: Annotated[str, typer.Option("--device", help="rocm, nvidia, cpu or sim.")] = "rocm",
    quick: Annotated[
        bool, typer.Option("--quick", help="A first look, of minutes: two steps of each long part.")
    ] = False,
) -> None:
    """Find out what works on this machine, with figures: a JSON and a page. Goes on where it was stopped.

    `python -m services.executor.core certify --help` lists further options, which go to the core as they are. Exit
    status: 0 all passed, 1 something failed, 2 bad input, 3 the device cannot be opened.
    """
    core = [sys.executable, "-m", "services.executor.core", "certify", "--device", device]
    core += [*(["--quick"] if quick else []), *context.args]
    raise typer.Exit(subprocess.run(core, check=False).returncode)  # noqa: S603 - our own program
