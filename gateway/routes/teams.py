"""`/api/v1/teams`: users who share an account. Administrators add teams, managers look after their members."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from wavepool.billing.v1.identity_pb2 import (
    AddTeamMemberRequest,
    CreateTeamRequest,
    GetTeamRequest,
    ListTeamsRequest,
    MemberLevel,
    RemoveTeamMemberRequest,
)

from gateway.dependencies import TheAccount, TheAdmin, TheGateway, TheManager
from gateway.http.json_route import JsonRoute
from gateway.http.route_docs import problems
from gateway.routes.identity_calls import GrantUsd, Name, Reference, call
from gateway.words.answer_words import Documented
from gateway.words.shown import shown
from vocabulary.money import micros_of

router = APIRouter(prefix="/teams", tags=["teams"], route_class=JsonRoute)


class LevelName(StrEnum):
    """The rights of a member in the team."""

    MEMBER = "member"
    MANAGER = "manager"


class TeamRequest(BaseModel):
    """A new team, with an account of the same name."""

    model_config = ConfigDict(
        extra="forbid", allow_inf_nan=False, json_schema_extra={"examples": [{"name": "compilers", "grant_usd": 50.0}]}
    )

    name: Name
    grant_usd: GrantUsd = 0.0


class MemberRequest(BaseModel):
    """The rights of a member."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"level": "member"}]})

    level: LevelName = LevelName.MEMBER


class Member(BaseModel):
    """A member of a team."""

    user_id: str
    user_name: str
    level: Annotated[str, Documented(LevelName)]
    from_sign_in: Annotated[bool, Field(description="Each sign-in updates the membership.")]


class TeamSummary(BaseModel):
    """A team without its members."""

    id: str
    name: str
    account_id: Annotated[str, Field(description="The account that the members share.")]
    create_time: datetime | None


class Team(TeamSummary):
    """A team with its members."""

    members: Annotated[list[Member], Field(description="By name.")]


class TeamList(BaseModel):
    """Teams, by name."""

    teams: list[TeamSummary]


@router.post("", status_code=201, responses=problems(403, 409))
async def create_team(body: TeamRequest, admin: TheAdmin, gateway: TheGateway) -> Team:
    """Add a team, and open its account."""
    request = CreateTeamRequest(caller_token_id=admin.token_id, name=body.name, grant_micros=micros_of(body.grant_usd))
    return shown(Team, (await call(gateway.upstreams.identity.CreateTeam, request)).team)


@router.get("", responses=problems(403))
async def list_teams(caller: TheAccount, gateway: TheGateway) -> TeamList:
    """List your teams; operators and administrators see all."""
    request = ListTeamsRequest(caller_token_id=caller.token_id)
    return shown(TeamList, await call(gateway.upstreams.identity.ListTeams, request))


@router.get("/{team}", responses=problems(403, 404))
async def get_team(team: Reference, caller: TheAccount, gateway: TheGateway) -> Team:
    """Get a team with its members."""
    request = GetTeamRequest(caller_token_id=caller.token_id, team=team)
    return shown(Team, (await call(gateway.upstreams.identity.GetTeam, request)).team)


@router.put("/{team}/members/{user}", responses=problems(403, 404))
async def add_member(
    team: Reference, user: Reference, body: MemberRequest, caller: TheManager, gateway: TheGateway
) -> Team:
    """Add a member, or change what a member may do; for managers of the team and administrators."""
    request = AddTeamMemberRequest(
        caller_token_id=caller.token_id,
        team=team,
        user=user,
        level=MemberLevel.Value(f"MEMBER_LEVEL_{body.level.name}"),
    )
    return shown(Team, (await call(gateway.upstreams.identity.AddTeamMember, request)).team)


@router.delete("/{team}/members/{user}", responses=problems(403, 404))
async def remove_member(team: Reference, user: Reference, caller: TheManager, gateway: TheGateway) -> Team:
    """Remove a member, whose tokens for the team stop working within 5 s. Any member may leave."""
    request = RemoveTeamMemberRequest(caller_token_id=caller.token_id, team=team, user=user)
    return shown(Team, (await call(gateway.upstreams.identity.RemoveTeamMember, request)).team)
