"""`wavepool problems`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.markdown import Markdown

from wavepool_client.commands.completion import complete_problem
from wavepool_client.commands.options import Client, EndpointOption, Group, Shown, TokenOption, connect
from wavepool_client.terminal.output import results
from wavepool_client.terminal.result_printing import table_of

app = Group(
    "The problem catalogue.", "wavepool problems show softmax", "wavepool problems starter softmax > softmax.hip"
)
DtypeOption = Annotated[str, typer.Option("--dtype", help="The element type, where the problem has several.")]
SlugArgument = Annotated[
    str, typer.Argument(metavar="SLUG", autocompletion=complete_problem, help="The problem's slug.")
]


@app.lists()
def list_problems(gateway: Client) -> Shown:
    """List the problems."""
    found = gateway.problems()
    yield found
    rows = [(p.get("slug"), p.get("title"), p.get("difficulty"), ", ".join(p.get("tags") or [])) for p in found]
    yield table_of(("slug", "title", "difficulty", "tags"), rows)


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
