"""The loop that reports machines' costs to billing."""

from __future__ import annotations

from datetime import timedelta

import grpc
from wavepool.billing.v1 import billing_pb2 as pb
from wavepool.billing.v1 import billing_pb2_grpc

from servicekit.logging import get_logger
from servicekit.rpc.proto_of import proto_of
from services.vmpool import metrics
from services.vmpool.machines.machine import Machine
from services.vmpool.machines.usage_fact import UsageFact
from services.vmpool.store.usage_store import UsageStore

log = get_logger(__name__)

CALL_SECONDS = 2.0


class UsageReporter:
    """Sends facts in order, each until billing has taken it; billing counts each (machine, sequence) once."""

    name = "usage reporter"

    def __init__(self, usage: UsageStore, channel: grpc.aio.Channel, interval: timedelta) -> None:
        self._usage = usage
        self._billing = billing_pb2_grpc.BillingServiceStub(channel)
        self._interval = interval

    async def run_once(self) -> None:
        """Write down the facts that are due, and send those that are unsent."""
        await self._usage.write_due(self._interval)
        unsent = await self._usage.unsent()
        metrics.usage_unsent.set(len(unsent))
        refused: set[str] = set()
        for fact, machine in unsent:
            if fact.machine_id in refused:
                continue
            try:
                await self._billing.RecordMachineUsage(_usage_to_proto(fact, machine), timeout=CALL_SECONDS)
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.INVALID_ARGUMENT:
                    log.warning(
                        "billing takes no usage facts now", extra={"unsent": len(unsent), "error": error.details()}
                    )
                    return
                # Sending these facts again is useless, but they must not hold up another machine's.
                refused.add(fact.machine_id)
                log.error(  # noqa: TRY400 - the traceback is of no interest
                    "billing refuses a usage fact", extra={"machine_id": fact.machine_id, "error": error.details()}
                )
            else:
                await self._usage.sent(fact)


def _usage_to_proto(fact: UsageFact, machine: Machine) -> pb.RecordMachineUsageRequest:
    uses = [proto_of(pb.MachineUse, use, subject=f"{use.job_id}:{use.attempt}") for use in fact.uses]
    return proto_of(pb.RecordMachineUsageRequest, fact, machine, machine_start_time=machine.provision_time, uses=uses)
