"""`/api/v1/users`: people and programs that sign in. Administrators manage them, operators see them."""

from __future__ import annotations

import asyncio
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field
from wavepool.billing.v1 import identity_pb2
from wavepool.billing.v1.identity_pb2 import (
    ROLE_UNSPECIFIED,
    CreateUserRequest,
    GetProfileRequest,
    GetUserRequest,
    ListUsersRequest,
    Role,
    UpdateUserRequest,
)
from wavepool.scheduler.v1.rankings_pb2 import GetUserProgressRequest
from wavepool.scheduler.v1.scheduler_pb2 import VISIBILITY_PUBLIC, Job, ListJobsRequest

from gateway.dependencies import TheAccount, TheAdmin, TheGateway, TheOverseer
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.routes.identity_calls import GrantUsd, Name, Reference, call
from gateway.submissions.event_schemas import RuntimeInterval
from gateway.submissions.views import submission_of
from gateway.words.answer_words import Documented, FinalStatusWord, JobStateWord, TimingWord
from gateway.words.shown import shown
from submissions.modes import Mode
from vocabulary.money import micros_of

router = APIRouter(prefix="/users", tags=["users"], route_class=JsonRoute)

MOST_PUBLIC = 50
UserName = Annotated[str, Path(max_length=100, description="The user's name.")]
Email = Annotated[str, Field(max_length=254, description="Empty: none.")]


class RoleName(StrEnum):
    """The general rights of a user."""

    USER = "user"
    OPERATOR = "operator"
    ADMIN = "admin"
    SERVICE = "service"


class UserRequest(BaseModel):
    """A new user, with an account of the same name."""

    model_config = ConfigDict(
        extra="forbid", allow_inf_nan=False, json_schema_extra={"examples": [{"name": "ada", "grant_usd": 5.0}]}
    )

    name: Name
    email: Email = ""
    role: RoleName = RoleName.USER
    grant_usd: GrantUsd = 0.0


class UserChange(BaseModel):
    """Changes of a user; what is left out stays."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"role": "operator"}]})

    role: RoleName | None = None
    email: Email | None = None
    github_name: Annotated[
        str | None,
        Field(max_length=39, description="The name on GitHub whose keys are used for reservations; empty: none."),
    ] = None
    disabled: Annotated[
        bool | None, Field(strict=True, description="While it is true, none of the user's tokens works.")
    ] = None


class User(BaseModel):
    """A user."""

    id: str
    name: str
    email: str
    role: Annotated[str, Documented(RoleName)]
    account_id: Annotated[str, Field(description="The user's own account.")]
    create_time: datetime | None
    disable_time: Annotated[datetime | None, Field(description="Set while the user is disabled.")]
    issuer: Annotated[str, Field(description="The identity provider that the user signs in at; empty: none.")]
    github_name: Annotated[str, Field(description="The user's name on GitHub; empty: not known.")]


class UserList(BaseModel):
    """All users, by name."""

    users: list[User]


class Solved(BaseModel):
    """How many problems of one difficulty a user has solved."""

    difficulty: str
    solved: int
    problems: Annotated[int, Field(description="All of the catalogue.")]


class SubmissionDay(BaseModel):
    """A day on which a user submitted."""

    date: Annotated[date, Field(description="In UTC.")]
    submissions: Annotated[int, Field(description="Those of that day that have ended with a verdict.")]


class PublicSubmission(BaseModel):
    """A submission that everybody may see; `GET /submissions/{id}` has its code and result."""

    id: str
    name: Annotated[str | None, Field(description="As its user gave it; null: none.")]
    problem: str
    mode: Annotated[str, Documented(Mode)]
    gpu_type: Annotated[str, Field(description="The GPU type that it ran on, or `cpu`; before, the one that it wants.")]
    dtype: str
    state: JobStateWord
    status: Annotated[FinalStatusWord | None, Field(description="The status of the last event, once it has ended.")]
    timing_status: Annotated[TimingWord | None, Field(description="Null where nothing was timed.")]
    shown_interval: Annotated[float | None, Field(description="As in `GET /submissions/{id}`.")]
    runtime_ms: Annotated[float | None, Field(description="The geometric mean of the cases; null: it has no time.")]
    runtime_interval: RuntimeInterval
    create_time: datetime | None


class UserProfile(BaseModel):
    """A user's progress, for everybody to see."""

    name: str
    solved: Annotated[list[Solved], Field(description="By difficulty, the easiest first.")]
    days: Annotated[list[SubmissionDay], Field(description="Days with submissions of the last year, oldest first.")]
    public_submissions: Annotated[list[PublicSubmission], Field(description="The newest 50.")]


@router.post("", status_code=201, responses=problems(403, 409))
async def create_user(body: UserRequest, admin: TheAdmin, gateway: TheGateway) -> User:
    """Add a user, and open the user's account. Then make a token for the user with `POST /tokens`."""
    request = CreateUserRequest(
        caller_token_id=admin.token_id,
        name=body.name,
        email=body.email,
        role=role_number(body.role),
        grant_micros=micros_of(body.grant_usd),
    )
    return shown(User, (await call(gateway.upstreams.identity.CreateUser, request)).user)


@router.get("", responses=problems(403))
async def list_users(overseer: TheOverseer, gateway: TheGateway) -> UserList:
    """List all users."""
    request = ListUsersRequest(caller_token_id=overseer.token_id)
    return shown(UserList, await call(gateway.upstreams.identity.ListUsers, request))


@router.get("/{user}", responses=problems(403, 404))
async def get_user(user: Reference, caller: TheAccount, gateway: TheGateway) -> User:
    """Get a user: yourself, or any user if you are an operator or administrator."""
    request = GetUserRequest(caller_token_id=caller.token_id, user=user)
    return shown(User, (await call(gateway.upstreams.identity.GetUser, request)).user)


@router.get("/{user}/profile", responses=problems(404))
async def get_profile(user: UserName, caller: TheAccount, gateway: TheGateway) -> UserProfile:
    """Get what a user has solved, submitted and made public. `404` if they have switched their profile off."""
    asked = GetProfileRequest(caller_token_id=caller.token_id, name=user)
    found = (await call(gateway.upstreams.identity.GetProfile, asked)).profile
    of_public = ListJobsRequest(user_id=found.user_id, visibility=VISIBILITY_PUBLIC, page_size=MOST_PUBLIC)
    progress, public = await asyncio.gather(
        call(gateway.upstreams.rankings.GetUserProgress, GetUserProgressRequest(user_id=found.user_id)),
        call(gateway.upstreams.scheduler.ListJobs, of_public),
    )
    return shown(
        UserProfile,
        progress,
        name=found.name,
        solved=[shown(Solved, one) for one in progress.difficulties],
        public_submissions=[_public_of(job) for job in public.jobs],
    )


@router.patch("/{user}", responses=problems(403, 404, 409))
async def update_user(user: Reference, body: UserChange, admin: TheAdmin, gateway: TheGateway) -> User:
    """Change a user's role, email or name on GitHub, and disable or enable a user; it takes effect within 5 s."""
    request = UpdateUserRequest(
        caller_token_id=admin.token_id,
        user=user,
        role=role_number(body.role),
        disabled=body.disabled,
        email=body.email,
        github_name=body.github_name,
    )
    return shown(User, (await call(gateway.upstreams.identity.UpdateUser, request)).user)


def _public_of(job: Job) -> PublicSubmission:
    submission = submission_of(job)
    fields: dict[str, Any] = {name: getattr(submission, name) for name in PublicSubmission.model_fields}
    fields["gpu_type"] = submission.hardware or submission.gpu_type
    return PublicSubmission(**fields)


def role_number(role: RoleName | None) -> identity_pb2.Role.ValueType:
    """The proto's number of a role."""
    return ROLE_UNSPECIFIED if role is None else Role.Value(f"ROLE_{role.name}")
