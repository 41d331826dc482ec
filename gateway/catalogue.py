"""The catalogue and the price list as HTTP shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from vocabulary.money import dollars_of

if TYPE_CHECKING:
    from wavepool.billing.v1 import billing_pb2
    from wavepool.scheduler.v1 import scheduler_pb2


class GpuPrice(BaseModel):
    """A GPU type that may be asked for."""

    gpu_type: str
    price_usd_per_hour: Annotated[float, Field(description="Of one whole GPU.")]


class GpuTypes(BaseModel):
    """What may be asked for."""

    gpu_types: Annotated[list[GpuPrice], Field(description="The first is that of whoever names none.")]


class ProblemSummary(BaseModel):
    """A problem of the catalogue."""

    slug: str
    title: str
    difficulty: str
    tags: list[str]
    dtypes: list[str]
    signature: Annotated[str, Field(description="The parameters of `solution`, in order.")]


class ProblemDetail(ProblemSummary):
    """A problem with its texts."""

    statement: Annotated[str, Field(description="Markdown.")]
    starter: Annotated[str, Field(description="HIP source to begin from.")]


class ProblemList(BaseModel):
    """The catalogue, by slug."""

    problems: list[ProblemSummary]


def gpu_types_of(answer: billing_pb2.ListPricesResponse) -> GpuTypes:
    """The price list."""
    return GpuTypes(
        gpu_types=[
            GpuPrice(gpu_type=price.gpu_type, price_usd_per_hour=dollars_of(price.price_micros_per_hour))
            for price in answer.prices
        ]
    )


def problem_summary_of(problem: scheduler_pb2.ProblemSummary) -> ProblemSummary:
    """A problem of the catalogue."""
    return ProblemSummary(**_problem_fields(problem))


def problem_detail_of(answer: scheduler_pb2.GetProblemResponse) -> ProblemDetail:
    """A problem with its texts."""
    return ProblemDetail(**_problem_fields(answer.problem), statement=answer.statement, starter=answer.starter)


def _problem_fields(problem: scheduler_pb2.ProblemSummary) -> dict[str, Any]:
    return {
        "slug": problem.slug,
        "title": problem.title,
        "difficulty": problem.difficulty,
        "tags": list(problem.tags),
        "dtypes": list(problem.dtypes),
        "signature": problem.signature,
    }
