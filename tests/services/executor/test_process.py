"""The executor as a process of its own, with real judges, a real compiler and real sandboxes."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

import pytest
from wavepool.executor.v1 import executor_pb2, run_event_pb2
from wavepool.submission.v1 import submission_pb2

from servicekit.rpc.channels import open_channel
from services.executor.sandboxes.limits.cgroup_place import cgroup_parents
from services.executor.sandboxes.process_tree import children, descendants
from tests.services.executor.client import LEASE_TOKEN, Client, name_of, request, until
from wavepool_client.verification import check_source, parse, report_of, verify

REPOSITORY = Path(__file__).parents[3]
SOLUTION = (REPOSITORY / "problems/catalogue/leaky-relu/solution.hip").read_text()
SIGNATURE = 'extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m)'
WRONG = f"#include <hip/hip_runtime.h>\n{SIGNATURE} {{}}\n"
STUCK = f"#include <hip/hip_runtime.h>\n{SIGNATURE} {{ volatile int i = 0; while (true) i = i + 1; }}\n"
BROKEN = f"#include <hip/hip_runtime.h>\n{SIGNATURE} {{ this is not C++; }}\n"
PROGRAM = """#include <cstdio>
int main() { for (int i = 0; i < 3; ++i) { printf("line %d\\n", i); fflush(stdout); } return 0; }
"""
LONG_PROGRAM = """#include <cstdio>
#include <unistd.h>
int main() { for (int i = 0; i < 50; ++i) { printf("line %d\\n", i); fflush(stdout); usleep(100000); } return 0; }
"""
TALKER = '#include <cstdio>\nint main() { puts("started"); fflush(stdout); while (true) {} }\n'
# The compiler needs far longer for it than the test waits.
BOMB = f"""#include <hip/hip_runtime.h>
template <int N, int K> struct Deep {{ enum {{ value = Deep<N - 1, K>::value + Deep<N - 1, K + (1 << N)>::value }}; }};
template <int K> struct Deep<0, K> {{ enum {{ value = K }}; }};
{SIGNATURE} {{ output[0] = Deep<22, 0>::value; }}
"""


class Executor:
    """`python -m services.executor` on free ports."""

    def __init__(self, work_dir: Path, start: Sequence[str] = (), **settings: str) -> None:
        """`settings` are further variables of the environment; `start` starts another Python than ours."""
        self.work_dir = work_dir
        environment = {
            **os.environ,
            "EXECUTOR_PORT": "0",
            "EXECUTOR_TOKEN": LEASE_TOKEN,
            "EXECUTOR_WORK_DIR": str(work_dir),
            "EXECUTOR_DATA_DIR": str(work_dir),
            **settings,
        }
        command = [*(start or [sys.executable]), "-m", "services.executor"]
        self.process = subprocess.Popen(command, cwd=REPOSITORY, env=environment, stdout=subprocess.PIPE)
        self.log: list[dict[str, Any]] = []
        while not self.log or self.log[-1]["message"] != "serving":
            self.log.append(json.loads(self._output().readline()))
        self.port: int = self.log[-1]["port"]

    def _output(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def fork_server_pid(self) -> int:
        [pid] = children(self.process.pid)
        return pid

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Client]:
        async with open_channel(f"127.0.0.1:{self.port}") as channel:
            yield Client(channel)

    def ended(self) -> int:
        """Waits for an executor that ends by itself, and collects its log; returns the exit status."""
        self.log += map(json.loads, self._output())
        self._output().close()
        return self.process.wait(20)

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        status = self.process.wait(20)
        self._output().close()
        return status


@pytest.fixture(scope="module")
def executor(tmp_path_factory: pytest.TempPathFactory) -> Generator[Executor]:
    running = Executor(tmp_path_factory.mktemp("executor"))
    yield running
    assert running.end(signal.SIGTERM) == 0


def asked(source: str, mode: submission_pb2.RunMode.ValueType, **fields: Any) -> executor_pb2.RunRequest:
    problem = "" if mode == submission_pb2.RUN_MODE_SANDBOX else "leaky-relu"
    return request(source, mode=mode, problem=problem, **fields)


CHECKED = ["compiling", "compiled", "checking", "test_result", "checked"]
MEASURED = ["benchmarking", "benchmark_result", "benchmarked"]


@pytest.mark.parametrize(
    ("mode", "source", "names"),
    [
        (submission_pb2.RUN_MODE_CHECK, SOLUTION, [*CHECKED, "finished"]),
        (submission_pb2.RUN_MODE_BENCHMARK, SOLUTION, [*CHECKED, *MEASURED, "finished"]),
        (submission_pb2.RUN_MODE_FULL, SOLUTION, [*CHECKED, *MEASURED, "finished"]),
        (submission_pb2.RUN_MODE_SAMPLE, SOLUTION, ["compiling", "compiled", "finished"]),
        (
            submission_pb2.RUN_MODE_SANDBOX,
            PROGRAM,
            ["compiling", "compiled", "program_started", "program_output", "finished"],
        ),
    ],
    ids=["check", "benchmark", "full", "sample", "sandbox"],
)
async def test_every_mode_goes_through_its_stages(
    executor: Executor, mode: submission_pb2.RunMode.ValueType, source: str, names: list[str]
) -> None:
    async with executor.client() as client:
        events = await client.run(asked(source, mode))

    assert events[-1].finished.verdict == run_event_pb2.VERDICT_ACCEPTED, events[-1].finished
    # Progress events depend on the clock.
    reported = dict.fromkeys(name for event in events if (name := name_of(event)) not in {"", "benchmark_progress"})
    assert list(reported) == names
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    assert events[-1].finished.billable.ToTimedelta().total_seconds() > 0


@pytest.mark.parametrize(
    ("source", "verdict"),
    [(WRONG, run_event_pb2.VERDICT_WRONG_ANSWER), (BROKEN, run_event_pb2.VERDICT_COMPILE_ERROR)],
    ids=["wrong", "broken"],
)
async def test_a_bad_submission_gets_its_verdict(
    executor: Executor, source: str, verdict: run_event_pb2.Verdict.ValueType
) -> None:
    async with executor.client() as client:
        last = (await client.run(asked(source, submission_pb2.RUN_MODE_CHECK)))[-1].finished

    assert last.verdict == verdict
    assert last.details or last.wrong_answer.first_mismatches


@pytest.mark.parametrize(
    ("mode", "source", "stage"),
    [
        (submission_pb2.RUN_MODE_CHECK, BOMB, "compiling"),
        (submission_pb2.RUN_MODE_CHECK, STUCK, "checking"),
        (submission_pb2.RUN_MODE_FULL, SOLUTION, "benchmarking"),
        (submission_pb2.RUN_MODE_SANDBOX, TALKER, "program_output"),
    ],
    ids=["compiling", "checking", "benchmarking", "running"],
)
async def test_a_run_is_cancelled_in_every_stage_and_leaves_nothing(
    executor: Executor, mode: submission_pb2.RunMode.ValueType, source: str, stage: str
) -> None:
    one = asked(source, mode)
    async with executor.client() as client:
        stream = client.stream(one)
        await stream.reach(stage)
        await client.cancel(one.run_id)
        last = [event async for event in stream][-1].finished

    assert last.verdict == run_event_pb2.VERDICT_CANCELLED
    await until(lambda: not any(map(_is_used, executor.work_dir.glob("wavepool-run-*"))))
    await until(lambda: not any(map(_is_in_use, descendants(executor.process.pid))))


async def test_a_killed_executor_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    executor = Executor(tmp_path)
    async with executor.client() as client:
        stream = client.stream(asked(TALKER, submission_pb2.RUN_MODE_SANDBOX))
        await stream.reach("program_output")
        tree = descendants(executor.process.pid)
        assert any(map(_is_sandboxed, tree))
        assert executor.fork_server_pid() in tree
        processes = living(tree)

        executor.end(signal.SIGKILL)

    await until(lambda: all_ended(processes))
    await until(lambda: not any(_cgroups_made_by(pid) for pid in tree))
    await until(lambda: list(tmp_path.glob("wavepool-run-*")) == [])


async def test_a_killed_judge_is_our_fault_and_the_next_run_is_well(executor: Executor) -> None:
    async with executor.client() as client:
        stream = client.stream(asked(TALKER, submission_pb2.RUN_MODE_SANDBOX))
        await stream.reach("program_output")
        sandboxed = living(pid for pid in descendants(executor.process.pid) if _is_in_use(pid))
        os.kill(_judge_of(next(iter(sandboxed)), executor.fork_server_pid()), signal.SIGKILL)
        last = [event async for event in stream][-1].finished
        after = (await client.run(asked(SOLUTION, submission_pb2.RUN_MODE_CHECK)))[-1].finished

    assert last.verdict == run_event_pb2.VERDICT_INFRA_ERROR
    assert after.verdict == run_event_pb2.VERDICT_ACCEPTED
    await until(lambda: all_ended(sandboxed))


async def test_it_says_which_sandbox_it_uses_and_what_that_does_not_hold_back(executor: Executor) -> None:
    async with executor.client() as client:
        capabilities = await client.capabilities()

    logged = [line["sandbox"] for line in executor.log if line["message"] == "user code runs in a sandbox"]
    gaps = [line["gap"] for line in executor.log if "gap" in line]
    assert logged == [capabilities.sandbox]
    assert gaps == list(capabilities.sandbox_gaps)
    assert capabilities.device == "cpu"
    assert "leaky-relu" in capabilities.problems
    assert (capabilities.profiler, capabilities.no_profiler_because) == ("wavepool cpu runtime", "")


def _cgroups_made_by(pid: int) -> list[Path]:
    return [group for parent in cgroup_parents() for group in parent.glob(f"wavepool-sandbox-{pid}-*")]


def living(pids: Iterable[int]) -> dict[int, str]:
    """The start times of the living ones, since a new process may get the number of one that ended."""
    starts = {pid: _start_of(pid) for pid in pids}
    return {pid: start for pid, start in starts.items() if start}


def all_ended(processes: Mapping[int, str]) -> bool:
    """True if every process that `living` found has ended."""
    return not any(_start_of(pid) == start for pid, start in processes.items())


def _start_of(pid: int) -> str:
    """Its start time, in ticks since the boot; empty if it has ended."""
    try:
        state, *fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state == "Z" else fields[18]


def _is_sandboxed(pid: int) -> bool:
    """True if the process is ours and lives in a sandbox, or is a launcher or bwrap outside."""
    command = _command_line(pid)
    return _start_of(pid) != "" and (b"bwrap" in command or b"process.launcher" in command or _is_in_use(pid))


def _is_in_use(pid: int) -> bool:
    """True if it is a compiler or a submission, not a sandbox that waits for one."""
    command = _command_line(pid)
    # Not every sandbox shows the program at /build.
    program = Path(os.fsdecode(command.partition(b"\0")[0])).name
    return _start_of(pid) != "" and (
        program in {"runner", "program"} or b"sandboxed_build.py" in command.split(b"/bin/sh")[0]
    )


def _is_used(folder: Path) -> bool:
    """True if it is the folder of a run, not one that waits for a run."""
    return any(any(inner.iterdir()) for inner in (folder / "compile", folder / "run") if inner.is_dir())


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _judge_of(pid: int, fork_server_pid: int) -> int:
    return pid if _parent_of(pid) == fork_server_pid else _judge_of(_parent_of(pid), fork_server_pid)


def _parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def test_a_report_is_signed_by_the_machine_and_names_the_seed_that_the_run_was_bound_to(
    executor: Executor,
) -> None:
    asked_for = asked(SOLUTION, submission_pb2.RUN_MODE_CHECK)
    async with executor.client() as client:
        key = (await client.capabilities()).signing_public_key
        events = await client.run(asked_for)

    signer, statement = verify(parse(events[-1].finished.signed_report), [key])
    report = report_of(statement)
    [commitment] = [event.checking.seed_commitment for event in events if name_of(event) == "checking"]
    assert signer == key
    assert statement["run_id"] == asked_for.run_id
    assert (report["verdict"], report["problem"]) == ("ACCEPTED", "leaky-relu")
    assert report["seed_commitment"] == commitment == hashlib.sha256(bytes.fromhex(report["seed"])).hexdigest()
    check_source(report, SOLUTION.encode())


async def test_an_executor_whose_pool_is_gone_ends_by_itself_once_nothing_runs_on_it(tmp_path: Path) -> None:
    alone, pooled = Executor(tmp_path / "alone"), Executor(tmp_path / "pooled", EXECUTOR_POOL_TIMEOUT="3")
    async with pooled.client() as client:
        # It runs longer than the executor waits for its pool.
        last = (await client.run(asked(LONG_PROGRAM, submission_pb2.RUN_MODE_SANDBOX)))[-1].finished
    assert last.verdict == run_event_pb2.VERDICT_ACCEPTED
    assert pooled.ended() == 0
    assert "the executor ends: no pool has asked for this machine for" in pooled.log[-1]["message"]
    # An executor that is started by hand has no pool to wait for.
    assert alone.process.poll() is None
    assert alone.end(signal.SIGTERM) == 0
