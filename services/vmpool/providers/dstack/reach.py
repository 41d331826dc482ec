"""Reaches executors on dstack's machines over SSH, with a key that dstack lets into machines of our runs."""

from __future__ import annotations

from functools import cached_property

import asyncssh

from services.vmpool.providers.dstack.config import DstackConfig
from services.vmpool.providers.dstack.runs.run import Address
from services.vmpool.providers.ssh.key import HostKeyPins, own_key, public_line
from services.vmpool.providers.ssh.known_targets import KnownTargets
from services.vmpool.providers.ssh.tunnels import SshTarget, SshTunnels


class Reach:
    """Tunnels to the executors of running machines. They are made at first use, because they need the key."""

    def __init__(self, config: DstackConfig) -> None:
        self._folder = config.data_dir.resolve() / "dstack"
        self._executor_port = config.agent.executor_port
        self._known = KnownTargets(self._folder / "targets")
        self._resumed: set[str] = set()

    @property
    def public_key(self) -> str:
        """The public key that a machine has to accept."""
        return public_line(self._key)

    def endpoint(self, machine_id: str, address: Address, proxy: Address | None) -> str:
        """The endpoint by which we reach the executor of a running machine."""
        target = self._target(address, proxy)
        self._known.keep(machine_id, target)
        return self._tunnels.open(machine_id, target)

    def resume(self, machine_id: str) -> None:
        """Reach a machine as an earlier process did, because dstack's server may be away when a pool starts."""
        if machine_id in self._resumed:
            return
        self._resumed.add(machine_id)
        target = self._known.of(machine_id)
        if target is not None:
            self._tunnels.open(machine_id, target)

    def answering_host(self, machine_id: str) -> str:
        """The machine's host, if it answers or the first try to reach it is under way; else empty."""
        self.resume(machine_id)
        return self._tunnels.answering_host(machine_id)

    async def drop(self, machine_id: str) -> None:
        """Forget a machine that is over, and close its tunnel."""
        self._known.forget(machine_id)
        self._resumed.discard(machine_id)
        await self._tunnels.drop(machine_id)

    async def close(self) -> None:
        """Close all connections."""
        if "_tunnels" in self.__dict__:
            await self._tunnels.close()

    @cached_property
    def _key(self) -> asyncssh.SSHKey:
        return own_key(self._folder)

    @cached_property
    def _tunnels(self) -> SshTunnels:
        return SshTunnels(self._folder / "sockets", self._key, HostKeyPins(self._folder / "host-keys"))

    def _target(self, address: Address, proxy: Address | None) -> SshTarget:
        jump = self._target(proxy, None) if proxy else None
        return SshTarget(address.host, address.port, address.username, self._executor_port, jump)
