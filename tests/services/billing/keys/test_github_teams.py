"""Who belongs, from a real HTTP server that answers as GitHub's API does, and as it should not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import grpc
import pytest
from pydantic import ValidationError
from wavepool.billing.v1 import identity_pb2 as pb

from servicekit.rpc.errors import rpc_failure
from services.billing.config import BillingSettings
from services.billing.errors import NotInTeamError
from services.billing.keys.github_teams import BELONGS_FOR, REFUSED_FOR, UNKNOWN_FOR, GithubTeams, rules_of
from tests.services.billing.keys.conftest import LONG_SECONDS
from tests.ssh_keys import new_key

if TYPE_CHECKING:
    from pathlib import Path

    from wavepool.billing.v1.identity_pb2_grpc import IdentityServiceAsyncStub

    from services.billing.service.billing_service import Stores
    from tests.local_github import HttpAnswer, LocalGithub
    from tests.services.billing.keys.conftest import Hands

MEMBERSHIP = "/api/v3/orgs/lab/teams/gpu/memberships/alice"
MEMBER = "/api/v3/orgs/lab/members/alice"
PERMISSION = "/api/v3/repos/lab/kernels/collaborators/alice/permission"
ACTIVE: tuple[int, Any] = (200, {"state": "active", "role": "member"})
WRITER: tuple[int, Any] = (200, {"permission": "write", "role_name": "maintain"})
KEY, OWN = new_key(), new_key()


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    file = tmp_path / "github-token"
    file.write_text("ghp_secret\n")
    return file


def teams(
    github: LocalGithub, token_file: Path, clock: Hands, team: str = "lab/gpu", repository: str = ""
) -> GithubTeams:
    return GithubTeams(f"{github.url}/api/v3/", rules_of(team, repository), token_file, clock, LONG_SECONDS)


@pytest.mark.parametrize(
    ("team", "repository", "path", "answer"),
    [
        ("lab/gpu", "", MEMBERSHIP, ACTIVE),
        ("lab", "", MEMBER, (204, None)),
        ("", "lab/kernels", PERMISSION, WRITER),
        ("", "lab/kernels", PERMISSION, (200, {"permission": "admin"})),
    ],
)
async def test_who_belongs_passes(
    github: LocalGithub, token_file: Path, clock: Hands, team: str, repository: str, path: str, answer: tuple[int, Any]
) -> None:
    github.api[path] = answer
    await teams(github, token_file, clock, team, repository).check("alice")
    assert (github.asked, github.authorizations) == ([(path, answer[0])], ["Bearer ghp_secret"])


OUTSIDERS: list[tuple[str, str, str, tuple[int, dict[str, str]], str]] = [
    ("lab/gpu", "", MEMBERSHIP, (404, {}), "be a member of lab/gpu"),
    ("lab/gpu", "", MEMBERSHIP, (200, {"state": "pending"}), "be a member of lab/gpu"),
    ("lab/gpu", "", MEMBERSHIP, (200, {}), "be a member of lab/gpu"),
    ("lab", "", MEMBER, (404, {}), "be a member of lab"),
    ("", "lab/kernels", PERMISSION, (200, {"permission": "read"}), "have write access to lab/kernels"),
    ("", "lab/kernels", PERMISSION, (200, {"permission": "none"}), "have write access to lab/kernels"),
]


@pytest.mark.parametrize(("team", "repository", "path", "answer", "named"), OUTSIDERS)
async def test_who_does_not_belong_is_refused_with_the_name_of_the_team(
    github: LocalGithub,
    token_file: Path,
    clock: Hands,
    team: str,
    repository: str,
    path: str,
    answer: tuple[int, Any],
    named: str,
) -> None:
    github.api[path] = answer
    with pytest.raises(NotInTeamError, match=f"must {named} there, and alice does not"):
        await teams(github, token_file, clock, team, repository).check("alice")


async def test_the_refusal_of_somebody_of_another_team_is_this_sentence(
    github: LocalGithub, token_file: Path, clock: Hands
) -> None:
    github.api[MEMBERSHIP] = (404, {})
    with pytest.raises(NotInTeamError) as refused:
        await teams(github, token_file, clock).check("alice")
    assert str(refused.value) == (
        "To use keys from GitHub here, a user must be a member of lab/gpu there, and alice does not. Ask an "
        "administrator of lab/gpu."
    )


async def test_all_that_is_demanded_must_be_so(github: LocalGithub, token_file: Path, clock: Hands) -> None:
    github.api[MEMBERSHIP] = ACTIVE
    with pytest.raises(NotInTeamError, match="have write access to lab/kernels"):
        await teams(github, token_file, clock, "lab/gpu", "lab/kernels").check("alice")
    github.api = {PERMISSION: WRITER}
    with pytest.raises(NotInTeamError, match="be a member of lab/gpu"):
        await teams(github, token_file, clock, "lab/gpu", "lab/kernels").check("alice")


UNKNOWN: list[HttpAnswer] = [
    (500, {}, b""),
    (401, {}, b"{}"),
    (403, {}, b"{}"),
    (302, {"Location": "/orgs/lab/public_members/alice"}, b""),
    (429, {}, b""),
    (200, {}, b"<html>"),
    (200, {}, b'["active"]'),
    (200, {}, b"\xff"),
    (200, {}, b"x" * 300_000),
]


@pytest.mark.parametrize("answer", UNKNOWN)
async def test_nobody_passes_by_an_answer_that_is_none(
    github: LocalGithub, token_file: Path, clock: Hands, answer: HttpAnswer
) -> None:
    github.answer = answer
    with pytest.raises(NotInTeamError, match="Whether alice does cannot be found out now: it") as refused:
        await teams(github, token_file, clock).check("alice")
    assert "be a member of lab/gpu" in str(refused.value)


async def test_nobody_passes_while_github_is_away_even_if_they_did_before(
    github: LocalGithub, token_file: Path, clock: Hands
) -> None:
    github.api[MEMBERSHIP] = ACTIVE
    checked = teams(github, token_file, clock)
    await checked.check("alice")
    github.answer = (500, {}, b"")
    clock.move(seconds=BELONGS_FOR.total_seconds() - 1)
    await checked.check("alice")
    clock.move(seconds=1)
    with pytest.raises(NotInTeamError, match="it answers 500"):
        await checked.check("alice")
    github.answer = None
    clock.move(seconds=UNKNOWN_FOR.total_seconds())
    await checked.check("alice")


async def test_a_slow_api_is_not_waited_for(github: LocalGithub, token_file: Path, clock: Hands) -> None:
    github.is_silent = True
    slow = GithubTeams(f"{github.url}/api/v3", rules_of("lab/gpu", ""), token_file, clock, 0.2)
    with pytest.raises(NotInTeamError, match=r"cannot be found out now: no answer within 0\.2 s"):
        await slow.check("alice")


async def test_an_answer_serves_for_a_while_and_for_one_person(
    github: LocalGithub, token_file: Path, clock: Hands
) -> None:
    checked = teams(github, token_file, clock)
    for _ in range(3):
        with pytest.raises(NotInTeamError):
            await checked.check("alice")
    assert len(github.asked) == 1
    github.api[MEMBERSHIP] = ACTIVE
    with pytest.raises(NotInTeamError, match="and bob does not"):
        await checked.check("bob")
    clock.move(seconds=REFUSED_FOR.total_seconds())
    await checked.check("alice")
    del github.api[MEMBERSHIP]
    clock.move(seconds=BELONGS_FOR.total_seconds())
    with pytest.raises(NotInTeamError):
        await checked.check("alice")


async def test_nobody_passes_without_our_token(github: LocalGithub, tmp_path: Path, clock: Hands) -> None:
    github.api[MEMBERSHIP] = ACTIVE
    with pytest.raises(NotInTeamError, match="our token cannot be read"):
        await teams(github, tmp_path / "nothing", clock).check("alice")
    assert github.asked == []


class TestBilling:
    """The check on a running billing."""

    @pytest.fixture
    def settings(self, tmp_path: Path, database_url: str, github: LocalGithub, token_file: Path) -> BillingSettings:
        return BillingSettings(
            port=0,
            data_dir=tmp_path / "data",
            database_url=database_url,
            github_url=github.url,
            github_token_file=token_file,
            required_team="lab/gpu",
        )

    async def test_keys_from_github_are_for_the_team_and_others_hear_so(
        self, identity: IdentityServiceAsyncStub, stores: Stores, github: LocalGithub
    ) -> None:
        user = await stores.users.create("ada")
        await stores.users.update("ada", github_name="alice")
        await stores.keys.add(user.user_id, OWN.plain, "")
        token, _ = await stores.tokens.create(user.user_id, "t")
        github.keys |= {"alice": KEY.plain, "bob": new_key().plain}
        for person, name in (("", "alice"), ("github:bob", "bob")):
            with pytest.raises(grpc.aio.AioRpcError) as error:
                await identity.ResolveKeys(pb.ResolveKeysRequest(caller_token_id=token.token_id, person=person))
            refused = rpc_failure(error.value)
            assert refused.code is grpc.StatusCode.PERMISSION_DENIED
            assert f"must be a member of lab/gpu there, and {name} does not" in refused.message
        assert not [path for path, _ in github.asked if path.endswith(".keys")], "no key is read before the check"
        github.api["/api/v3/orgs/lab/teams/gpu/memberships/carl"] = ACTIVE
        github.keys["carl"] = KEY.plain
        request = pb.ResolveKeysRequest(caller_token_id=token.token_id, person="github:carl")
        assert (await identity.ResolveKeys(request)).user == "carl@github"


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"required_team": "lab/gpu"}, "required_team: needs BILLING_GITHUB_URL"),
        ({"required_repository": "lab/x", "github_url": "https://github.com"}, "needs BILLING_GITHUB_TOKEN_FILE"),
        ({"required_team": "lab/gpu/x"}, "must be as in GitHub's addresses, such as lab, or lab/gpu-users"),
        ({"required_repository": "lab"}, "such as lab/kernels"),
        ({"required_team": "../x"}, "such as lab"),
        ({"github_url": "http://github.com"}, "must be an https URL"),
        ({"github_api_url": "ftp://github.com"}, "must be an https URL"),
    ],
)
def test_settings_that_would_check_nothing_are_refused(settings: dict[str, Any], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        BillingSettings(**settings)


@pytest.mark.parametrize(
    ("settings", "url"),
    [
        ({"github_url": "https://github.com/"}, "https://api.github.com"),
        ({"github_url": "https://git.lab"}, "https://git.lab/api/v3"),
        ({"github_url": "https://git.lab", "github_api_url": "https://api.lab"}, "https://api.lab"),
    ],
)
def test_the_api_is_where_github_has_it(settings: dict[str, Any], url: str) -> None:
    assert BillingSettings(**settings).api_url() == url
