"""A second person and a team, from their first credit to a refusal, without raw gRPC."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.invocation import wavepool as command
from tests.end_to_end.wavepool_processes import Wavepool, reference, until
from wavepool_client.profiles import load_profiles

WITHIN_SECONDS = 5.0
"""The promise for a revoked token, a disabled user and a lost membership."""


@pytest.fixture
def home(wavepool: Wavepool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shell of a person who knows the gateway, and has the first user's token in a profile."""
    for name in ("WAVEPOOL_ENDPOINT", "WAVEPOOL_TOKEN", "WAVEPOOL_DATA_DIR", "WAVEPOOL_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    token = (wavepool.data_dir / "token").read_text()
    assert command("config", "set", "admin", "--url", wavepool.endpoint, "--token", "-", stdin=token).status == 0
    return tmp_path


def done(profile: str, *words: str, **options: Any) -> Any:
    """The JSON of a command that succeeds."""
    run = command("--profile", profile, *words, "--json", **options)
    assert run.status == 0, run.err
    return json.loads(run.out.splitlines()[-1])


def as_profile(home: Path, wavepool: Wavepool, name: str) -> httpx.Client:
    del home
    token = load_profiles().by_name[name].token
    return httpx.Client(
        base_url=wavepool.endpoint, headers={"Authorization": f"Bearer {token}"}, timeout=60, trust_env=False
    )


@pytest.fixture
def person(home: Path, wavepool: Wavepool, request: pytest.FixtureRequest) -> Iterator[tuple[str, httpx.Client]]:
    """A new user with $5, whose token is in a profile of the same name."""
    name = f"ada-{time.time_ns()}"
    done("admin", "accounts", "create", name, "--grant", "5")
    done("admin", "tokens", "create", "laptop", "--user", name, "--save", name)
    with as_profile(home, wavepool, name) as http:
        yield name, http


def until_in_time(is_over: Callable[[], bool]) -> None:
    """Asks again and again; what is asked later than promised must be answered with yes, however long that takes."""
    begin = time.monotonic()

    def is_over_in_time() -> bool:
        asked = time.monotonic()
        answer = is_over()
        assert answer or asked - begin <= WITHIN_SECONDS, "asked later than promised"
        return answer

    until(is_over_in_time, "the end of what was taken away")


def refused_in_time(http: httpx.Client, path: str = "/api/v1/me") -> None:
    until_in_time(lambda: http.get(path).status_code == 401)


def test_a_user_shows_another_how_a_problem_was_solved_and_takes_that_back(
    wavepool: Wavepool, person: tuple[str, httpx.Client]
) -> None:
    name, http = person
    job_id = wavepool.submit(reference("leaky-relu"), mode="check")
    wavepool.ended(job_id)
    assert http.get(f"/api/v1/submissions/{job_id}").status_code == 404
    assert done("admin", "share", job_id)["visibility"] == "link"
    shown = done(name, "show", job_id)
    assert (shown["own"], shown["code"], shown["status"]) == (False, reference("leaky-relu"), "CHECKED")
    assert command("--profile", name, "watch", job_id).status == 0
    assert not {"cost_usd", "queue", "machine_id"} & shown.keys()
    assert command("--profile", name, "share", job_id, "--public").status != 0
    assert done("admin", "share", job_id, "--private")["visibility"] == "private"
    assert http.get(f"/api/v1/submissions/{job_id}/events").status_code == 404


def test_a_second_user_submits_pays_and_stays_unknown_to_the_first(
    wavepool: Wavepool, person: tuple[str, httpx.Client], home: Path
) -> None:
    name, http = person
    (home / "leaky.hip").write_text(reference("leaky-relu"))
    first = wavepool.submit(reference("leaky-relu"), mode="check")
    own = done(name, "submit", "leaky.hip", "--problem", "leaky-relu", "--mode", "check")
    assert own["verdict"] == "ACCEPTED"
    wavepool.ended(first)
    account = done(name, "accounts", "show", name)
    assert account["granted_usd"] == 5.0
    assert 0 < account["charged_usd"] < 5.0
    assert done("admin", "accounts", "show", name) == account
    # The first user is an administrator, and still reads neither code nor results of another's.
    for path in ("", "/events", "/isa", "/samples", "/report"):
        assert http.get(f"/api/v1/submissions/{first}{path}").status_code == 404
        overseen = wavepool.http.get(f"/api/v1/submissions/{own['id']}{path}")
        assert (overseen.status_code == 404) == bool(path)
        assert path or (overseen.json()["overseen"], overseen.json().get("code")) == (True, None)
    assert http.post(f"/api/v1/submissions/{first}/cancel").status_code == 404
    assert [job["id"] for job in http.get("/api/v1/submissions").json()["submissions"]] == [own["id"]]
    assert http.get("/api/v1/accounts/local").status_code == 404
    assert http.get("/api/v1/users").status_code == 403
    assert http.post("/api/v1/submissions", json=body(priority=1)).status_code == 403


def body(**fields: Any) -> dict[str, Any]:
    return {"problem": "leaky-relu", "code": reference("leaky-relu"), "mode": "check"} | fields


def test_a_user_without_credit_is_refused_before_anything_runs(wavepool: Wavepool, home: Path) -> None:
    name = f"poor-{time.time_ns()}"
    done("admin", "users", "create", name)
    done("admin", "tokens", "create", "laptop", "--user", name, "--save", name)
    with as_profile(home, wavepool, name) as http:
        refused = http.post("/api/v1/submissions", json=body())
        assert (refused.status_code, "Add credit" in refused.text) == (402, True)


def test_members_share_a_teams_credit_and_jobs_until_they_leave(
    wavepool: Wavepool, person: tuple[str, httpx.Client], home: Path
) -> None:
    name, http = person
    team = f"team-{time.time_ns()}"
    account_id = done("admin", "teams", "create", team, "--grant", "2")["account_id"]
    done("admin", "teams", "add", team, name)
    done(name, "tokens", "create", "ci", "--account", team, "--scope", "read", "--scope", "submit", "--save", "ci")
    with as_profile(home, wavepool, "ci") as ci:
        made = ci.post("/api/v1/submissions", json=body())
        assert made.status_code == 202, made.text
        job_id = made.json()["id"]
        until(lambda: ci.get(f"/api/v1/submissions/{job_id}").json()["state"] == "FINISHED", "the end", 90)
        # The member sees it with the own token, too; it was the team that paid.
        assert http.get(f"/api/v1/submissions/{job_id}").status_code == 200
        assert http.post(f"/api/v1/submissions/{job_id}/cancel").status_code == 202
        listed = http.get("/api/v1/submissions", params={"account_id": account_id}).json()["submissions"]
        assert [job["id"] for job in listed] == [job_id]
        assert done(name, "accounts", "show", team)["charged_usd"] > 0
        assert done(name, "accounts", "show", name)["charged_usd"] == 0
        # The team's token shows nothing else of its user.
        assert ci.get(f"/api/v1/accounts/{name}").status_code == 404
        assert "manage" in ci.post("/api/v1/tokens", json={"name": "wider"}).text
        done("admin", "teams", "remove", team, name)
        refused_in_time(ci)
    until_in_time(lambda: http.get(f"/api/v1/submissions/{job_id}").status_code == 404)


def test_a_disabled_user_and_a_revoked_token_are_refused_within_seconds(
    person: tuple[str, httpx.Client], wavepool: Wavepool
) -> None:
    name, http = person
    assert http.get("/api/v1/me").json()["user_name"] == name
    done("admin", "users", "disable", name)
    refused_in_time(http)
    done("admin", "users", "enable", name)
    until(lambda: http.get("/api/v1/me").status_code == 200, "the token to work again", 2 * WITHIN_SECONDS)
    token_id = http.get("/api/v1/me").json()["token_id"]
    assert http.delete(f"/api/v1/tokens/{token_id}").status_code == 204
    refused_in_time(http)


def test_the_last_administrator_stays(wavepool: Wavepool, home: Path) -> None:
    for words in (("disable", "local"), ("change", "local", "--role", "user")):
        run = command("--profile", "admin", "users", *words)
        assert (run.status, "Make another token" in run.err) == (2, True), run.err
    assert wavepool.http.get("/api/v1/me").json()["admin"]
