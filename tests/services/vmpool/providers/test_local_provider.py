from __future__ import annotations

import asyncio
import os
import signal
import socket
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from services.vmpool.lifecycle.executor_client import ExecutorClient, ExecutorUnreachableError, Health
from services.vmpool.providers.local import keeper as local_keeper
from services.vmpool.providers.local.provider import LocalProvider
from services.vmpool.providers.provider import ProviderState
from tests.services.vmpool.local_machines import (
    DEADLINE_SECONDS,
    ended,
    is_alive,
    local_config,
    local_machines,
    observed,
    order,
    process_ids,
)


async def healthy(endpoint: str) -> Health:
    executors = ExecutorClient(timedelta(seconds=2))
    try:
        async with asyncio.timeout(DEADLINE_SECONDS):
            while True:
                try:
                    return await executors.health(endpoint, "any")
                except ExecutorUnreachableError:
                    await asyncio.sleep(0.05)
    finally:
        await executors.close()


async def test_the_executor_answers_and_says_what_it_is(tmp_path: Path) -> None:
    async with local_machines(local_config(tmp_path)) as provider:
        await provider.provision(order())
        seen = await observed(provider, ProviderState.RUNNING)
        health = await healthy(seen.endpoint)
        assert (health.inventory.device_title, health.runs_in_flight) == ("Tiny", 0)
        assert (tmp_path / "logs" / "executor-m1.log").exists()


async def test_machines_of_sizes_that_no_setting_names_are_outside_its_scope(tmp_path: Path) -> None:
    async with local_machines(local_config(tmp_path)) as provider:
        sizes = {offer.gpu_count for offer in await provider.offers()}
        assert set(provider.scope.gpu_counts) == sizes != {1, 2, 4, 8}


async def test_the_next_pool_finds_the_executor_at_work(tmp_path: Path) -> None:
    async with local_machines(local_config(tmp_path)) as provider:
        await provider.provision(order())
        seen = await observed(provider, ProviderState.RUNNING)
        assert await LocalProvider(local_config(tmp_path)).observe("m1") == seen


async def test_an_executor_that_is_killed_has_ended_and_the_reason_is_reported(tmp_path: Path) -> None:
    async with local_machines(local_config(tmp_path)) as provider:
        await provider.provision(order())
        await observed(provider, ProviderState.RUNNING)
        os.kill(process_ids(tmp_path)[1], signal.SIGKILL)
        assert "SIGKILL" in (await observed(provider, ProviderState.ENDED)).reason


async def test_an_executor_never_outlives_its_keeper(tmp_path: Path) -> None:
    async with local_machines(local_config(tmp_path)) as provider:
        await provider.provision(order())
        await observed(provider, ProviderState.RUNNING)
        keeper, executor = process_ids(tmp_path)
        os.kill(keeper, signal.SIGKILL)
        await ended(executor)
        assert "killed" in (await observed(provider, ProviderState.ENDED)).reason


async def unseen(data_dir: Path, machine_id: str = "m1") -> tuple[int, int]:
    """Process ids of the keeper and its executor, once they run; to look at the machine would keep it alive."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not (data_dir / "machines" / machine_id / "process.json").exists():
            await asyncio.sleep(0.02)
    return process_ids(data_dir, machine_id)


async def test_an_executor_that_no_pool_looks_at_is_ended(tmp_path: Path) -> None:
    async with local_machines(local_config(tmp_path, orphan_timeout=timedelta(seconds=0.5))) as provider:
        await provider.provision(order())
        keeper, executor = await unseen(tmp_path)
        await ended(executor)
        await ended(keeper)
        assert "no pool looked at it" in (await observed(provider, ProviderState.ENDED)).reason


async def test_an_executor_with_a_session_goes_on_without_a_pool_until_that_is_over(tmp_path: Path) -> None:
    session = tmp_path / "machines" / "m1" / "work" / "scratch" / "workspace"
    session.mkdir(parents=True)
    async with local_machines(local_config(tmp_path, orphan_timeout=timedelta(seconds=0.5))) as provider:
        await provider.provision(order())
        _, executor = await unseen(tmp_path)
        # As long as one without a session that came later.
        await provider.provision(order("m2"))
        await ended((await unseen(tmp_path, "m2"))[0])
        assert is_alive(executor)
        session.rmdir()
        await ended(executor)


async def test_an_executor_that_ends_by_itself_tells_its_status_and_last_words(tmp_path: Path) -> None:
    failing = ("sh", "-c", "echo first; echo looking; echo no device here >&2; exit 3")
    async with local_machines(replace(local_config(tmp_path), command=failing)) as provider:
        await provider.provision(order())
        seen = await observed(provider, ProviderState.ENDED)
        assert "status 3" in seen.reason
        assert seen.reason.endswith("its log ends: looking | no device here")


async def test_a_command_that_does_not_exist_ends_the_machine(tmp_path: Path) -> None:
    async with local_machines(replace(local_config(tmp_path), command=("/no/such/program",))) as provider:
        await provider.provision(order())
        assert (await observed(provider, ProviderState.ENDED)).reason


async def test_an_executor_that_ignores_sigterm_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    config = local_config(tmp_path, stop_grace=timedelta(seconds=0.3))
    stubborn = ("sh", "-c", f"trap '' TERM; sleep 1000 & echo $! > {tmp_path}/child; wait; sleep 1000")
    async with local_machines(replace(config, command=stubborn)) as provider:
        await provider.provision(order())
        await observed(provider, ProviderState.RUNNING)
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text():
                await asyncio.sleep(0.02)
        child = int((tmp_path / "child").read_text())
        await provider.release("m1")
        assert not is_alive(child)


async def test_releasing_never_signals_a_process_that_took_over_the_keepers_id(tmp_path: Path) -> None:
    async with local_machines(local_config(tmp_path)) as provider:
        await provider.provision(order())
        await observed(provider, ProviderState.RUNNING)
        keeper, executor = process_ids(tmp_path)
        os.kill(keeper, signal.SIGKILL)
        await ended(executor)
        local_keeper.write_json(
            tmp_path / "machines" / "m1" / "process.json",
            {"keeper_pid": os.getpid(), "keeper_start": 1, "executor_pid": executor, "endpoint": ""},
        )
        await provider.release("m1")


def test_the_usual_port_is_taken_where_it_is_free_and_another_where_it_is_not() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert local_keeper.executor_port(port) not in {0, port}
    assert local_keeper.executor_port(0) > 0


def test_a_folder_is_locked_by_one_keeper_at_a_time(tmp_path: Path) -> None:
    lock = local_keeper.take_lock(tmp_path)
    assert lock is not None
    assert local_keeper.take_lock(tmp_path) is None
    os.close(lock)
