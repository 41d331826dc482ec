"""`wavepool problems`."""

from __future__ import annotations

import sys
from typing import Annotated

import typer
from rich.markdown import Markdown

from wavepool_client.commands.completion import complete_problem
from wavepool_client.commands.options import EndpointOption, JsonOption, TokenOption, connect, examples
from wavepool_client.terminal.output import print_json, results
from wavepool_client.terminal.result_printing import table_of

app = typer.Typer(
    help="The problem catalogue.",
    epilog=examples("wavepool problems show softmax", "wavepool problems starter softmax > softmax.hip"),
)
DtypeOption = Annotated[str, typer.Option("--dtype", help="The element type, where the problem has several.")]
SlugArgument = Annotated[
    str, typer.Argument(metavar="SLUG", autocompletion=complete_problem, help="The problem's slug.")
]


@app.callback(invoke_without_command=True)
def problems(
    context: typer.Context,
    *,
    endpoint: EndpointOption = None,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """The problem catalogue; without a subcommand, lists it."""
    if context.invoked_subcommand is None:
        list_problems(endpoint=endpoint, token=token, as_json=as_json)


@app.command("list")
def list_problems(*, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """List the problems."""
    with connect(endpoint, token) as client:
        found = client.problems()
    if as_json:
        print_json(found)
        return
    rows = [(p.get("slug"), p.get("title"), p.get("difficulty"), ", ".join(p.get("tags") or [])) for p in found]
    results.print(table_of(("slug", "title", "difficulty", "tags"), rows))


@app.command()
def show(
    slug: SlugArgument, *, endpoint: EndpointOption = None, token: TokenOption = None, as_json: JsonOption = False
) -> None:
    """Show a problem's statement."""
    with connect(endpoint, token) as client:
        problem = client.problem(slug)
    if as_json:
        print_json(problem)
        return
    results.print(f"[bold]{problem.get('slug') or slug}[/bold]  void solution({problem.get('signature')})\n")
    results.print(Markdown(str(problem.get("statement") or "")))


@app.command()
def starter(
    slug: SlugArgument, *, dtype: DtypeOption = "", endpoint: EndpointOption = None, token: TokenOption = None
) -> None:
    """Print a source to begin a solution from."""
    with connect(endpoint, token) as client:
        sys.stdout.write(str(client.problem(slug, dtype).get("starter") or ""))
