"""Limits for one address: tokens that do not work, submissions, and which address a request comes from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx
import pytest
from pydantic import ValidationError

from gateway.config import GatewaySettings
from gateway.dependencies import MAX_DOUBTFUL_LOOKUPS, Gateway, authenticated
from gateway.http.address_limit import AddressLimit, AddressLimits
from gateway.http.errors import Problem, ProblemError
from tests.gateway.running_gateway import RunningGateway, serve, settings_for
from tests.gateway.scripted_scheduler import PROBLEM
from tests.gateway.scripted_services import ScriptedServices

pytestmark = pytest.mark.asyncio(loop_scope="module")

ME, SUBMISSIONS = "/api/v1/me", "/api/v1/submissions"
BODY = {"problem": "vector-addition", "code": "// kernel"}
BAD = {"Authorization": "Bearer wp_bad"}
OFFICE, HOME = "203.0.113.7", "198.51.100.9"


def at(address: str, headers: dict[str, str] | None = None) -> dict[str, str]:
    """The headers of a request that came through a proxy."""
    return {**(headers or {}), "X-Forwarded-For": address}


@asynccontextmanager
async def limited(services: ScriptedServices, **changes: Any) -> AsyncGenerator[RunningGateway]:
    """A gateway behind a proxy that it trusts."""
    settings = settings_for(services, **({"trusted_proxies": "127.0.0.1"} | changes))
    async with serve(services, settings) as gateway:
        yield gateway


def says_when(answer: httpx.Response, code_field: str) -> bool:
    return answer.json()[code_field] == "RATE_LIMIT_EXCEEDED" and int(answer.headers["retry-after"]) >= 1


async def test_an_address_that_sends_many_bad_tokens_is_refused_and_others_are_not(services: ScriptedServices) -> None:
    async with limited(services, bad_tokens_per_minute=3) as gateway:
        answers = [await gateway.http.get(ME, headers=at(OFFICE, BAD)) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [401, 401, 401, 429, 429]
        assert says_when(answers[-1], "code")
        assert "3 such tokens in a minute" in answers[-1].json()["detail"]
        assert (await gateway.http.get(ME, headers=at(HOME, BAD))).status_code == 401


async def test_a_valid_token_works_wherever_others_have_sent_bad_ones(services: ScriptedServices) -> None:
    async with limited(services, bad_tokens_per_minute=1) as gateway:
        for _ in range(3):
            await gateway.http.get(ME, headers=at(OFFICE, BAD))
        # No token is remembered here, so this one is new to the gateway.
        assert (await gateway.http.get(ME, headers=at(OFFICE))).status_code == 200
        assert (await gateway.http.post(SUBMISSIONS, headers=at(OFFICE), json=BODY)).status_code == 202


async def test_an_address_reads_public_problems_so_often_without_a_token_and_as_often_as_it_likes_with_one(
    services: ScriptedServices,
) -> None:
    async with limited(services, public_problems=True, public_reads_per_minute=3) as gateway:
        token = gateway.http.headers.pop("Authorization")
        paths = ("/api/v1/problems", f"/api/v1/problems/{PROBLEM.slug}") * 2
        answers = [await gateway.http.get(path, headers=at(OFFICE)) for path in paths]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        assert says_when(answers[-1], "code")
        assert "3 reads without a token in a minute" in answers[-1].json()["detail"]
        assert (await gateway.http.get(paths[0], headers=at(OFFICE, {"Authorization": token}))).status_code == 200
        assert (await gateway.http.get(paths[0], headers=at(HOME))).status_code == 200


async def test_a_request_without_a_token_is_told_so_each_time(services: ScriptedServices) -> None:
    async with limited(services, bad_tokens_per_minute=1) as gateway:
        answers = [await gateway.http.get(ME, headers=at(OFFICE, {"Authorization": ""})) for _ in range(4)]
        assert [answer.status_code for answer in answers] == [401] * 4


async def test_bad_tokens_of_one_address_are_looked_up_a_few_at_a_time(services: ScriptedServices) -> None:
    class Lookups:
        now = most = 0

        async def caller(self, token: str) -> None:
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0)
            self.now -= 1
            raise ProblemError(Problem(401, f"{token} does not work"))

    settings = GatewaySettings(bad_tokens_per_minute=1)
    nothing = cast("Any", None)
    for address, most in (("", 20), (OFFICE, MAX_DOUBTFUL_LOOKUPS)):
        limits, lookups = AddressLimits.of(settings), Lookups()
        limits.bad_tokens.count(OFFICE)
        gateway = Gateway(settings, nothing, nothing, nothing, cast("Any", lookups), limits, nothing, nothing)
        tokens = (authenticated(gateway, f"token {number}", address) for number in range(20))
        refused = await asyncio.gather(*tokens, return_exceptions=True)
        assert all(isinstance(error, ProblemError) for error in refused)
        assert lookups.most == most


@pytest.mark.parametrize(
    ("path", "body", "code_field"),
    [
        (SUBMISSIONS, BODY, "code"),
        ("/api/submissions/checker", {"problemSlug": "vector-addition", "code": "// kernel"}, "status"),
        ("/api/amd/submit", {"problem": "vector-addition", "solution_code": "// kernel"}, "status"),
    ],
)
async def test_submissions_of_an_address_are_limited_whoever_sends_them(
    services: ScriptedServices, path: str, body: dict[str, str], code_field: str
) -> None:
    async with limited(services, submissions_per_minute=1) as gateway:
        assert (await gateway.http.post(SUBMISSIONS, headers=at(OFFICE), json=BODY)).status_code == 202
        refused = await gateway.http.post(path, headers=at(OFFICE, {"Authorization": "Bearer wp_other"}), json=body)
        assert refused.status_code == 429
        assert says_when(refused, code_field)
        assert "GATEWAY_SUBMISSIONS_PER_MINUTE" in refused.text
        assert len(services.refusals.calls["SubmitJob"]) == 1
        third = at(HOME, {"Authorization": "Bearer wp_operator"})
        assert (await gateway.http.post(SUBMISSIONS, headers=third, json=BODY)).status_code == 202
        assert (await gateway.http.get(SUBMISSIONS, headers=at(OFFICE))).status_code == 200


async def test_one_account_in_a_loop_does_not_stop_the_others_at_its_address(services: ScriptedServices) -> None:
    async with limited(services, submissions_per_minute=10) as gateway:
        loop = [await gateway.http.post(SUBMISSIONS, headers=at(OFFICE), json=BODY) for _ in range(12)]
        assert [answer.status_code for answer in loop] == [202] * 2 + [429] * 10
        assert says_when(loop[-1], "code")
        other = at(OFFICE, {"Authorization": "Bearer wp_other"})
        assert (await gateway.http.post(SUBMISSIONS, headers=other, json=BODY)).status_code == 202


async def test_only_a_proxy_that_the_operator_names_says_where_a_request_comes_from(services: ScriptedServices) -> None:
    for proxies, status in (("127.0.0.0/8, ::1", 401), ("", 429), ("10.0.0.0/8", 429)):
        async with limited(services, bad_tokens_per_minute=1, trusted_proxies=proxies) as gateway:
            assert (await gateway.http.get(ME, headers=at(OFFICE, BAD))).status_code == 401
            assert (await gateway.http.get(ME, headers=at(HOME, BAD))).status_code == status


async def test_a_client_cannot_choose_its_address_by_a_header_of_its_own(services: ScriptedServices) -> None:
    async with limited(services, bad_tokens_per_minute=1) as gateway:
        assert (await gateway.http.get(ME, headers=at(f"192.0.2.1, {OFFICE}", BAD))).status_code == 401
        assert (await gateway.http.get(ME, headers=at(f"192.0.2.2, {OFFICE}", BAD))).status_code == 429


async def test_0_is_no_limit() -> None:
    limits = AddressLimits.of(GatewaySettings(bad_tokens_per_minute=0, submissions_per_minute=0))
    for limit in (limits.bad_tokens, limits.submissions, limits.account_submissions):
        for _ in range(1000):
            limit.count(OFFICE)
        assert not limit.is_used_up(OFFICE)


@pytest.mark.parametrize("proxies", ["proxy.example", "10.0.0.1/8", "*"])
async def test_a_trusted_proxy_is_an_address_or_a_network(proxies: str) -> None:
    with pytest.raises(ValidationError, match="trusted_proxies"):
        GatewaySettings.model_validate({"trusted_proxies": proxies})


class TestAddressLimit:
    async def test_tries_come_back_one_by_one(self) -> None:
        now = 0.0
        limit = AddressLimit(2, 10, "Too many.", lambda: now)
        limit.count("10.0.0.1")
        assert not limit.is_used_up("10.0.0.1")
        limit.count("10.0.0.1")
        assert limit.is_used_up("10.0.0.1")
        with pytest.raises(ProblemError) as refused:
            limit.count("10.0.0.1")
        problem = refused.value.problem
        assert (problem.retry_after_seconds, problem.detail) == (10, "Too many. Try again in 10 s.")
        limit.count("10.0.0.2")
        now = 10.0
        limit.count("10.0.0.1")
        with pytest.raises(ProblemError):
            limit.count("10.0.0.1")
        now = 1000.0
        limit.count("10.0.0.1")
        limit.count("10.0.0.1")
        with pytest.raises(ProblemError):
            limit.count("10.0.0.1")

    @pytest.mark.parametrize(
        ("first", "second", "together"),
        [
            ("2001:db8::1", "2001:db8::ffff:1", True),
            ("2001:db8::1", "2001:db8:0:1::1", False),
            ("fe80::1%eth0", "fe80::2%eth0", True),
            ("::ffff:10.0.0.1", "::ffff:10.0.0.2", False),
            ("::ffff:10.0.0.1", "10.0.0.1", True),
            ("10.0.0.1", "10.0.0.2", False),
            ("", "", True),
        ],
    )
    async def test_one_ipv6_network_counts_as_one_address(self, first: str, second: str, together: bool) -> None:
        limit = AddressLimit(1, 10, "Too many.", lambda: 0.0)
        limit.count(first)
        if together:
            with pytest.raises(ProblemError):
                limit.count(second)
        else:
            limit.count(second)
