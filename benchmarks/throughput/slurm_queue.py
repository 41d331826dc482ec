"""Measures Slurm from Debian (`slurm-wlm`): its controller, one node and munge, on loopback, in a folder of their own.

Set as Slurm's guide for high throughput says: no accounting, no gathering of figures, process groups for tracking, no
task plugin, first come first served with deferred scheduling, several controller ports, quiet logs. The jobs are one
array, so that submitting them is one call. A job is over for us when the last line of its script runs, which is before
Slurm knows it.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.throughput.measured import Measured, QueueMissingError

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "sinfo")
START_SECONDS = 30
RUN_SECONDS = 180
CONTROLLER_PORTS = 4
JOBS_AT_ONCE = 64

CONFIGURATION = """
ClusterName=benchmark
SlurmctldHost={host}(127.0.0.1)
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmctldPort={port}-{last_port}
SlurmdPort={node_port}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmctldDebug=error
SlurmdDebug=error
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
PriorityType=priority/basic
SchedulerType=sched/builtin
SchedulerParameters=defer,batch_sched_delay=1,sched_min_interval=50000,default_queue_depth=10000
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MaxArraySize=100001
MaxJobCount=200000
MinJobAge=2
MessageTimeout=60
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=benchmark NodeHostname={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=benchmark Nodes=benchmark Default=YES State=UP MaxTime=10
"""


def measure(folder: Path, jobs: int) -> Measured:
    """Runs one array of no-op jobs; raises QueueMissingError."""
    missing = [program for program in PROGRAMS if _program(program) is None]
    if missing:
        raise QueueMissingError(f"no {', '.join(missing)}: apt-get install slurm-wlm munge")
    if os.geteuid() != 0:
        raise QueueMissingError("slurmd needs root to start jobs")
    folder.chmod(0o755)
    with _slurm(folder) as environment:
        return _measured(folder, jobs, environment)


def _measured(folder: Path, jobs: int, environment: dict[str, str]) -> Measured:
    ends = folder / "ends"
    script = folder / "no-op"
    script.write_text(f"#!/bin/bash\necho $SLURM_ARRAY_TASK_ID $EPOCHREALTIME >>{ends}\n")
    ends.touch()
    begin = time.time()
    options = [f"--array=1-{jobs}", "--output=/dev/null", "--ntasks=1"]
    answer = subprocess.run(
        [_program("sbatch") or "sbatch", *options, script], env=environment, capture_output=True, text=True, check=False
    )
    if answer.returncode:
        raise QueueMissingError(f"sbatch: {answer.stderr.strip()}")
    deadline = time.monotonic() + RUN_SECONDS
    while len(lines := ends.read_text().splitlines()) < jobs and time.monotonic() < deadline:
        time.sleep(0.05)
    over = [float(line.split()[1]) for line in lines]
    if not over:
        raise QueueMissingError(f"no job ran: {(folder / 'slurmd.log').read_text()[-500:]}")
    note = "an array, no accounting" if len(over) == jobs else f"cut off after {RUN_SECONDS} s"
    return Measured("Slurm", max(over) - begin, [end - begin for end in over], note)


@contextmanager
def _slurm(folder: Path) -> Generator[dict[str, str]]:
    port = _free_ports()
    configuration = folder / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(
            folder=folder,
            host=socket.gethostname().partition(".")[0],
            port=port,
            last_port=port + CONTROLLER_PORTS - 1,
            node_port=port + CONTROLLER_PORTS,
            cpus=JOBS_AT_ONCE,
        )
    )
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o600)
    environment = os.environ | {"SLURM_CONF": str(configuration)}
    commands = (
        ("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket",
         f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/munge.seed"),
        ("slurmctld", "-D", "-i", "-f", str(configuration)),
        ("slurmd", "-D", "-N", "benchmark", "-f", str(configuration)),
    )  # fmt: skip
    processes: list[subprocess.Popen[bytes]] = []
    try:
        for name, *arguments in commands:
            with (folder / f"{name}.out").open("wb") as out:
                processes.append(
                    subprocess.Popen([_program(name) or name, *arguments], env=environment, stdout=out, stderr=out)
                )
            _wait_until_ready(name, folder, environment, processes[-1])
        yield environment
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait()


def _wait_until_ready(name: str, folder: Path, environment: dict[str, str], process: subprocess.Popen[bytes]) -> None:
    """Waits for munge's socket, and for the node to be idle."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        if name == "munged" and (folder / "munge.socket").exists():
            return
        if name != "munged":
            command = [_program("sinfo") or "sinfo", "--noheader", "--format=%T"]
            state = subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout.strip()
            if state == "idle" or (name == "slurmctld" and state):
                return
        time.sleep(0.1)
    raise QueueMissingError(f"{name} did not start: {(folder / f'{name}.out').read_text()[-500:]}")


def _free_ports() -> int:
    """The first of as many free ports in a row as are needed."""
    for first in range(21_000, 30_000, 10):
        try:
            for port in range(first, first + CONTROLLER_PORTS + 1):
                with socket.socket() as one:
                    one.bind(("127.0.0.1", port))
        except OSError:
            continue
        return first
    raise QueueMissingError("no free ports")


def _program(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin")
