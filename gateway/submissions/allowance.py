"""The submissions that an account may still make, as HTTP shows them: as JSON and as headers."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import BaseModel, Field
from wavepool.scheduler.v1.scheduler_pb2 import Allowance

from gateway.words.proto_time import seconds_of

IN_FLIGHT, HOURLY = "in-flight", "hourly"
"""Names of the two limits in the headers."""
HOUR_SECONDS = 3600


class Limits(BaseModel):
    """The limits on the submissions of an account, and their use now."""

    remaining_submissions: Annotated[int, Field(description="How many more submissions the limits allow now.")]
    jobs_in_flight: int
    max_jobs_in_flight: int
    submissions_in_last_hour: Annotated[
        int, Field(description="Without repeats of an `Idempotency-Key` and without refused submissions.")
    ]
    max_submissions_per_hour: Annotated[int | None, Field(description="Over any hour; null: no limit.")]
    renew_after_seconds: Annotated[
        float | None,
        Field(description="Until the hourly limit allows one more than now; null: there were none in the last hour."),
    ]


def rate_limit_headers(allowance: Allowance) -> dict[str, str]:
    """The limits and what is left of them, as headers of draft-ietf-httpapi-ratelimit-headers-11."""
    in_flight, hour = allowance.max_jobs_in_flight, allowance.max_submissions_per_hour
    policies = [f'"{IN_FLIGHT}";q={in_flight};qu="concurrent-requests"']
    left = [f'"{IN_FLIGHT}";r={max(0, in_flight - allowance.jobs_in_flight)}']
    if hour:
        policies.append(f'"{HOURLY}";q={hour};w={HOUR_SECONDS}')
        renew = f";t={math.ceil(seconds_of(allowance.renew_after))}" if allowance.HasField("renew_after") else ""
        left.append(f'"{HOURLY}";r={max(0, hour - allowance.submissions_in_last_hour)}{renew}')
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(left)}
