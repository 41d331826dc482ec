"""GPUs by the hour in Python: a reservation that runs commands, takes files there and back, and ends by itself.

>>> from wavepool_client import Reservation
>>> with Reservation.make(hours=1, gpus=8, gpu_type="MI300X") as reservation:
...     reservation.wait_until_ready()
...     reservation.upload("train.py")
...     done = reservation.exec("python train.py")
...     print(done.exit_status, done.stdout)
...     reservation.download("model.pt", "results/")
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from wavepool_client.build_context import build_context_of
from wavepool_client.errors import InputError, UnreachableError
from wavepool_client.reservation_client import OVER, ReservationClient
from wavepool_client.reservation_request import access_fields, check_price, quoted_fields, wanted_fields
from wavepool_client.ssh.access import remember_identity
from wavepool_client.ssh.keys import keys_for, lines_of
from wavepool_client.ssh.remote import CONNECTION_FAILED, Remote, copied, remote_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from wavepool_client.http.event_stream import Event


@dataclass(frozen=True)
class Execution:
    """The end of a command: its exit status, and all that it wrote."""

    exit_status: int
    stdout: str
    stderr: str


class Reservation:
    """A reservation of GPUs. At the end of its `with` block it is cancelled; what was used is charged.

    Methods raise WavepoolError (`wavepool_client.errors`). Commands and copies use this machine's `ssh` and `rsync`.
    """

    def __init__(self, client: ReservationClient, fields: dict[str, Any]) -> None:
        """Wraps a reservation as the gateway describes it; `make` and `attach` are the ways to get one."""
        self._client = client
        self.fields = fields
        """As of the last call: what `GET /api/v1/reservations/{id}` answers."""

    @classmethod
    def make(  # noqa: PLR0913 - an argument for each option
        cls,
        *,
        hours: float,
        gpus: int = 1,
        gpu_type: str = "",
        name: str = "",
        queue: str = "",
        fallback_gpu_types: Sequence[str] = (),
        image: str = "",
        dockerfile: Path | str = "",
        preserve_entrypoint: bool = False,
        start: datetime | str | None = None,
        distributed: bool = False,
        allow_slow_links: bool = False,
        disk: str = "",
        keys: Sequence[Path | str] = (),
        add_users: Sequence[str] = (),
        max_price: float | None = None,
        idempotency_key: str = "",
        endpoint: str | None = None,
        token: str | None = None,
    ) -> Self:
        """Reserves `gpus` (1, 2, 4 or 8) of one machine for `hours` from the moment when people can log in.

        With `distributed` and `allow_slow_links` 16 to 48, whole machines of 8; commands and files go to the first one.

        `keys` are files of public keys, and no others may log in; without any, those that `wavepool reserve` takes.
        The files of `image`, such as `registry.example:5000/team/rocm:6.2`, are the session's root, or those
        of the one that is built from `dockerfile` and its folder; with `preserve_entrypoint` its own command is started
        there, too.
        With `start`, a datetime or what `wavepool reserve --start` takes, it begins later; without a zone it is local
        time. `disk` is the name of the disk that is the home. `add_users` have others who may log in: `bob` of this
        Wavepool, `github:bob`, or `bob=bob.pub` with a file of public keys. If a GPU may cost more than `max_price`
        dollars per hour, nothing is reserved. A repeated `idempotency_key` gives the same reservation. Endpoint and
        token are found as for `wavepool_client.Client`.

        Raises InputError for what cannot be reserved, and the other errors of WavepoolError.
        """
        found = keys_for([Path(key) for key in keys])
        wanted = wanted_fields(
            hours,
            gpus,
            start=start,
            disk=disk,
            gpu_type=gpu_type,
            name=name,
            queue=queue,
            fallback_gpu_types=list(fallback_gpu_types),
            image=image,
            preserve_entrypoint=preserve_entrypoint,
            distributed=distributed,
            allow_slow_links=allow_slow_links,
        )
        wanted |= access_fields(found.lines, add_users, "add_users", only_these_keys=bool(keys))
        content = build_context_of(Path(dockerfile) if dockerfile else None, image)
        client = ReservationClient(endpoint, token)
        try:
            if max_price is not None:
                check_price(client.quote(quoted_fields(wanted)), max_price, "max_price")
            built = {"build_digest": client.upload(content)} if content else {}
            made = client.reserve({**wanted, **built}, idempotency_key)
        except BaseException:
            client.close()
            raise
        if found.identity is not None:
            remember_identity(str(made["id"]), found.identity)
        return cls(client, made)

    @classmethod
    def attach(cls, reservation_id: str, *, endpoint: str | None = None, token: str | None = None) -> Self:
        """Takes over a reservation that exists, by its whole id; a `with` block cancels it at its end."""
        client = ReservationClient(endpoint, token)
        try:
            return cls(client, client.reservation(reservation_id))
        except BaseException:
            client.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.cancel()
        finally:
            self.close()

    @property
    def id(self) -> str:
        """Its id, such as `res_01J…`."""
        return str(self.fields["id"])

    @property
    def state(self) -> str:
        """Its state as of the last call, such as `pending`, `queued`, `preparing`, `active` or `expired`."""
        return str(self.fields.get("state"))

    def refresh(self) -> dict[str, Any]:
        """Asks how it is now; returns and keeps the answer."""
        self.fields = self._client.reservation(self.id)
        return self.fields

    def wait_until_ready(
        self, timeout_seconds: float | None = None, on_event: Callable[[Event], None] | None = None
    ) -> Self:
        """Waits until people can log in; `on_event` receives every step.

        Raises TimeoutError if that takes longer than `timeout_seconds` and ten seconds more, and UnreachableError if it
        ends before.
        """
        for event in self._client.events(self.id, within_seconds=timeout_seconds):
            if on_event is not None:
                on_event(event)
            if event.status == "ACTIVE":
                break
        if self.refresh().get("state") != "active":
            raise UnreachableError(
                f"{self.id} is {self.state}: {self.fields.get('message') or 'it does not accept logins'}"
            )
        return self

    def exec(self, line: str) -> Execution:
        """Runs a line of its shell, and waits for the end; a line that fails is no error, but a lost connection is."""
        done = self._remote().output(line)
        if done.returncode == CONNECTION_FAILED:
            state = self.refresh().get("state")
            raise UnreachableError(f"no connection to {self.id}, which is {state}: {done.stderr.strip()}")
        return Execution(done.returncode, done.stdout, done.stderr)

    def upload(self, source: Path | str, target: str = "./") -> None:
        """Copies a file or a folder there, by default to the home; `folder/` is what is in a folder, as for rsync."""
        self._check(self._remote().upload([source], target), f"{source} was copied to {self.id} only in part")

    def download(self, source: str, target: Path | str = ".") -> None:
        """Copies a file or a folder from there, by default to the working folder; paths are relative to the home."""
        self._check(self._remote().download(source, target), f"{source} was copied from {self.id} only in part")

    def extend(self, hours: float) -> None:
        """Adds time to it, once it is prepared or active."""
        self.fields = self._client.extend(self.id, hours)

    def add_user(self, name: str, keys: Path | str | None = None) -> None:
        """Lets a user log in, with the public keys in the file `keys`, or with those that Wavepool finds for that user.

        Without a file, `name` is a user of this Wavepool, or `github:` and a name on GitHub.
        """
        found = [] if keys is None else [{"user": name, "public_key": line} for line in lines_of(Path(keys))]
        lines = found or [{"user": name}]
        self.fields = self._client.change_users(self.id, lines)

    def remove_user(self, name: str) -> None:
        """Logs a user out for good."""
        self.fields = self._client.change_users(self.id, (), [name])

    def cancel(self) -> None:
        """Ends it in any state; one that is over stays as it is."""
        if self.state not in OVER:
            self.fields = self._client.cancel(self.id)

    def close(self) -> None:
        """Closes the connection to the gateway; the reservation goes on."""
        self._client.close()

    def _remote(self) -> Remote:
        if self.state != "active":
            raise InputError(f"{self.id} is {self.state} and does not accept logins; call wait_until_ready() first")
        return remote_of(self.fields, self._client.connection)

    def _check(self, status: int, failure: str) -> None:
        if not copied(status):
            raise UnreachableError(f"{failure} (rsync's exit status is {status})")
