"""Operators' requests to the pool, over gRPC: logs, offers, diagnoses, and stopping machines at once."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

import grpc
import pytest
from wavepool.vmpool.v1 import vmpool_pb2 as pb

from services.vmpool.capacity.offering import offering_of
from services.vmpool.errors import ProviderError
from services.vmpool.machines.machine import MachineState
from services.vmpool.providers.provider import Order, ProviderFinding
from services.vmpool.telemetry.diagnosing import findings_of
from tests.refused_calls import refused
from tests.services.vmpool.conftest import ON_SQLITE, Bench
from tests.services.vmpool.scripted_provider import ScriptedProvider

if TYPE_CHECKING:
    from wavepool.vmpool.v1.vmpool_pb2_grpc import VmPoolServiceAsyncStub


pytestmark = ON_SQLITE


def logs(machine_id: str, *, follow: bool = False, tail_lines: int = 0) -> pb.GetMachineLogsRequest:
    return pb.GetMachineLogsRequest(machine_id=machine_id, follow=follow, tail_lines=tail_lines)


async def read(stub: VmPoolServiceAsyncStub, request: pb.GetMachineLogsRequest) -> bytes:
    async with asyncio.timeout(20):
        return b"".join([answer.data async for answer in stub.GetMachineLogs(request)])


async def test_a_log_is_read_whole_or_by_its_last_lines(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    machine_id = (await bench.warm_machine()).machine_id
    printed = b"".join(b"line %d\n" % number for number in range(50_000))
    bench.provider.printed[machine_id] = printed
    assert await read(stub, logs(machine_id)) == printed
    assert await read(stub, logs(machine_id, tail_lines=2)) == b"line 49998\nline 49999\n"


async def test_a_followed_log_goes_on_after_its_last_lines_until_the_machine_is_over(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    machine_id = (await bench.warm_machine()).machine_id
    bench.provider.printed[machine_id] = b"one\ntwo\nthr"
    bench.provider.still_to_print[machine_id] = [b"ee\nfour\n", b"five\n"]
    assert await read(stub, logs(machine_id, follow=True, tail_lines=2)) == b"two\nthree\nfour\nfive\n"


async def test_the_first_piece_of_a_log_comes_at_once_even_if_nothing_was_printed(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    machine_id = (await bench.warm_machine()).machine_id
    call = stub.GetMachineLogs(logs(machine_id, follow=True))
    bench.provider.silent_logs.add(machine_id)
    async with asyncio.timeout(20):
        assert (await anext(aiter(call))).data == b""
    call.cancel()


async def test_logs_that_cannot_be_had_are_refused_with_the_reason(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    machine_id = (await bench.warm_machine()).machine_id
    await refused(read(stub, logs("none")), grpc.StatusCode.NOT_FOUND)
    await refused(read(stub, logs(machine_id, tail_lines=-1)), grpc.StatusCode.INVALID_ARGUMENT, field="tail_lines")
    bench.provider.failing["logs"] = ProviderError("it keeps logs for an hour")
    await refused(read(stub, logs(machine_id)), grpc.StatusCode.NOT_FOUND, "keeps logs for an hour")
    bench.provider.failing["logs"] = TimeoutError("the cloud is slow")
    await refused(read(stub, logs(machine_id)), grpc.StatusCode.UNAVAILABLE, "the cloud is slow")


async def test_a_machine_that_is_stopped_loses_its_leases_at_once_and_its_jobs_their_slots(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    machine_id = (await bench.warm_machine()).machine_id
    lease = (
        (await stub.AcquireLease(pb.AcquireLeaseRequest(job_id="job", gpu_type="MI300X", eighths=8))).grants[0].lease
    )
    stopped = (await stub.StopMachine(pb.StopMachineRequest(machine_id=machine_id, reason="it burns"))).machine
    assert (stopped.state, stopped.leased_eighths, stopped.reason) == (pb.MACHINE_STATE_DRAINING, 0, "it burns")
    await refused(
        stub.RenewLease(pb.RenewLeaseRequest(lease_id=lease.lease_id)), grpc.StatusCode.FAILED_PRECONDITION, "it burns"
    )
    await bench.passes()
    assert bench.provider.machines == {}
    assert await bench.state_of(machine_id) is MachineState.STOPPED


async def test_stopping_again_changes_nothing(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    machine_id = (await bench.warm_machine()).machine_id
    first = (await stub.StopMachine(pb.StopMachineRequest(machine_id=machine_id, reason="first"))).machine
    again = (await stub.StopMachine(pb.StopMachineRequest(machine_id=machine_id, reason="second"))).machine
    assert (again.state, again.reason) == (first.state, "first")
    await bench.passes()
    over = (await stub.StopMachine(pb.StopMachineRequest(machine_id=machine_id, reason="third"))).machine
    assert (over.state, over.reason) == (pb.MACHINE_STATE_STOPPED, "first")
    await refused(stub.StopMachine(pb.StopMachineRequest(machine_id="none")), grpc.StatusCode.NOT_FOUND)


async def test_a_machine_that_is_on_its_way_is_stopped_before_it_is_ready(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    await bench.demand()
    (machine,) = await bench.machines.unreleased()
    await stub.StopMachine(pb.StopMachineRequest(machine_id=machine.machine_id))
    await bench.passes(2)
    assert await bench.state_of(machine.machine_id) is MachineState.STOPPED
    assert bench.provider.machines == {}


async def test_offers_come_cheapest_first_with_their_tariff(bench: Bench, stub: VmPoolServiceAsyncStub) -> None:
    bench.provider.minimum_billed = timedelta(minutes=30)
    answer = await stub.ListOffers(pb.ListOffersRequest(gpu_type="mi210"))
    (offer,) = answer.offers
    assert (offer.provider, offer.gpu_type, offer.gpu_count, offer.available) == ("scripted", "MI210", 1, True)
    assert (offer.price_micros_per_hour, offer.minimum_billed.seconds) == (3_600_000_000, 1800)
    assert len((await stub.ListOffers(pb.ListOffersRequest())).offers) == 2


async def test_a_provider_that_makes_no_offers_is_named_with_its_words(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    bench.provider.failing["offers"] = ProviderError("the token has run out")
    answer = await stub.ListOffers(pb.ListOffersRequest())
    assert not answer.offers
    assert [(failed.provider, failed.message) for failed in answer.failures] == [("scripted", "the token has run out")]
    bench.provider.failing["offers"] = KeyError("a bug of the plug-in's")
    (broken,) = (await stub.ListOffers(pb.ListOffersRequest())).failures
    assert broken.message == "see vmpool's log"
    await refused(
        stub.ListOffers(pb.ListOffersRequest(gpu_type="H100")), grpc.StatusCode.INVALID_ARGUMENT, field="gpu_type"
    )


async def test_a_provider_that_cannot_diagnose_itself_is_judged_by_its_offers(
    bench: Bench, stub: VmPoolServiceAsyncStub
) -> None:
    (good,) = (await stub.DiagnoseProviders(pb.DiagnoseProvidersRequest())).findings
    assert (good.provider, good.check, good.ok) == ("scripted", "offers", True)
    bench.provider.gpu_types = ()
    (sold_out,) = (await stub.DiagnoseProviders(pb.DiagnoseProvidersRequest())).findings
    assert (sold_out.ok, bool(sold_out.remedy)) == (False, True)
    await bench.provider.provision(Order("mach_1", "MI300X", 1, "token"))
    (all_taken,) = (await stub.DiagnoseProviders(pb.DiagnoseProvidersRequest())).findings
    assert (all_taken.ok, all_taken.message) == (True, "none beside the 1 that it has")
    bench.provider.failing["offers"] = ProviderError("403: the token has run out")
    (broken,) = (await stub.DiagnoseProviders(pb.DiagnoseProvidersRequest())).findings
    assert (broken.ok, broken.message) == (False, "403: the token has run out")


class SelfAwareProvider(ScriptedProvider):
    async def diagnose(self) -> list[ProviderFinding]:
        self._fail("diagnose")
        return [ProviderFinding("token", ok=False, message="it is empty", remedy="make one")]


async def test_a_provider_s_own_findings_come_with_what_to_do(
    bench: Bench, stub: VmPoolServiceAsyncStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.provider, "__class__", SelfAwareProvider)
    token, offers = (await stub.DiagnoseProviders(pb.DiagnoseProvidersRequest())).findings
    assert (token.check, token.ok, token.message, token.remedy) == ("token", False, "it is empty", "make one")
    assert offers.check == "offers"
    bench.provider.failing["diagnose"] = OSError("no route to the server")
    (silent,) = (await stub.DiagnoseProviders(pb.DiagnoseProvidersRequest())).findings
    assert (silent.check, silent.ok, silent.message) == ("answer", False, "no route to the server")
    bench.provider.failing["diagnose"] = KeyError("a bug of the plug-in's")
    (broken,) = (await stub.DiagnoseProviders(pb.DiagnoseProvidersRequest())).findings
    assert (broken.ok, broken.message) == (False, "its own diagnosis broke")


async def test_a_provider_that_hangs_is_reported_and_holds_up_nobody(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.provider, "offers", asyncio.Event().wait)
    failures = (await offering_of(bench.vmpool.pool.providers, seconds=0.01)).failures
    ((finding,),) = (await findings_of(bench.vmpool.pool.providers, seconds=0.01)).values()
    assert "has not answered" in failures["scripted"]
    assert (finding.check, finding.ok, "has not answered" in finding.message) == ("answer", False, True)
