"""The options that `reserve` and `run` share: what is reserved, for whom and when."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer

from wavepool_client.build_context import build_context_of
from wavepool_client.commands.completion import complete_disk, complete_gpu_type, complete_queue
from wavepool_client.commands.options import EndpointOption, TokenOption, with_parameters
from wavepool_client.profiles import setting
from wavepool_client.reservation_request import wanted_fields
from wavepool_client.ssh.keys import Keys, keys_for

AddUserOption = Annotated[
    list[str] | None,
    typer.Option(
        "--add-user",
        metavar="NAME[=FILE]",
        help="User who may log in: a Wavepool user, github:NAME, or a name and a file of public keys. Repeatable.",
    ),
]


def _gpu_type(context: typer.Context, given: str) -> str:
    source = context.get_parameter_source("gpu_type")
    return given if source is not None and source.name == "COMMANDLINE" else setting("default_gpu_type")


@dataclass(frozen=True, kw_only=True)
class ReservationOptions:
    """The options as they were given."""

    gpus: Annotated[
        int | None,
        typer.Option(
            "--gpus",
            "-g",
            metavar="1|2|4|8",
            help="GPUs on one machine. Prompted for on a terminal, else 1. With --distributed: 16, 24, 32, 40 or 48.",
        ),
    ] = None
    gpu_type: Annotated[
        str,
        typer.Option(
            "--gpu-type",
            "-t",
            metavar="TYPE",
            autocompletion=complete_gpu_type,
            callback=_gpu_type,
            help="GPU type. Default: the setting default_gpu_type, else a prompt, else the operator's.",
        ),
    ] = ""
    distributed: Annotated[
        bool, typer.Option("--distributed", "-d", help="Several whole machines of 8 GPUs, started together.")
    ] = False
    allow_slow_links: Annotated[
        bool,
        typer.Option("--allow-slow-links", help="With --distributed: accept any network between the machines."),
    ] = False
    start_at: Annotated[
        str,
        typer.Option(
            "--start",
            metavar="TIME",
            help="Start later: 09:30, 'tomorrow 09:30', +2h, or '2026-11-28 09:30'. Local time unless a zone is given.",
        ),
    ] = ""
    name: Annotated[
        str,
        typer.Option("--name", "-n", help="Name of lower case letters, digits and hyphens. Default: a generated one."),
    ] = ""
    queue: Annotated[
        str, typer.Option("--queue", autocompletion=complete_queue, help="The queue to wait in. Default: `default`.")
    ] = ""
    fallback_gpu: Annotated[
        list[str] | None,
        typer.Option(
            "--fallback-gpu",
            metavar="TYPE",
            autocompletion=complete_gpu_type,
            help="GPU type to use if --gpu-type is not free. Repeatable, in order of preference.",
        ),
    ] = None
    disk: Annotated[
        str,
        typer.Option(
            "--disk",
            metavar="NAME|none",
            autocompletion=complete_disk,
            help="Disk to use as the home. Default: `none`, a home that is removed at the end.",
        ),
    ] = ""
    image: Annotated[
        str,
        typer.Option(
            "--image",
            metavar="HOST[:PORT]/NAME[:TAG]",
            help="Container image for the session's files. Default: the machine's own system.",
        ),
    ] = ""
    dockerfile: Annotated[
        Path | None,
        typer.Option(
            "--dockerfile",
            metavar="PATH",
            help="Build the image from this Dockerfile and its folder (at most 8 MiB compressed). Not with --image.",
        ),
    ] = None
    preserve_entrypoint: Annotated[
        bool,
        typer.Option(
            "--preserve-entrypoint",
            help="Also start the image's ENTRYPOINT and CMD. Their output goes to /workspace/entrypoint.log.",
        ),
    ] = False
    key: Annotated[
        list[Path] | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help="Public key that may log in. Repeatable. Default: those in ~/.ssh, your ssh agent and your user.",
        ),
    ] = None
    add_user: AddUserOption = None
    max_price: Annotated[
        float | None,
        typer.Option(
            "--max-price",
            metavar="DOLLARS",
            min=0,
            help="Highest price per GPU hour, including fallbacks. Above it, nothing is reserved.",
        ),
    ] = None
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also show which keys may log in.")] = False
    trace: Annotated[bool, typer.Option("--trace", help="As -v, and show the time of each step.")] = False
    endpoint: EndpointOption = None
    token: TokenOption = None

    @property
    def shows_keys(self) -> bool:
        """True if the keys that may log in are to be shown."""
        return self.verbose or self.trace

    def keys(self) -> Keys:
        """The keys of the person who runs the command; raises InputError if a file has none."""
        return keys_for(self.key or ())

    def build_context(self) -> bytes:
        """What the image is built from; empty if none is. Raises InputError."""
        return build_context_of(self.dockerfile, self.image)

    def wanted(self, hours: float) -> dict[str, Any]:
        """The fields of the reservation, but for its keys and for an image that is built; raises InputError."""
        return wanted_fields(
            hours,
            self.gpus,
            start=self.start_at,
            disk=self.disk,
            gpu_type=self.gpu_type,
            name=self.name,
            queue=self.queue,
            fallback_gpu_types=self.fallback_gpu,
            image=self.image,
            preserve_entrypoint=self.preserve_entrypoint,
            distributed=self.distributed,
            allow_slow_links=self.allow_slow_links,
        )


def with_reservation_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with these options behind its own; it gets them as its argument `options`."""
    own = [one for one in signature(command, eval_str=True).parameters.values() if one.name != "options"]
    shared = list(signature(ReservationOptions, eval_str=True).parameters.values())

    def with_options(**given: Any) -> None:  # noqa: ANN401 - whatever typer read
        options = ReservationOptions(**{one.name: given.pop(one.name) for one in shared})
        command(options=options, **given)

    return with_parameters(with_options, command, [*own, *shared])
