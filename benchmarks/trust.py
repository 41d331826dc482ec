"""Compares claimed times with true ones, for honest kernels whose true time is known, and the gain of resubmitting.

`python benchmarks/trust.py` runs kernels of 1 us to 10 ms through the whole core, eight times each, on a simulated GPU
and on `cpu`. For each it prints the median of claimed over true time, the largest error of a run, the standard
deviation of the runs, how far the best run is below their mean, and whether the aims are met:

    within 1 % of the truth from 20 us on     simulated GPU alone: `cpu` has no idle processor to promise
    sd at most 0.3 %, gain of the best at most 0.3 %

On the simulated GPU the true time is the one that the source asks for, with noise from slow first calls, a clock that
ramps up, and jitter. Nothing really takes that long, so the load of this machine has no effect. On `cpu` a thread of
the kernel waits until the processor's counter says that the time has passed, so the load of this machine affects all
figures. Both use one small case, as the judge does the same for each call of a large one. Our own runner launches the
kernels, so that their times are VALID. The exit status is 1 if the simulated GPU misses an aim.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from services.executor.core.certify.known_times import NoTimeError, Row, measured
from services.executor.core.certify.steps import TRUE_US
from services.executor.core.run.installation import Options, default_cache_folder, open_context
from services.executor.devices.sim.sim_device import SimulatedGpu


def line_of(row: Row) -> str:
    """The row as a line of the table."""
    aims = "met" if not row.missed else f"missed: {', '.join([*row.missed, *row.unlike])}"
    return (
        f"{row.device:<8}{row.true_us:>10g}{row.ratio:>12.4f}{row.farthest_percent:>11.2f}{row.spread_percent:>8.2f}"
        f"{row.gain_percent:>8.2f}{row.samples:>7.0f}  {aims}"
    )


async def compare(devices: list[str], runs: int, most_us: float) -> list[Row]:
    """Prints a line for each kernel and device as it is measured."""
    print(
        f"{'device':<8}{'true us':>10}{'claimed/true':>12}{'farthest %':>11}{'sd %':>8}{'gain %':>8}{'calls':>7}  aims"
    )
    rows: list[Row] = []
    for device in devices:
        opened = await open_context(Options("cpu", "auto", default_cache_folder(), 2048))
        context = replace(opened, device=SimulatedGpu()) if device == "sim" else opened
        for true_us in TRUE_US:
            if true_us <= most_us:
                rows.append(await measured(true_us, runs, context))
                print(line_of(rows[-1]), flush=True)
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Prints the table; returns 1 if the simulated GPU misses an aim."""
    parser = argparse.ArgumentParser(description="Compare claimed times with true ones.")
    parser.add_argument("--runs", type=int, default=8, help="submissions of each kernel (default 8)")
    parser.add_argument("--device", choices=["sim", "cpu"], help="both by default")
    parser.add_argument("--most-us", type=float, default=TRUE_US[-1], help="leave out longer kernels")
    chosen = parser.parse_args(arguments)
    begin = time.perf_counter()
    devices = [chosen.device] if chosen.device else ["sim", "cpu"]
    try:
        rows = asyncio.run(compare(devices, chosen.runs, chosen.most_us))
    except NoTimeError as error:
        sys.exit(str(error))
    load = os.getloadavg()[0]
    print(f"{chosen.runs} runs each in {time.perf_counter() - begin:.0f} s, load of this machine {load:.1f}")
    missed = [row for row in rows if row.device == "sim" and row.missed]
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
