"""IdentityService: decode, ask, encode."""

from __future__ import annotations

import grpc
from wavepool.billing.v1 import identity_pb2 as pb
from wavepool.billing.v1 import identity_pb2_grpc

from servicekit.clock import Clock
from servicekit.rpc.proto_of import proto_of
from services.billing.errors import (
    AccountNotFoundError,
    InvalidFieldError,
    InvalidTicketError,
    InvalidTokenError,
    TeamNotFoundError,
    UserNotFoundError,
)
from services.billing.identity import account, api_token, ticket
from services.billing.identity.caller import Caller
from services.billing.identity.rights import Role, Scope, scopes_from_words
from services.billing.identity.team import MemberLevel, Team
from services.billing.identity.user import Notify, ProfileVisibility, check_email, check_github_name
from services.billing.keys.github_claims import GithubClaims
from services.billing.keys.key_resolver import KeyResolver
from services.billing.service.billing_service import Stores
from services.billing.service.key_orders import KeyOrders
from services.billing.service.notice_orders import NoticeOrders
from services.billing.service.own_user import own_user
from services.billing.service.token_orders import TokenOrders
from services.billing.wire import identity as wire
from services.billing.wire.fields import member_from_proto
from services.billing.wire.identity import reference_from_proto as reference

Context = grpc.aio.ServicerContext[object, object]


MAX_NAMES = 200


class IdentityServicer(identity_pb2_grpc.IdentityServiceServicer):
    """The RPCs of the service; `identity.proto` documents them."""

    def __init__(
        self,
        stores: Stores,
        clock: Clock,
        resolver: KeyResolver,
        claims: GithubClaims | None,
        notices: NoticeOrders,
    ) -> None:
        self._accounts = stores.accounts
        self._users = stores.users
        self._teams = stores.teams
        self._tokens = stores.tokens
        self._tickets = stores.tickets
        self._ledger = stores.ledger
        self._orders = TokenOrders(stores.accounts, stores.users, stores.tokens)
        self._keys = KeyOrders(stores.users, stores.keys, claims)
        self._resolver = resolver
        self._notices = notices
        self._clock = clock

    async def AuthenticateToken(
        self, request: pb.AuthenticateTokenRequest, context: Context
    ) -> pb.AuthenticateTokenResponse:
        """Finds the user of a token."""
        return wire.caller_to_proto(await self._tokens.authenticate(request.token))

    async def GetCaller(self, request: pb.GetCallerRequest, context: Context) -> pb.GetCallerResponse:
        """Finds the user of a token by its id."""
        caller = await self._tokens.known_caller(reference("token_id", request.token_id))
        return pb.GetCallerResponse(caller=wire.caller_to_proto(caller))

    async def CreateTicket(self, request: pb.CreateTicketRequest, context: Context) -> pb.CreateTicketResponse:
        """Creates a ticket."""
        caller = await self._caller(request.caller_token_id)
        address = ticket.check_address(request.address)
        secret, expire_time = await self._tickets.create(caller.token.token_id, address)
        return proto_of(pb.CreateTicketResponse, ticket=secret, expire_time=expire_time)

    async def UseTicket(self, request: pb.UseTicketRequest, context: Context) -> pb.UseTicketResponse:
        """Uses a ticket up."""
        token_id = await self._tickets.use(request.ticket, request.address)
        try:
            caller = await self._tokens.known_caller(token_id)
        except InvalidTokenError as error:
            raise InvalidTicketError("The API token that asked for it does not work any more.") from error
        return pb.UseTicketResponse(caller=wire.caller_to_proto(caller))

    async def GetRole(self, request: pb.GetRoleRequest, context: Context) -> pb.GetRoleResponse:
        """Gets a user's role."""
        user = await self._users.get(reference("user_id", request.user_id))
        return proto_of(pb.GetRoleResponse, role=None if user.disable_time else user.role)

    async def ListNames(self, request: pb.ListNamesRequest, context: Context) -> pb.ListNamesResponse:
        """Lists the names of users."""
        if len(request.user_ids) > MAX_NAMES:
            raise InvalidFieldError("user_ids", f"must be at most {MAX_NAMES}; there are {len(request.user_ids)}")
        return pb.ListNamesResponse(names=await self._users.names(request.user_ids))

    async def CreateUser(self, request: pb.CreateUserRequest, context: Context) -> pb.CreateUserResponse:
        """Adds a user."""
        await self._caller(request.caller_token_id, Scope.ADMIN)
        name, email = account.check_name(request.name), check_email(request.email)
        grant_micros = account.check_first_grant(request.grant_micros)
        user = await self._users.create(name, wire.role_from_proto(request.role) or Role.USER, email)
        await self._first_grant(user.account_id, grant_micros)
        return proto_of(pb.CreateUserResponse, user=user)

    async def GetUser(self, request: pb.GetUserRequest, context: Context) -> pb.GetUserResponse:
        """Gets a user."""
        caller = await self._caller(request.caller_token_id, Scope.READ)
        user = await self._users.get(reference("user", request.user))
        if user.user_id != caller.user.user_id and not caller.sees_everything:
            raise UserNotFoundError(request.user)
        return proto_of(pb.GetUserResponse, user=user)

    async def ListUsers(self, request: pb.ListUsersRequest, context: Context) -> pb.ListUsersResponse:
        """Lists all users."""
        caller = await self._caller(request.caller_token_id)
        if not caller.sees_everything:
            caller.require(Scope.OPERATE)
        return proto_of(pb.ListUsersResponse, users=await self._users.list_all())

    async def UpdateUser(self, request: pb.UpdateUserRequest, context: Context) -> pb.UpdateUserResponse:
        """Changes a user."""
        await self._caller(request.caller_token_id, Scope.ADMIN)
        user = await self._users.update(
            reference("user", request.user),
            role=wire.role_from_proto(request.role),
            email=check_email(request.email) if request.HasField("email") else None,
            disabled=request.disabled if request.HasField("disabled") else None,
            github_name=check_github_name(request.github_name) if request.HasField("github_name") else None,
        )
        return proto_of(pb.UpdateUserResponse, user=user)

    async def CreateTeam(self, request: pb.CreateTeamRequest, context: Context) -> pb.CreateTeamResponse:
        """Adds a team."""
        await self._caller(request.caller_token_id, Scope.ADMIN)
        name, grant_micros = account.check_name(request.name), account.check_first_grant(request.grant_micros)
        team = await self._teams.create(name)
        await self._first_grant(team.account_id, grant_micros)
        return pb.CreateTeamResponse(team=wire.team_to_proto(team))

    async def GetTeam(self, request: pb.GetTeamRequest, context: Context) -> pb.GetTeamResponse:
        """Gets a team."""
        caller = await self._caller(request.caller_token_id, Scope.READ)
        return pb.GetTeamResponse(team=wire.team_to_proto(await self._team(caller, request.team)))

    async def ListTeams(self, request: pb.ListTeamsRequest, context: Context) -> pb.ListTeamsResponse:
        """Lists the caller's teams."""
        caller = await self._caller(request.caller_token_id, Scope.READ)
        seen = [team for team in await self._teams.list_all() if caller.sees_account(team.account_id)]
        return pb.ListTeamsResponse(teams=[wire.team_to_proto(team) for team in seen])

    async def AddTeamMember(self, request: pb.AddTeamMemberRequest, context: Context) -> pb.AddTeamMemberResponse:
        """Adds a member, or changes one."""
        caller = await self._caller(request.caller_token_id)
        team = await self._team(caller, request.team)
        caller.require_lead_of(team)
        level = member_from_proto("level", request.level or pb.MEMBER_LEVEL_MEMBER, pb.MemberLevel, MemberLevel)
        user = await self._users.get(reference("user", request.user))
        changed = await self._teams.add_member(team.team_id, user.user_id, level)
        return pb.AddTeamMemberResponse(team=wire.team_to_proto(changed))

    async def RemoveTeamMember(
        self, request: pb.RemoveTeamMemberRequest, context: Context
    ) -> pb.RemoveTeamMemberResponse:
        """Removes a member."""
        caller = await self._caller(request.caller_token_id)
        team = await self._team(caller, request.team)
        if request.user in {caller.user.user_id, caller.user.name}:
            caller.require(Scope.MANAGE)
        else:
            caller.require_lead_of(team)
        user = await self._users.get(reference("user", request.user))
        changed = await self._teams.remove_member(team.team_id, user.user_id)
        return pb.RemoveTeamMemberResponse(team=wire.team_to_proto(changed))

    async def ListAccounts(self, request: pb.ListAccountsRequest, context: Context) -> pb.ListAccountsResponse:
        """Lists the caller's accounts."""
        caller = await self._caller(request.caller_token_id, Scope.READ)
        found = await self._accounts.owned(None if caller.sees_everything else caller.visible_account_ids)
        return proto_of(pb.ListAccountsResponse, accounts=found)

    async def GetAccount(self, request: pb.GetAccountRequest, context: Context) -> pb.GetAccountResponse:
        """Gets one of the caller's accounts."""
        caller = await self._caller(request.caller_token_id, Scope.READ)
        for found in await self._accounts.owned([reference("account", request.account)]):
            if caller.sees_account(found.account_id):
                return proto_of(pb.GetAccountResponse, account=found)
        raise AccountNotFoundError(request.account)

    async def CreateToken(self, request: pb.CreateTokenRequest, context: Context) -> pb.CreateTokenResponse:
        """Creates a token."""
        expire_time = wire.expiry_from_proto(request.expire_time) if request.HasField("expire_time") else None
        token, secret = await self._orders.create(
            await self._caller(request.caller_token_id),
            reference("user", request.user),
            reference("account", request.account),
            api_token.check_name(request.name),
            scopes_from_words(request.scopes),
            api_token.check_expiry(expire_time, self._clock.now()),
            is_link=request.is_link,
        )
        return pb.CreateTokenResponse(token=wire.token_to_proto(token), secret=secret)

    async def ListTokens(self, request: pb.ListTokensRequest, context: Context) -> pb.ListTokensResponse:
        """Lists a user's tokens."""
        caller = await self._caller(request.caller_token_id)
        user, wanted = reference("user", request.user), reference("account", request.account)
        found = await self._orders.tokens_of(caller, user, wanted)
        return pb.ListTokensResponse(tokens=[wire.token_to_proto(token) for token in found])

    async def RevokeToken(self, request: pb.RevokeTokenRequest, context: Context) -> pb.RevokeTokenResponse:
        """Revokes a token."""
        caller = await self._caller(request.caller_token_id)
        await self._orders.revoke(caller, reference("token_id", request.token_id))
        return pb.RevokeTokenResponse()

    async def AddKey(self, request: pb.AddKeyRequest, context: Context) -> pb.AddKeyResponse:
        """Adds a public key to a user's."""
        caller = await self._caller(request.caller_token_id)
        key = await self._keys.add(caller, reference("user", request.user), request.public_key, request.name)
        return proto_of(pb.AddKeyResponse, key=key)

    async def ListKeys(self, request: pb.ListKeysRequest, context: Context) -> pb.ListKeysResponse:
        """Lists a user's keys."""
        caller = await self._caller(request.caller_token_id)
        owner, found = await self._keys.keys_of(caller, reference("user", request.user))
        return proto_of(pb.ListKeysResponse, keys=found, github_name=owner.github_name)

    async def RemoveKey(self, request: pb.RemoveKeyRequest, context: Context) -> pb.RemoveKeyResponse:
        """Removes a key."""
        caller = await self._caller(request.caller_token_id)
        await self._keys.remove(caller, reference("key", request.key))
        return pb.RemoveKeyResponse()

    async def GetNotices(self, request: pb.GetNoticesRequest, context: Context) -> pb.GetNoticesResponse:
        """Gets when a user is mailed."""
        caller = await self._caller(request.caller_token_id)
        user = await self._notices.get(caller, reference("user", request.user))
        return pb.GetNoticesResponse(notices=wire.notices_to_proto(user, available=self._notices.available))

    async def SetNotices(self, request: pb.SetNoticesRequest, context: Context) -> pb.SetNoticesResponse:
        """Sets when a user is mailed."""
        caller = await self._caller(request.caller_token_id)
        notify = member_from_proto("notify", request.notify, pb.Notify, Notify)
        user = await self._notices.set(caller, reference("user", request.user), notify)
        return pb.SetNoticesResponse(notices=wire.notices_to_proto(user, available=self._notices.available))

    async def GetProfile(self, request: pb.GetProfileRequest, context: Context) -> pb.GetProfileResponse:
        """Finds the user of a profile."""
        caller = await self._caller(request.caller_token_id, Scope.READ)
        name = reference("name", request.name)
        user = caller.user if name in {"", caller.user.name} else await self._users.find_by_name(name)
        if user is None or (user.user_id != caller.user.user_id and user.profile is ProfileVisibility.OFF):
            raise UserNotFoundError(name)
        return pb.GetProfileResponse(profile=wire.profile_to_proto(user))

    async def SetProfile(self, request: pb.SetProfileRequest, context: Context) -> pb.SetProfileResponse:
        """Sets who sees the caller's profile."""
        caller = await self._caller(request.caller_token_id)
        own = await own_user(self._users, caller, "", Scope.MANAGE, "Profiles")
        visibility = member_from_proto("visibility", request.visibility, pb.ProfileVisibility, ProfileVisibility)
        user = await self._users.set_profile(own.user_id, visibility)
        return pb.SetProfileResponse(profile=wire.profile_to_proto(user))

    async def ResolveKeys(self, request: pb.ResolveKeysRequest, context: Context) -> pb.ResolveKeysResponse:
        """Finds a person's keys in all places."""
        caller = await self._caller(request.caller_token_id, Scope.SUBMIT)
        return wire.resolved_to_proto(await self._resolver.resolve(caller.user, reference("person", request.person)))

    async def BeginGithubClaim(
        self, request: pb.BeginGithubClaimRequest, context: Context
    ) -> pb.BeginGithubClaimResponse:
        """Gives a text to sign."""
        caller = await self._caller(request.caller_token_id)
        made = await self._keys.begin_claim(caller, reference("github_name", request.github_name))
        return proto_of(pb.BeginGithubClaimResponse, made, challenge=made.text)

    async def FinishGithubClaim(
        self, request: pb.FinishGithubClaimRequest, context: Context
    ) -> pb.FinishGithubClaimResponse:
        """Takes a signature."""
        caller = await self._caller(request.caller_token_id)
        name = reference("github_name", request.github_name)
        user = await self._keys.finish_claim(caller, name, request.challenge, request.signature)
        return proto_of(pb.FinishGithubClaimResponse, user=user)

    async def _caller(self, token_id: str, scope: Scope | None = None) -> Caller:
        caller = await self._tokens.caller(reference("caller_token_id", token_id))
        if scope is not None:
            caller.require(scope)
        return caller

    async def _team(self, caller: Caller, team: str) -> Team:
        found = await self._teams.get(reference("team", team))
        if not caller.sees_account(found.account_id):
            raise TeamNotFoundError(team)
        return found

    async def _first_grant(self, account_id: str, grant_micros: int) -> None:
        if grant_micros:
            await self._ledger.grant(account_id, grant_micros, account.first_grant_key(account_id), "First grant")
