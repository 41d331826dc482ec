"""The options that `reserve` and `run` share: what is reserved, for whom and when."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from pathlib import Path  # noqa: TC003 - typer reads annotations at run time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from wavepool_client.build_context import build_context_of
from wavepool_client.commands.completion import complete_disk, complete_gpu_type, complete_queue
from wavepool_client.commands.options import EndpointOption, TokenOption, with_parameters
from wavepool_client.profiles import setting
from wavepool_client.reservation_request import wanted_fields
from wavepool_client.ssh.keys import Keys, keys_for

if TYPE_CHECKING:
    from collections.abc import Callable

AddUserOption = Annotated[
    list[str] | None,
    typer.Option(
        "--add-user",
        metavar="NAME[=FILE]",
        help="Somebody who may log in: a user of this Wavepool, github:NAME, or a name with a file of public keys.",
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
            help="GPUs of one machine; asked for on a terminal, else 1. With --distributed 16, 24, 32, 40 or 48.",
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
            help="In any case; default: that of `wavepool config show`; else it is asked for, or the operator's.",
        ),
    ] = ""
    distributed: Annotated[
        bool, typer.Option("--distributed", "-d", help="Whole machines of 8 GPUs, several at once, all or none.")
    ] = False
    allow_slow_links: Annotated[
        bool,
        typer.Option("--allow-slow-links", help="With --distributed: whatever links there are between them will do."),
    ] = False
    start_at: Annotated[
        str,
        typer.Option(
            "--start",
            metavar="TIME",
            help="Later: 09:30 (the next), 'tomorrow 09:30', +2h, '2026-11-28 09:30', or with a zone; else local time.",
        ),
    ] = ""
    name: Annotated[
        str, typer.Option("--name", "-n", help="Lower case letters, digits and hyphens; default: one is made.")
    ] = ""
    queue: Annotated[
        str, typer.Option("--queue", autocompletion=complete_queue, help="The queue to wait in; default: `default`.")
    ] = ""
    fallback_gpu: Annotated[
        list[str] | None,
        typer.Option(
            "--fallback-gpu",
            metavar="TYPE",
            autocompletion=complete_gpu_type,
            help="A GPU that will do where none of --gpu-type is free; give it again for more, the best first.",
        ),
    ] = None
    disk: Annotated[
        str,
        typer.Option(
            "--disk",
            metavar="NAME|none",
            autocompletion=complete_disk,
            help="The disk that is the home; default: `none`, a home that is removed at the end.",
        ),
    ] = ""
    image: Annotated[
        str,
        typer.Option(
            "--image",
            metavar="HOST[:PORT]/NAME[:TAG]",
            help="A container image whose files are the root; default: the machine's own.",
        ),
    ] = ""
    dockerfile: Annotated[
        Path | None,
        typer.Option(
            "--dockerfile",
            metavar="PATH",
            help="Build the image from this Dockerfile and its folder, at most 8 MiB compressed; not with --image.",
        ),
    ] = None
    preserve_entrypoint: Annotated[
        bool,
        typer.Option(
            "--preserve-entrypoint",
            help="Start the image's own ENTRYPOINT and CMD, too; their output is in /workspace/entrypoint.log.",
        ),
    ] = False
    key: Annotated[
        list[Path] | None,
        typer.Option(
            "--key",
            metavar="FILE",
            help="A public key that may log in; default: those in ~/.ssh, of the agent, and of your user.",
        ),
    ] = None
    add_user: AddUserOption = None
    max_price: Annotated[
        float | None,
        typer.Option(
            "--max-price",
            metavar="DOLLARS",
            min=0,
            help="The most that a GPU may cost per hour, with --fallback-gpu the dearest; else nothing is reserved.",
        ),
    ] = None
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Also say which keys may log in.")] = False
    trace: Annotated[bool, typer.Option("--trace", help="As -v, and each step with its time.")] = False
    endpoint: EndpointOption = None
    token: TokenOption = None

    @property
    def tells_all(self) -> bool:
        """True if it is to be said which keys may log in."""
        return self.verbose or self.trace

    def keys(self) -> Keys:
        """The keys of whoever runs the command; raises InputError if a file has none."""
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
