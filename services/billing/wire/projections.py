"""Converts billing's own types to the messages of projections.proto."""

from __future__ import annotations

from wavepool.billing.v1 import projections_pb2 as pb

from servicekit.rpc.proto_of import proto_of
from services.billing.projections.circulating import CIRCULATING, left_out
from services.billing.projections.history import LEAST_DAYS, Projection
from services.billing.projections.scenario import DAYS_PER_MONTH, TASKS_PER_DAY, Assumptions, scenario


def scenarios_to_proto(gpu_type: str, assumed: Assumptions) -> pb.ListScenariosResponse:
    """The scenarios, with all that they are computed from."""
    tariff = assumed.tariff
    assumptions = proto_of(
        pb.Assumptions,
        assumed,
        tariff,
        gpu_type=gpu_type,
        minimum_billed=tariff.minimum,
        billing_increment=tariff.increment,
        days_per_month=DAYS_PER_MONTH,
    )
    return proto_of(
        pb.ListScenariosResponse,
        assumptions=assumptions,
        scenarios=[scenario(assumed, tasks) for tasks in TASKS_PER_DAY],
        circulating=CIRCULATING,
        left_out=left_out(assumed),
    )


def projection_to_proto(projected: Projection) -> pb.ProjectCostsResponse:
    """A projection from the days that were."""
    low, high = projected.months_left or (None, None)
    return proto_of(
        pb.ProjectCostsResponse, projected, least_days=LEAST_DAYS, months_left_low=low, months_left_high=high
    )
