"""Measures reservations: from the request to a prompt, and what the tunnel costs, beside plain sshd in the same run.

Starts a Wavepool of its own on this machine (SQLite, local provider, `cpu` device), whose machine is warm.

    claim            POST of a reservation to the end of `ssh … echo ok` in its session
    docker run       `docker run` of an image with sshd to the end of `ssh … echo ok` there
    throughput       `ssh … cat` of a file, in and out, through the tunnel and by sshd on loopback
    round trip       a byte to `ssh … cat` and back, through the tunnel and by sshd on loopback
    idle tunnels     memory and processor time of the gateway with so many open connections

Throughput and round trips take turns, so that a busy moment meets both. `--docker IMAGE` names an image with sshd:

    mmdebstrap --variant=minbase --include=openssh-server bookworm - | docker import - wavepool-sshd
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import httpx
import psutil
from websockets.sync.client import connect

from benchmarks.overhead import ROOT, running_wavepool
from vocabulary.ports import free_port

SSH = ("ssh", "-F", "none", "-o", "BatchMode=yes", "-o", "LogLevel=ERROR", "-o", "ConnectTimeout=30")
DOCKER = ("docker",)
MIB = 1 << 20
IDLE_SECONDS = 10.0
TUNNELS_OF_A_SESSION = 250
"""An executor's limit."""
SSHD, KEYGEN, HEAD = "/usr/sbin/sshd", "/usr/bin/ssh-keygen", "/usr/bin/head"


class Way(NamedTuple):
    """How ssh reaches a host; `command` ends with the host's name."""

    name: str
    command: tuple[str, ...]


def key_in(folder: Path) -> Path:
    """A key pair without a passphrase."""
    key = folder / "id_ed25519"
    subprocess.run([KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    return key


def reserve(client: httpx.Client, key: Path, seconds: int = 1800) -> dict[str, object]:
    """Reserves one GPU, and waits until people can log in."""
    body = {
        "gpu_count": 1,
        "hours": seconds / 3600,
        "keys": [{"user": "bench", "public_key": key.with_suffix(".pub").read_text().strip()}],
    }
    answer = client.post("/api/v1/reservations", json=body, headers={"Idempotency-Key": uuid.uuid4().hex})
    if answer.is_error:
        raise SystemExit(answer.text)
    made = answer.json()
    with client.stream("GET", made["events_url"]) as frames:
        for line in frames.iter_lines():
            if line.startswith("data:") and json.loads(line[5:]).get("status") == "ACTIVE":
                break
    return client.get(f"/api/v1/reservations/{made['id']}").json()


def end(client: httpx.Client, reservation: dict[str, object]) -> None:
    """Ends a reservation, and waits until it is over: its GPU is then free, or about to be."""
    client.post(f"/api/v1/reservations/{reservation['id']}/cancel").raise_for_status()
    with client.stream("GET", str(reservation["events_url"])) as frames:
        for _ in frames.iter_lines():
            pass


def tunnelled(client: httpx.Client, data_dir: Path, folder: Path, key: Path, reservation: dict[str, object]) -> Way:
    """The way to a session."""
    del client
    known, name = folder / f"known_{reservation['id']}", str(reservation["id"]).lower().replace("_", "-")
    known.write_text(f"{name} {reservation['host_key']}\n")
    proxy = f"env WAVEPOOL_DATA_DIR={data_dir} {sys.executable} -m wavepool_client.ssh.proxy {reservation['id']}"
    options = ["-i", str(key), "-l", "dev", "-o", f"UserKnownHostsFile={known}", "-o", "StrictHostKeyChecking=yes"]
    return Way("tunnel", (*SSH, *options, "-o", f"ProxyCommand={proxy}", name))


@contextmanager
def plain_sshd(folder: Path, key: Path) -> Generator[Way]:
    """An sshd on loopback."""
    port, host_key = free_port(), folder / "host_key"
    subprocess.run([KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", str(host_key)], check=True)
    keys = folder / "authorized_keys"
    keys.write_text(key.with_suffix(".pub").read_text())
    Path("/run/sshd").mkdir(exist_ok=True)
    config = folder / "sshd_config"
    config.write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {host_key}\nAuthorizedKeysFile {keys}\nStrictModes no\n"
        "PidFile none\nPasswordAuthentication no\n"
    )
    process = subprocess.Popen([SSHD, "-D", "-f", str(config)])
    try:
        way = Way("loopback", (*_plain(key, port), "127.0.0.1"))
        _until_answers(way)
        yield way
    finally:
        process.terminate()
        process.wait()


def _plain(key: Path, port: int) -> tuple[str, ...]:
    options = ("-i", str(key), "-p", str(port), "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null")
    return (*SSH, *options)


def _until_answers(way: Way) -> None:
    while subprocess.run([*way.command, "true"], capture_output=True, check=False).returncode:
        time.sleep(0.02)


def prompt(way: Way) -> None:
    """One command on the host."""
    said = subprocess.run([*way.command, "echo ok"], capture_output=True, text=True, check=True).stdout
    if said.strip() != "ok":
        raise SystemExit(f"{way.name} answers {said!r}")


def claims(client: httpx.Client, data_dir: Path, folder: Path, key: Path, rounds: int) -> list[float]:
    """Seconds from a request to the answer of a command, each with a reservation of its own."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        reservation = reserve(client, key)
        prompt(tunnelled(client, data_dir, folder, key, reservation))
        times.append(time.perf_counter() - start)
        end(client, reservation)
    return times


def docker_runs(image: str, folder: Path, key: Path, rounds: int) -> list[float]:
    """Seconds from `docker run` to the answer of a command, each with a container of its own."""
    keys = folder / "docker_keys"
    keys.write_text(key.with_suffix(".pub").read_text())
    times: list[float] = []
    for _ in range(rounds):
        port, start = free_port(), time.perf_counter()
        script = "mkdir -p /run/sshd && exec /usr/sbin/sshd -D -o AuthorizedKeysFile=/keys -o StrictModes=no"
        command = [*DOCKER, "run", "-d", "--rm", "-p", f"127.0.0.1:{port}:22", "-v", f"{keys}:/keys:ro", image]
        name = subprocess.run([*command, "sh", "-c", script], capture_output=True, text=True, check=True).stdout.strip()
        way = Way("docker", (*_plain(key, port), "-l", "root", "127.0.0.1"))
        _until_answers(way)
        prompt(way)
        times.append(time.perf_counter() - start)
        subprocess.run([*DOCKER, "kill", name], capture_output=True, check=True)
    return times


def throughput(way: Way, mib: int) -> tuple[float, float]:
    """MiB/s in and out, with the connection's own time."""
    start = time.perf_counter()
    sender = subprocess.Popen([HEAD, "-c", str(mib * MIB), "/dev/zero"], stdout=subprocess.PIPE)
    subprocess.run([*way.command, "cat > /dev/null"], stdin=sender.stdout, check=True)
    sender.wait()
    inward = mib / (time.perf_counter() - start)
    start = time.perf_counter()
    command = [*way.command, f"head -c {mib * MIB} /dev/zero"]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    return inward, mib / (time.perf_counter() - start)


def round_trips(way: Way, number: int) -> list[float]:
    """Milliseconds of a byte there and back."""
    process = subprocess.Popen([*way.command, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if process.stdin is None or process.stdout is None:
        raise SystemExit("ssh has no pipes")
    times: list[float] = []
    for _ in range(number + 1):
        start = time.perf_counter()
        os.write(process.stdin.fileno(), b".")
        os.read(process.stdout.fileno(), 1)
        times.append((time.perf_counter() - start) * 1000)
    process.stdin.close()
    process.wait()
    # The first one waits for the connection.
    return times[1:]


def idle_tunnels(
    client: httpx.Client, reservations: Sequence[dict[str, object]], number: int, gateway: psutil.Process
) -> tuple[float, float]:
    """MiB that the gateway has more with so many open connections, and the share of a processor that they take.

    They are WebSockets of this process, over which each session's sshd has said its first words: as many ssh with their
    proxies need more memory than the machine has.
    """
    before = gateway.memory_info().rss
    with ExitStack() as stack:
        for n in range(number):
            path = f"/api/v1/reservations/{reservations[n % len(reservations)]['id']}/tunnel"
            headers = {"Authorization": client.headers["Authorization"]}
            # Its own pings would be measured with the gateway's.
            url = str(client.base_url.join(path)).replace("http", "ws", 1)
            way = connect(url, additional_headers=headers, ping_interval=None, proxy=None)
            tunnel = stack.enter_context(way)
            if not tunnel.recv(timeout=60, decode=False).startswith(b"SSH-2.0-"):
                raise SystemExit("a session does not answer")
        start, used = time.perf_counter(), sum(gateway.cpu_times()[:2])
        time.sleep(IDLE_SECONDS)
        share = (sum(gateway.cpu_times()[:2]) - used) / (time.perf_counter() - start)
        return (gateway.memory_info().rss - before) / MIB, share


def shown(name: str, times: Sequence[float], unit: str) -> str:
    """One line of the table."""
    ordered = sorted(times)
    p99 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    return f"{name:<26} p50 {statistics.median(ordered):8.2f} {unit}   p99 {p99:8.2f} {unit}   n {len(ordered)}"


def main() -> None:
    """Prints one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20, help="claims, and containers")
    parser.add_argument("--mib", type=int, default=256, help="bytes of each transfer")
    parser.add_argument("--transfers", type=int, default=3)
    parser.add_argument("--trips", type=int, default=200, help="round trips")
    parser.add_argument("--tunnels", type=int, default=0, help="idle connections; 0: not measured")
    parser.add_argument("--docker", default="", help="image with sshd; empty: not measured")
    asked = parser.parse_args()
    os.environ["VMPOOL_MAX_MACHINES"] = str(asked.tunnels // TUNNELS_OF_A_SESSION + 1)
    os.environ["GATEWAY_TUNNELS_PER_USER"] = str(asked.tunnels + 32)
    with tempfile.TemporaryDirectory() as name, running_wavepool() as (client, data_dir):
        folder = Path(name)
        key = key_in(folder)
        end(client, reserve(client, key))
        print(shown("claim to prompt", claims(client, data_dir, folder, key, asked.rounds), "s"))
        if asked.docker:
            print(shown("docker run to prompt", docker_runs(asked.docker, folder, key, asked.rounds), "s"))
        reservation = reserve(client, key)
        with plain_sshd(folder, key) as direct:
            tunnel = tunnelled(client, data_dir, folder, key, reservation)
            _compare(tunnel, direct, asked)
        sessions = [reservation]
        if asked.tunnels:
            sessions += [reserve(client, key) for _ in range((asked.tunnels - 1) // TUNNELS_OF_A_SESSION)]
            more, share = idle_tunnels(client, sessions, asked.tunnels, _process(data_dir, "gateway"))
            print(f"{asked.tunnels} idle tunnels: {more:.0f} MiB more in the gateway, {share:.1%} of a processor")
        for one in sessions:
            end(client, one)


def _compare(tunnel: Way, direct: Way, asked: argparse.Namespace) -> None:
    """Prints what the tunnel and plain sshd take, in turns."""
    ways = (tunnel, direct)
    rates = [[throughput(way, asked.mib) for way in ways] for _ in range(asked.transfers)]
    for side, direction in enumerate(("in", "out")):
        ours, plain = (statistics.median(rate[number][side] for rate in rates) for number in range(2))
        print(f"{'throughput ' + direction:<26} tunnel {ours:.0f} MiB/s, sshd {plain:.0f}: {ours / plain:.2f}")
    for way in ways:
        print(shown(f"round trip, {way.name}", round_trips(way, asked.trips), "ms"))
        print(shown(f"command, {way.name}", _commands(way, asked.rounds), "s"))


def _commands(way: Way, rounds: int) -> list[float]:
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        prompt(way)
        times.append(time.perf_counter() - start)
    return times


def _process(data_dir: Path, name: str) -> psutil.Process:
    """The process of a service of the Wavepool with this data folder."""
    for process in psutil.process_iter(["cmdline", "environ"]):
        environment: dict[str, str] = process.info["environ"] or {}
        if name in " ".join(process.info["cmdline"] or ()) and str(data_dir) in environment.values():
            return process
    raise SystemExit(f"no process of {name} is found below {ROOT}")


if __name__ == "__main__":
    main()
