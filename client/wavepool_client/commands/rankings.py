"""`wavepool leaderboard` and `wavepool compare`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from wavepool_client.commands.completion import complete_gpu_type, complete_problem, complete_submission
from wavepool_client.commands.options import Client, Shown, answered
from wavepool_client.terminal.output import results
from wavepool_client.terminal.result_printing import table_of
from wavepool_client.text.narration import format_milliseconds, format_time

YOURS = "you"


@answered
def leaderboard(
    gateway: Client,
    problem: Annotated[
        str, typer.Argument(metavar="PROBLEM", help="A slug or an alias.", autocompletion=complete_problem)
    ],
    *,
    gpu: Annotated[str, typer.Option("--gpu", help="The GPU type, or cpu.", autocompletion=complete_gpu_type)] = "",
    dtype: Annotated[str, typer.Option("--dtype", help="The element type.")] = "",
    timing: Annotated[str, typer.Option("--timing", help="cold, hot or first-call. Default: the device's.")] = "",
    limit: Annotated[int, typer.Option("--limit", min=1, max=200, help="Most users to show.")] = 20,
) -> Shown:
    """Show the best proven time of each user for a problem, fastest first."""
    given = {"problem": problem, "gpu_type": gpu, "dtype": dtype, "timing": timing, "limit": limit}
    found = gateway.rankings(given)
    yield found
    results.print(f"{title_of(found)}.", markup=False)
    if not found["rankings"]:
        results.print(
            f"There is no proven time yet. Only VALID times count: `wavepool submit FILE -p {found.get('problem')}`."
        )
        return
    shown = list(found["rankings"])
    own = found.get("you")
    if own and not any(one.get("is_you") for one in shown):
        shown.append(own)
    columns = ("rank", "user", "time", "GFLOP/s", "since", "times", "submission")
    yield table_of(columns, map(_ranked_row, shown))
    if not found.get("ranked"):
        results.print("Times of the cpu device do not rank: they do not predict a GPU's.")


@answered
def compare(
    gateway: Client,
    base: Annotated[
        str, typer.Argument(metavar="BASE", help="The submission to compare with.", autocompletion=complete_submission)
    ],
    other: Annotated[
        str,
        typer.Argument(metavar="OTHER", help="The submission that may be faster.", autocompletion=complete_submission),
    ],
) -> Shown:
    """Show whether one submission's kernel is faster than another's, or that the measurements cannot decide."""
    found = gateway.comparison(base, other)
    yield found
    results.print(str(found.get("reason")), markup=False)
    columns = ("case", "base", "other", "speedup", "95 % interval")
    rows = [_case_row(case) for case in found["cases"]]
    yield table_of(columns, [*rows, ("all (geometric mean)", None, None, *_speedup(found))])


def title_of(found: dict[str, Any]) -> str:
    """What the times are of, in one line without a stop."""
    users = found.get("users")
    people = "1 user has a time" if users == 1 else f"{users} users have a time"
    way = ", ".join(str(found.get(name)) for name in ("problem", "dtype", "gpu_type", "timing_mode"))
    return f"{way}: {people}"


def _ranked_row(one: dict[str, Any]) -> tuple[object, ...]:
    user = f"{one.get('user')} ({YOURS})" if one.get("is_you") else one.get("user")
    time = format_time(one.get("runtime_ms"), one.get("runtime_interval"))
    since, gflops = str(one.get("end_time") or "")[:10], f"{one.get('gflops', 0):,.1f}"
    return one.get("rank"), user, time, gflops, since, one.get("timings"), one.get("submission_id")


def _case_row(case: dict[str, Any]) -> tuple[object, ...]:
    times = [format_milliseconds(case.get(f"{name}_runtime_ms")) for name in ("base", "other")]
    return (case.get("name"), *times, *_speedup(case))


def _speedup(one: dict[str, Any]) -> tuple[str, str]:
    return f"{one.get('speedup', 0):.3f}", f"{one.get('speedup_low', 0):.3f} to {one.get('speedup_high', 0):.3f}"
