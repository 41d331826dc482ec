"""Measures the network between two nodes of a reservation, beside the loopback of this machine in the same run.

Starts a vmpool with two local machines (SQLite), opens a session on each, and lets a Python program in one send to one
in the other over TCP.

    throughput       `--mib` MiB over one connection, from node-0 to node-1 and back
    round trip       a byte there and back, `--trips` times
    ssh              `ssh node-1 true` in node-0, from its start to its end
    vmpool           a call of ListMachines, alone and while bytes flow to the other node for `--seconds`

All runs on this machine's own processors: both sessions, both executors and vmpool.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from wavepool.vmpool.v1 import vmpool_pb2 as pb

from tests.services.executor.sessions.session_client import Person
from tests.services.vmpool.pool_process import PoolProcess
from tests.services.vmpool.test_gang_network import LOCAL, reserved, sessions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.services.executor.sessions.session_client import Access
    from tests.services.vmpool.pool_process import Stub

MIB = 1 << 20
PORT = 4000
SERVER = """\
import socket
s = socket.create_server(('', PORT)); print('up', flush=True)
while True:
    c, _ = s.accept(); c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    kind, size = c.recv(1), int(c.recv(16))
    c.sendall(b'.')
    if kind == b'i':
        got = 0
        while got < size: got += len(c.recv(1 << 20))
        c.sendall(b'.')
    elif kind == b'o':
        block = bytes(1 << 20)
        for _ in range(size >> 20): c.sendall(block)
    else:
        while data := c.recv(1): c.sendall(data)
    c.close()
"""
CLIENT = """\
import socket, sys, time
host, kind, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
s = socket.create_connection((host, PORT)); s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
s.sendall(kind.encode()); s.sendall(b'%16d' % size); s.recv(1)
start = time.perf_counter()
if kind == 'i':
    block = bytes(1 << 20)
    for _ in range(size >> 20): s.sendall(block)
    s.recv(1); print(time.perf_counter() - start)
elif kind == 'o':
    got = 0
    while got < size: got += len(s.recv(1 << 20))
    print(time.perf_counter() - start)
else:
    for _ in range(size):
        start = time.perf_counter(); s.sendall(b'x'); s.recv(1); print(time.perf_counter() - start)
"""


async def times(access: Access, person: Person, host: str, kind: str, size: int) -> list[float]:
    """Seconds, as the program in the session has measured them."""
    program = CLIENT.replace("PORT", str(PORT))
    status, said = await access.run(person, f'python3 -c "{program}" {host} {kind} {size}')
    if status:
        raise SystemExit(f"the program in a session failed: {said}")
    return [float(line) for line in said.split()]


async def compare(first: Access, person: Person, options: argparse.Namespace) -> None:
    """Print all figures, to the other node and to the session's own loopback in turns."""
    for kind, words in (("i", "to the other"), ("o", "from the other")):
        found: dict[str, list[float]] = {"node-1": [], "localhost": []}
        for _ in range(options.transfers):
            for host, rates in found.items():
                [seconds] = await times(first, person, host, kind, options.mib * MIB)
                rates.append(options.mib / seconds)
        for host, rates in found.items():
            print(f"{words}, {host}: {', '.join(f'{rate:.0f}' for rate in rates)} MiB/s")
    for host in ("node-1", "localhost"):
        trips = sorted(1000 * seconds for seconds in await times(first, person, host, "p", options.trips))
        print(f"round trip, {host}: p50 {statistics.median(trips):.2f} ms, p99 {trips[-len(trips) // 100 - 1]:.2f} ms")


async def answers(stub: Stub, seconds: float) -> list[float]:
    """Milliseconds of calls of vmpool, one after another."""
    found: list[float] = []
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        await stub.ListMachines(pb.ListMachinesRequest())
        found.append(1000 * (time.perf_counter() - start))
        await asyncio.sleep(0.02)
    return sorted(found)


async def measure(pool: PoolProcess, nodes: Sequence[Access], person: Person, options: argparse.Namespace) -> None:
    """Print all figures."""
    for node in nodes:
        process = await node.start(person, "dev@session", f'python3 -c "{SERVER.replace("PORT", str(PORT))}"')
        if process.stdout is None or not await process.stdout.readline():
            raise SystemExit("a session serves nothing")
    await compare(nodes[0], person, options)
    ask = "for _ in $(seq 10); do s=$(date +%s%N); ssh node-1 true; echo $((($(date +%s%N) - s))); done"
    _, said = await nodes[0].run(person, ask)
    print(f"ssh node-1 true: p50 {statistics.median(map(int, said.split())) / 1e9:.2f} s")
    async with pool.stub() as stub:
        alone = await answers(stub, options.seconds)
        flow = asyncio.create_task(times(nodes[0], person, "node-1", "i", 1 << 40))
        beside = await answers(stub, options.seconds)
        flow.cancel()
    for words, found in (("alone", alone), ("while bytes flow", beside)):
        p50, p99 = statistics.median(found), found[-len(found) // 100 - 1]
        print(f"ListMachines, {words}: p50 {p50:.1f} ms, p99 {p99:.1f} ms")


async def main(options: argparse.Namespace) -> None:
    """Start everything, measure, and end it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        person = Person("alice", folder)
        pool = PoolProcess(folder, LOCAL)
        pool.start()
        try:
            async with pool.stub() as stub:
                leases = await reserved(stub)
            async with sessions(leases, person, folder) as nodes:
                await measure(pool, nodes, person, options)
        finally:
            pool.end(signal.SIGTERM)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mib", type=int, default=256)
    parser.add_argument("--transfers", type=int, default=3)
    parser.add_argument("--trips", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=10)
    asyncio.run(main(parser.parse_args()))
