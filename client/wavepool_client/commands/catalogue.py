"""`wavepool problems`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.markdown import Markdown

from wavepool_client.commands.completion import complete_gpu_type, complete_problem
from wavepool_client.commands.options import Client, EndpointOption, Group, Shown, TokenOption, connect
from wavepool_client.terminal.output import results
from wavepool_client.terminal.result_printing import listing
from wavepool_client.text.columns import Column, written
from wavepool_client.text.narration import format_milliseconds

app = Group(
    "The problem catalogue.", "wavepool problems show softmax", "wavepool problems starter softmax > softmax.hip"
)
DtypeOption = Annotated[str, typer.Option("--dtype", help="The element type, where the problem has several.")]
SlugArgument = Annotated[
    str, typer.Argument(metavar="SLUG", autocompletion=complete_problem, help="The problem's slug.")
]


@app.lists()
def list_problems(
    gateway: Client,
    *,
    gpu: Annotated[
        str, typer.Option("--gpu", help="The GPU type of the times, or cpu.", autocompletion=complete_gpu_type)
    ] = "",
    dtype: DtypeOption = "",
) -> Shown:
    """List the problems: if you solved each, your best proven time, the record, and how many users solved it."""
    found = gateway.problems(gpu, dtype)
    yield found
    columns: dict[str, Column] = {
        **{name: name for name in ("slug", "title", "difficulty")},
        "status": written("status", lambda status: None if status == "none" else status),
        "my best": written("best_runtime_ms", _time),
        "record": written("record_runtime_ms", _time),
        "solved by": "users",
        "tags": written("tags", lambda tags: ", ".join(tags or [])),
    }
    yield listing(found, columns)


def _time(runtime_ms: float | None) -> str | None:
    return None if runtime_ms is None else format_milliseconds(runtime_ms)


@app.answers("show")
def show(gateway: Client, slug: SlugArgument) -> Shown:
    """Show a problem's statement."""
    problem = gateway.problem(slug)
    yield problem
    results.print(f"[bold]{problem.get('slug') or slug}[/bold]  void solution({problem.get('signature')})\n")
    yield Markdown(str(problem.get("statement") or ""))


@app.command()
def starter(
    slug: SlugArgument, *, dtype: DtypeOption = "", endpoint: EndpointOption = None, token: TokenOption = None
) -> None:
    """Print a source to begin a solution from."""
    with connect(endpoint, token) as client:
        sys.stdout.write(str(client.problem(slug, dtype).get("starter") or ""))
