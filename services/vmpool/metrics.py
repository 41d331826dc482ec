"""vmpool's metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from servicekit.metrics import counter, gauge, histogram
from services.vmpool.machines.lease import Lease
from services.vmpool.machines.machine import READY, Machine, MachineState
from vocabulary import readings
from vocabulary.readings import Reading
from vocabulary.slots import EIGHTHS_PER_GPU, free_eighths

spare = gauge("wavepool_vmpool_spare", "1 while this process waits for the one that leads to end; it serves nothing.")
machines = gauge("wavepool_vmpool_machines", "Machines that are not released.", ("state",))
gpus = gauge("wavepool_vmpool_gpus", "GPUs of unreleased machines: under a lease, and free for one.", ("use",))
leases_granted = counter("wavepool_vmpool_leases", "Leases granted.", ("start_kind",))
gangs_granted = counter("wavepool_vmpool_gangs", "Gangs whose leases were granted.")
leases_refused = counter("wavepool_vmpool_leases_refused", "Calls for a lease that found no room.")
acquire_seconds = histogram("wavepool_vmpool_acquire_seconds", "Time to grant or refuse a lease.")
provider_errors = counter("wavepool_vmpool_provider_errors", "Calls of a provider that failed.", ("provider",))
provider_words_unknown = counter(
    "wavepool_vmpool_provider_words_unknown", "Words of a provider that we do not know.", ("provider", "kind")
)
sources_stopped = gauge(
    "wavepool_vmpool_sources_stopped", "Sources that nothing is rented from, as their machines were of no use."
)
orphans = gauge(
    "wavepool_vmpool_strangers", "Machines that a provider had and the record had not, at the last look.", ("provider",)
)
machine_shares = gauge(
    "wavepool_vmpool_machine_share",
    "Share of a machine's cpu, memory, gpu and lease time in use, as alerts see it.",
    ("machine_id", "resource"),
)
failed_machines = gauge(
    "wavepool_vmpool_failed_machines", "Machines that ended by a fault in VMPOOL_METRICS_WINDOW.", ("provider",)
)
unmet_jobs = gauge("wavepool_vmpool_unmet_jobs", "Waiting jobs that nothing can be started for.", ("gpu_type",))
tunnels_open = gauge("wavepool_vmpool_tunnels_open", "SSH connections to sessions that are being carried.")
tunnel_bytes = counter(
    "wavepool_vmpool_tunnel_bytes", "Bytes carried to sessions (in) and from them (out).", ("direction",)
)
usage_unsent = gauge("wavepool_vmpool_usage_facts_unsent", "Usage facts that billing has not taken yet.")

_RESOURCES = {
    readings.MACHINE_CPU: "cpu",
    readings.MACHINE_MEMORY: "memory",
    readings.MACHINE_GPU: "gpu",
    readings.MACHINE_LEASED: "lease",
}


def show_machines(present: Sequence[Machine]) -> None:
    """Show how many machines are in each state, and how many of their GPUs are in use."""
    counts = Counter(machine.state for machine in present)
    for state in MachineState:
        machines.labels(state.value).set(counts[state])
    leased = sum(mask.bit_count() for machine in present for mask in machine.occupied)
    free = sum(free_eighths(machine.occupied) for machine in present if machine.state in READY)
    gpus.labels("leased").set(leased / EIGHTHS_PER_GPU)
    gpus.labels("free").set(free / EIGHTHS_PER_GPU)


def show_readings(found: Iterable[Reading]) -> None:
    """Show the readings for alerts; machines that are over are left out."""
    for each in (machine_shares, failed_machines, unmet_jobs):
        each.clear()
    for one in found:
        if one.name in _RESOURCES:
            machine_shares.labels(one.labels["machine"], _RESOURCES[one.name]).set(one.value)
        elif one.name == readings.FAILED_MACHINES:
            failed_machines.labels(one.labels["provider"]).set(one.value)
        elif one.name == readings.UNMET_DEMAND:
            unmet_jobs.labels(one.labels["gpu_type"]).set(one.value)


def leases_of_a_job_granted(leases: Sequence[Lease]) -> None:
    """Count granted leases: the only one of a job's attempt, or those of its gang."""
    for lease in leases:
        leases_granted.labels(lease.start_kind.value).inc()
    gangs_granted.inc(len(leases) > 1)
