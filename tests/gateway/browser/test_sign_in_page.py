"""Sign-in on the page, in Chromium, with real billing and a real identity provider."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import expect

from servicekit.clock import SystemClock
from servicekit.db import database
from services.billing.config import BillingSettings
from services.billing.server import build_alerting, build_server, build_stores
from tests.gateway.browser.browser_page import PROBLEM_PAGE, BrowserPage
from tests.gateway.running_gateway import RunningGateway, serve, settings_for
from tests.gateway.scripted_services import ScriptedServices
from tests.identity_provider.running_provider import CLIENT, RunningProvider
from tests.service_token import SERVICE_TOKEN

pytestmark = [pytest.mark.browser, pytest.mark.oidc, pytest.mark.asyncio(loop_scope="module")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def billing_target(
    identity_provider: RunningProvider, tmp_path_factory: pytest.TempPathFactory
) -> AsyncGenerator[str]:
    folder = tmp_path_factory.mktemp("billing")
    settings = BillingSettings(
        port=0,
        data_dir=folder,
        database_url=f"sqlite+aiosqlite:///{folder / 'billing.db'}",
        service_token_file=SERVICE_TOKEN.file,
        oidc_issuer=identity_provider.issuer,
        oidc_client_id=CLIENT,
    )
    db = database.Database(settings.resolved_database_url("billing"))
    await database.migrate(db, "services.billing:migrations")
    stores = build_stores(db, settings)
    await stores.prices.take_settings(settings.price_tariffs())
    server = build_server(settings, stores, build_alerting(db, settings, SystemClock()))
    await server.start()
    yield f"127.0.0.1:{server.port}"
    await server.stop()
    await db.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(scripted: ScriptedServices, billing_target: str) -> AsyncGenerator[RunningGateway]:
    async with serve(scripted, settings_for(scripted, billing_target=billing_target)) as gateway:
        yield gateway


async def leave_for_the_provider(web: BrowserPage, issuer: str, path: str = "/") -> None:
    await web.page.goto(web.gateway.url + path)
    if path == "/":
        await web.page.click("#welcome-sign-in")
    await web.page.click("#sign-in-button")
    await web.page.wait_for_url(f"{issuer}/interaction/*")


async def begin(web: BrowserPage, issuer: str) -> dict[str, str]:
    """Begins a sign-in; gives what the provider is asked for."""
    async with web.page.expect_request(f"{issuer}/auth?*") as asked:
        await leave_for_the_provider(web, issuer)
    return {name: values[0] for name, values in parse_qs(urlsplit((await asked.value).url).query).items()}


async def log_in(web: BrowserPage, login: str) -> None:
    """Goes through the provider's two pages, as far as the last button."""
    await web.page.fill("input[name=login]", login)
    await web.page.fill("input[name=password]", "any will do")
    await web.page.click("button[type=submit]")
    await web.page.wait_for_selector("input[name=prompt][value=consent]", state="attached")


async def sign_in(web: BrowserPage, issuer: str) -> str:
    """Signs in as ada; gives the API token."""
    await leave_for_the_provider(web, issuer, PROBLEM_PAGE)
    await log_in(web, "ada")
    await web.page.click("button[type=submit]")
    await web.is_ready()
    return await web.page.evaluate("localStorage.getItem('wavepool.token')")


async def status_of(web: BrowserPage, token: str) -> int:
    async with httpx.AsyncClient(trust_env=False) as http:
        answer = await http.get(f"{web.gateway.url}/api/v1/me", headers={"Authorization": f"Bearer {token}"})
        return answer.status_code


async def test_a_person_signs_in_and_comes_back_to_the_same_place(
    web: BrowserPage, identity_provider: RunningProvider
) -> None:
    token = await sign_in(web, identity_provider.issuer)
    assert token.startswith("wpt_")
    assert web.page.url == web.gateway.url + PROBLEM_PAGE
    await expect(web.page.locator("#credit")).to_have_text("$0.00 credit")
    await web.page.reload()
    await web.is_ready()


async def test_the_provider_is_asked_with_a_challenge_and_without_a_secret(
    web: BrowserPage, identity_provider: RunningProvider
) -> None:
    query = await begin(web, identity_provider.issuer)
    made_up = {name: query.pop(name) for name in ("state", "nonce", "code_challenge")}
    assert query == {
        "response_type": "code",
        "client_id": CLIENT,
        "redirect_uri": f"{web.gateway.url}/",
        "scope": "openid profile email",
        "code_challenge_method": "S256",
    }
    assert {len(value) for value in made_up.values()} == {43}
    assert len(set(made_up.values())) == 3


async def test_signing_out_ends_the_token(web: BrowserPage, identity_provider: RunningProvider) -> None:
    token = await sign_in(web, identity_provider.issuer)
    assert await status_of(web, token) == 200
    await web.page.click("#token-button")
    await expect(web.page.locator("#token-forget")).to_have_text("Sign out")
    await expect(web.page.locator("#token-input")).to_have_value("")
    async with web.page.expect_response("**/api/v1/tokens/*"):
        await web.page.click("#token-forget")
    assert await status_of(web, token) == 401
    await web.page.wait_for_selector("h1 >> text=Wavepool")
    assert await web.page.evaluate("localStorage.length") == 0


async def test_signing_out_ends_this_browsers_own_token_and_not_the_one_that_was_typed_in(
    web: BrowserPage, identity_provider: RunningProvider
) -> None:
    bearer = {"Authorization": f"Bearer {await sign_in(web, identity_provider.issuer)}"}
    async with httpx.AsyncClient(base_url=web.gateway.url, headers=bearer, trust_env=False) as http:
        typed = (await http.post("/api/v1/tokens", json={"name": "laptop", "lifetime_seconds": 3600})).json()["token"]
        await web.page.click("#token-button")
        await web.page.click("text=With another API token")
        await web.page.fill("#token-input", typed)
        await web.page.keyboard.press("Enter")
        await expect(web.page.locator("#token-dialog")).to_be_hidden()
        own = await web.page.evaluate("localStorage.getItem('wavepool.token')")
        listed = (await http.get("/api/v1/tokens")).json()["tokens"]
    ends = {one["name"]: one["expire_time"] for one in listed}
    # It lasts no longer than the one that made it.
    assert ends["Chrome on Linux"] == ends["laptop"]
    assert own not in {typed, bearer["Authorization"].removeprefix("Bearer ")}
    await web.page.click("#token-button")
    async with web.page.expect_response("**/api/v1/tokens/*"):
        await web.page.click("#token-forget")
    assert [await status_of(web, token) for token in (own, typed)] == [401, 200]


async def test_a_sign_out_that_does_not_reach_the_gateway_can_be_tried_again(
    web: BrowserPage, identity_provider: RunningProvider
) -> None:
    token = await sign_in(web, identity_provider.issuer)
    await web.page.route("**/api/v1/tokens/*", lambda route: route.abort())
    await web.page.click("#token-button")
    await web.page.click("#token-forget")
    await expect(web.page.locator("#token-error")).to_contain_text("The token was not revoked.")
    assert await status_of(web, token) == 200
    await web.page.unroute("**/api/v1/tokens/*")
    async with web.page.expect_response("**/api/v1/tokens/*"):
        await web.page.click("#token-forget")
    assert await status_of(web, token) == 401
    await web.page.wait_for_selector("h1 >> text=Wavepool")
    assert await web.page.evaluate("localStorage.length") == 0
    web.complaints.clear()  # the browser's own lines for the request that failed


async def test_a_sign_in_that_has_ended_asks_for_another(web: BrowserPage, identity_provider: RunningProvider) -> None:
    token = await sign_in(web, identity_provider.issuer)
    bearer = {"Authorization": f"Bearer {token}"}
    async with httpx.AsyncClient(base_url=web.gateway.url, headers=bearer, trust_env=False) as http:
        token_id = (await http.get("/api/v1/me")).json()["token_id"]
        assert (await http.delete(f"/api/v1/tokens/{token_id}")).status_code == 204
    await web.page.reload()
    await expect(web.page.locator("#token-error")).to_have_text("Your sign-in has ended; sign in again.")
    await expect(web.page.locator("#sign-in-button")).to_be_visible()
    web.complaints.clear()  # the browser's own lines for the 401s


async def test_a_person_who_cancels_at_the_provider_is_told_so(
    web: BrowserPage, identity_provider: RunningProvider
) -> None:
    await leave_for_the_provider(web, identity_provider.issuer)
    await log_in(web, "ada")
    await web.page.click("a[href$=abort]")
    await expect(web.page.locator("#token-error")).to_contain_text("The identity provider did not sign you in")
    assert web.page.url == f"{web.gateway.url}/"


@pytest.mark.parametrize("query", ["code=x&state=y", "error=access_denied&state=y"])
async def test_an_answer_that_nobody_asked_for_is_refused(web: BrowserPage, query: str) -> None:
    sent: list[str] = []
    web.page.on("request", lambda request: sent.append(request.method))
    await web.page.goto(f"{web.gateway.url}/?{query}")
    await expect(web.page.locator("#token-error")).to_contain_text("not to a sign-in of this page")
    assert web.page.url == f"{web.gateway.url}/"
    assert "POST" not in sent


@pytest.mark.parametrize("forged", ["state=another", "iss=https://evil.example.org"])
async def test_an_answer_to_another_sign_in_is_refused(
    web: BrowserPage, identity_provider: RunningProvider, forged: str
) -> None:
    begun = await begin(web, identity_provider.issuer)
    answer = {"code": "x", "state": begun["state"], "iss": identity_provider.issuer, **dict([forged.split("=")])}
    await web.page.goto(f"{web.gateway.url}/?{httpx.QueryParams(answer)}")
    await expect(web.page.locator("#token-error")).to_contain_text("not to a sign-in of this page")


async def test_a_code_that_the_provider_does_not_take_is_refused(
    web: BrowserPage, identity_provider: RunningProvider
) -> None:
    begun = await begin(web, identity_provider.issuer)
    answer = {"code": "x", "state": begun["state"], "iss": identity_provider.issuer}
    await web.page.goto(f"{web.gateway.url}/?{httpx.QueryParams(answer)}")
    await expect(web.page.locator("#token-error")).to_contain_text("the identity provider refuses it")
    web.complaints.clear()  # the browser's own line for the 422


async def test_the_dialog_is_accessible(web: BrowserPage, identity_provider: RunningProvider) -> None:
    await web.page.goto(web.gateway.url)
    await web.page.click("#welcome-sign-in")
    await expect(web.page.locator("#sign-in-hint")).to_have_text(f"at {urlsplit(identity_provider.issuer).netloc}")
    assert await web.accessibility() == []
    # A token is the second way.
    await expect(web.page.locator("#token-input")).to_be_hidden()
    await web.page.click("text=With an API token")
    await expect(web.page.locator("#token-input")).to_be_visible()
    assert await web.accessibility() == []
    await web.page.focus("#sign-in-button")
    await web.page.keyboard.press("Enter")
    await web.page.wait_for_url(f"{identity_provider.issuer}/interaction/*")
