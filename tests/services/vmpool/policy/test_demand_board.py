from __future__ import annotations

from datetime import timedelta

from services.vmpool.machines.lease import PlacedRequest, Placement
from services.vmpool.policy.demand_board import DemandBoard
from services.vmpool.policy.packing import Demand
from tests.services.vmpool.conftest import START, a_request
from vocabulary.slots import Slot

MINUTE = timedelta(minutes=1)
WHOLE = Demand("MI300X", 8, 2)


def board() -> DemandBoard:
    return DemandBoard(MINUTE)


def test_a_report_replaces_the_one_before() -> None:
    demand = board()
    demand.report([WHOLE], START)
    demand.report([Demand("MI210", 4, 1)], START)
    assert demand.present(START) == [Demand("MI210", 4, 1)]


def test_what_is_not_repeated_is_forgotten() -> None:
    demand = board()
    demand.report([WHOLE], START)
    demand.refused(a_request(), START + MINUTE / 2)
    assert demand.present(START + MINUTE) == [Demand("MI300X", 8, 1)]
    assert demand.present(START + 2 * MINUTE) == []


def test_a_refused_job_is_not_counted_beside_its_report() -> None:
    demand = board()
    demand.report([WHOLE], START)
    demand.refused(a_request("one"), START)
    assert demand.present(START) == [WHOLE]
    for job_id in ("two", "three"):
        demand.refused(a_request(job_id), START)
    assert demand.present(START) == [Demand("MI300X", 8, 3)]


def test_no_machine_is_started_for_a_job_that_was_refused_and_is_cancelled() -> None:
    demand = board()
    demand.report([Demand("MI300X", 8, 1)], START)
    demand.refused(a_request(), START)
    demand.report([], START)
    assert demand.present(START) == []


def test_a_job_that_got_its_lease_waits_no_more() -> None:
    demand = board()
    demand.report([WHOLE], START)
    demand.refused(a_request("one"), START)
    for _ in range(2):
        demand.granted(a_request("one"))
    assert demand.present(START) == [Demand("MI300X", 8, 1)]
    demand.granted(a_request("two"))
    demand.granted(a_request("three"))
    assert demand.present(START) == []
    demand.report([WHOLE], START)
    assert demand.present(START) == [WHOLE]


def test_a_gang_that_got_its_leases_waits_no_more_on_any_of_its_machines() -> None:
    whole_machine = tuple(Slot(gpu, 0, 8) for gpu in range(8))
    placements = (Placement("m1", whole_machine), Placement("m2", whole_machine), Placement("m3", whole_machine[:2]))
    demand = board()
    demand.report([Demand("MI300X", 64, 3), Demand("MI300X", 16, 2), WHOLE], START)
    demand.granted(PlacedRequest("gang", 1, "MI300X", placements, MINUTE))
    assert demand.present(START) == [WHOLE, Demand("MI300X", 16, 1), Demand("MI300X", 64, 1)]
