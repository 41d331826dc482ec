from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from wavepool.billing.v1 import projections_pb2 as pb
from wavepool.billing.v1.projections_pb2_grpc import ProjectionServiceStub

from servicekit.clock import ManualClock
from servicekit.rpc.errors import rpc_failure
from services.billing.server import build_stores

if TYPE_CHECKING:
    from pathlib import Path

    from wavepool.billing.v1.prices_pb2_grpc import PriceServiceAsyncStub
    from wavepool.billing.v1.projections_pb2_grpc import ProjectionServiceAsyncStub

    from servicekit.db.database import Database
    from services.billing.config import BillingSettings
    from services.billing.service.billing_service import Stores


@pytest.fixture
def database_url(tmp_path: Path) -> str:
    """One kind of database is enough here: the tests of the store cover the differences."""
    return f"sqlite+aiosqlite:///{tmp_path / 'billing.db'}"


@pytest.fixture
def projections(channel: grpc.aio.Channel, prices: PriceServiceAsyncStub) -> ProjectionServiceAsyncStub:
    return ProjectionServiceStub(channel)


async def test_scenarios_come_with_their_assumptions(projections: ProjectionServiceAsyncStub) -> None:
    answer = await projections.ListScenarios(pb.ListScenariosRequest(gpu_type="mi300x"))
    assert [one.tasks_per_day for one in answer.scenarios] == [10, 50, 200]
    assert [case.reuse for case in answer.scenarios[0].cases] == [pb.REUSE_NONE, pb.REUSE_SPREAD, pb.REUSE_SITTINGS]
    assumed = answer.assumptions
    assert (assumed.gpu_type, assumed.price_micros_per_hour, assumed.grant_micros) == (
        "MI300X",
        1_990_000,
        1_400_000_000,
    )
    assert (assumed.cold_start, assumed.run, assumed.idle_timeout) == (
        Duration(seconds=210),
        Duration(seconds=28),
        Duration(seconds=300),
    )
    assert [one.months for one in answer.circulating] == [8, 5, 3]
    assert "not $1,400.00" in answer.left_out[0]


async def test_an_account_without_a_week_of_days_has_no_projection(
    projections: ProjectionServiceAsyncStub, stores: Stores
) -> None:
    account = await stores.accounts.create("ada")
    await stores.ledger.grant(account.account_id, 5_000_000, "grant:1", "")
    answer = await projections.ProjectCosts(pb.ProjectCostsRequest(account_id=account.account_id))
    assert (answer.days, answer.least_days, answer.remaining_micros) == (0, 7, 5_000_000)
    assert (answer.HasField("month"), answer.HasField("task_costs")) == (False, False)


async def test_an_account_is_projected_from_its_own_days(
    projections: ProjectionServiceAsyncStub, settings: BillingSettings, db: Database
) -> None:
    clock = ManualClock(datetime.now(UTC) - timedelta(days=10))
    stores = build_stores(db, settings, clock)
    ledger, account_id = stores.ledger, (await stores.accounts.create("ada")).account_id
    await ledger.grant(account_id, 50_000_000, "grant:1", "")
    for number in range(11):
        held = await ledger.hold(account_id, 1_000_000, f"job:{number}", "")
        await ledger.settle(held.hold_id, 1_000_000, f"job:{number}:1", "")
        clock.advance(timedelta(days=1))
    answer = await projections.ProjectCosts(pb.ProjectCostsRequest(account_id=account_id))
    # Today is not over, so it does not count.
    assert (answer.days, answer.task_costs.tasks, answer.remaining_micros) == (10, 10, 39_000_000)
    assert (answer.month.low_micros, answer.month.high_micros) == (30_000_000, 30_000_000)
    assert answer.months_left_low == pytest.approx(1.3)


async def test_the_operators_remainder_is_of_the_machine_budget(projections: ProjectionServiceAsyncStub) -> None:
    answer = await projections.ProjectCosts(pb.ProjectCostsRequest())
    assert answer.remaining_micros == 1_400_000_000


@pytest.mark.parametrize(
    ("method", "request_", "code"),
    [
        ("ListScenarios", pb.ListScenariosRequest(gpu_type="MI3"), grpc.StatusCode.INVALID_ARGUMENT),
        ("ProjectCosts", pb.ProjectCostsRequest(account_id="acct_none"), grpc.StatusCode.NOT_FOUND),
    ],
)
async def test_refusals_have_the_statuses_of_the_proto(
    projections: ProjectionServiceAsyncStub, method: str, request_: Any, code: grpc.StatusCode
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await getattr(projections, method)(request_)
    assert rpc_failure(error.value).code == code
