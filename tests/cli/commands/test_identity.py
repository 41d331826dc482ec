"""`wavepool accounts`, `users`, `teams`, `tokens` and `config`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.conftest import Answer
from tests.cli.invocation import wavepool
from wavepool_client.commands import completion
from wavepool_client.profiles import Profile, load_profiles, profiles_file, save_profile

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import ScriptedGateway
    from tests.cli.invocation import Run

SECRET = "wpt_0123456789abcdef"  # noqa: S105 - opens nothing
ACCOUNT = {"id": "acct_1", "name": "ada", "owner": "user", "owner_name": "ada", "create_time": "2026-01-02T03:04:05Z"}
CREDIT = {"granted_usd": 5.0, "charged_usd": 1.5, "held_usd": 0.0, "available_usd": 3.5}
USER = {"id": "user_1", "name": "ada", "role": "user", "email": "", "account_id": "acct_1", "disable_time": None}
TEAM = {
    "id": "team_1",
    "name": "compilers",
    "account_id": "acct_2",
    "members": [{"user_name": "ada", "level": "manager", "from_sign_in": True}],
}
TOKEN = {
    "id": "tok_1",
    "name": "ci",
    "prefix": "wpt_012345",
    "user_name": "ada",
    "account_name": "compilers",
    "scopes": ["read", "submit"],
    "create_time": "2026-01-02T03:04:05Z",
    "expire_time": None,
    "revoke_time": None,
}
EXPIRED = TOKEN | {"id": "tok_2", "expire_time": "2026-01-03T00:00:00Z", "scopes": []}
REVOKED = TOKEN | {"id": "tok_3", "revoke_time": "2026-01-04T00:00:00Z"}


def at(gateway: ScriptedGateway, *words: str, stdin: str = "") -> Run:
    return wavepool(*words, stdin=stdin, environment={"WAVEPOOL_ENDPOINT": gateway.endpoint, "WAVEPOOL_TOKEN": "t"})


def sent(gateway: ScriptedGateway, method: str, path: str) -> Any:
    return gateway.asked(method, path)[-1].body


def test_accounts_are_listed_shown_and_opened(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/accounts", Answer({"accounts": [ACCOUNT]}))
    gateway.on("GET", "/api/v1/accounts/ada", Answer(ACCOUNT | CREDIT))
    gateway.on("POST", "/api/v1/accounts", Answer(ACCOUNT | CREDIT, 201))
    listed = at(gateway, "accounts")
    assert all(word in listed.out for word in ("ada", "acct_1", "user ada", "2026-01-02")), listed.out
    assert at(gateway, "accounts", "list", "--json").json == [ACCOUNT]
    shown = at(gateway, "accounts", "show", "ada")
    assert all(word in shown.out for word in ("$5.000000", "$3.500000")), shown.out
    made = at(gateway, "accounts", "create", "ada", "--grant", "5")
    assert sent(gateway, "POST", "/api/v1/accounts") == {"name": "ada", "grant_usd": 5.0}
    assert (made.status, "wavepool tokens create laptop --user ada" in made.err) == (0, True)


def test_users_are_added_changed_disabled_and_enabled(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/users", Answer({"users": [USER, USER | {"name": "bob", "disable_time": "2026-01-02"}]}))
    gateway.on("GET", "/api/v1/users/ada", Answer(USER)).on("POST", "/api/v1/users", Answer(USER, 201))
    gateway.on("PATCH", "/api/v1/users/ada", Answer(USER))
    listed = at(gateway, "users")
    assert all(word in listed.out for word in ("enabled", "disabled 2026-01-02")), listed.out
    assert at(gateway, "users", "show", "ada", "--json").json == USER
    at(gateway, "users", "create", "ada", "--role", "Operator", "--email", "a@b", "--grant", "2.5")
    assert sent(gateway, "POST", "/api/v1/users") == {
        "name": "ada",
        "role": "operator",
        "email": "a@b",
        "grant_usd": 2.5,
    }
    changes = []
    for words in (
        ("change", "ada", "--role", "admin"),
        ("change", "ada", "--email", ""),
        ("change", "ada", "--github-name", "ada-l"),
        ("disable", "ada"),
        ("enable", "ada"),
    ):
        assert at(gateway, "users", *words).status == 0
        changes.append(sent(gateway, "PATCH", "/api/v1/users/ada"))
    assert changes == [
        {"role": "admin"},
        {"email": ""},
        {"github_name": "ada-l"},
        {"disabled": True},
        {"disabled": False},
    ]
    assert at(gateway, "users", "change", "ada").status == 2


def test_teams_and_their_members(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/teams", Answer({"teams": [TEAM]})).on("POST", "/api/v1/teams", Answer(TEAM, 201))
    gateway.on("GET", "/api/v1/teams/compilers", Answer(TEAM))
    member = "/api/v1/teams/compilers/members/ada"
    gateway.on("PUT", member, Answer(TEAM)).on("DELETE", member, Answer(TEAM))
    assert "compilers" in at(gateway, "teams").out
    shown = at(gateway, "teams", "show", "compilers")
    assert all(word in shown.out for word in ("ada", "manager", "sign-in")), shown.out
    assert "wavepool teams add compilers" in at(gateway, "teams", "create", "compilers", "--grant", "50").err
    assert sent(gateway, "POST", "/api/v1/teams") == {"name": "compilers", "grant_usd": 50.0}
    assert at(gateway, "teams", "add", "compilers", "ada", "--manager", "--json").json == TEAM
    assert sent(gateway, "PUT", member) == {"level": "manager"}
    assert at(gateway, "teams", "remove", "compilers", "ada").status == 0
    assert len(gateway.asked("DELETE", member)) == 1


def test_tokens_that_work_are_listed_and_the_others_counted(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/tokens", Answer({"tokens": [TOKEN, EXPIRED, REVOKED]}))
    listed = at(gateway, "tokens", "list", "--user", "ada")
    assert gateway.requests[-1].path == "/api/v1/tokens?user_id=ada"
    assert all(word in listed.out for word in ("tok_1", "wpt_012345…", "compilers", "read, submit")), listed.out
    assert "tok_2" not in listed.out
    assert "2 more" in listed.err
    everything = at(gateway, "tokens", "list", "--all").out
    assert all(word in everything for word in ("expired 2026-01-03", "revoked 2026-01-04", "all of the role"))
    assert [token["id"] for token in at(gateway, "tokens", "--json").json] == ["tok_1"]


def test_a_new_token_is_all_that_stdout_has(gateway: ScriptedGateway) -> None:
    gateway.on("POST", "/api/v1/tokens", Answer(TOKEN | {"token": SECRET}, 201))
    words = ("ci", "--account", "compilers", "--scope", "read", "--scope", "submit", "--lifetime", "30d")
    made = at(gateway, "tokens", "create", *words)
    assert (made.status, made.out.strip()) == (0, SECRET)
    assert "not shown again" in made.err
    assert sent(gateway, "POST", "/api/v1/tokens") == {
        "name": "ci",
        "user_id": "",
        "account_id": "compilers",
        "scopes": ["read", "submit"],
        "lifetime_seconds": 30 * 86_400,
    }


def test_a_new_token_may_go_into_a_profile_without_being_printed(gateway: ScriptedGateway) -> None:
    gateway.on("POST", "/api/v1/tokens", Answer(TOKEN | {"token": SECRET}, 201))
    made = at(gateway, "tokens", "create", "laptop", "--user", "ada", "--save", "ada", "--json")
    assert SECRET not in made.out + made.err
    assert made.json["id"] == "tok_1"
    assert load_profiles().by_name["ada"] == Profile(gateway.endpoint, SECRET)


@pytest.mark.parametrize("lifetime", ["-1d", "0h", "soon", "5", "1y", "9" * 30 + "d"])
def test_a_lifetime_that_is_none_is_refused_before_anything_is_asked(gateway: ScriptedGateway, lifetime: str) -> None:
    run = at(gateway, "tokens", "create", "ci", f"--lifetime={lifetime}")
    assert (run.status, "12h" in run.err, gateway.requests) == (2, True, [])


def test_tokens_are_revoked_by_id(gateway: ScriptedGateway) -> None:
    for token_id in ("tok_1", "tok_2"):
        gateway.on("DELETE", f"/api/v1/tokens/{token_id}", Answer(b"", 204))
    run = at(gateway, "tokens", "revoke", "tok_1", "tok_2", "--json")
    assert (run.status, run.json) == (0, {"revoked": ["tok_1", "tok_2"]})


def test_a_refusal_says_what_is_missing_and_where_to_look(gateway: ScriptedGateway) -> None:
    problem = {"title": "Forbidden", "detail": "This needs the scope `admin`; your token has: read."}
    gateway.on("POST", "/api/v1/users", Answer(problem, 403))
    run = at(gateway, "users", "create", "eve")
    assert (run.status, "scope `admin`" in run.err, "wavepool config get" in run.err) == (4, True, True)


def test_a_typo_in_a_scope_is_answered_with_the_nearest_name(gateway: ScriptedGateway) -> None:
    wrong = {"field": "scopes", "message": "the nearest is submit"}
    gateway.on("POST", "/api/v1/tokens", Answer({"title": "Unprocessable", "errors": [wrong]}, 422))
    run = at(gateway, "tokens", "create", "ci", "--scope", "sumbit")
    assert (run.status, "the nearest is submit" in run.err) == (2, True)


def test_a_profile_is_set_from_standard_input_and_used(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/v1/accounts", Answer({"accounts": [ACCOUNT]}))
    stored = wavepool("config", "set", "work", "--url", gateway.endpoint, "--token", "-", stdin=f"{SECRET}\n")
    assert (stored.status, SECRET in stored.out + stored.err) == (0, False)
    assert wavepool("--profile", "work", "accounts").status == 0
    assert gateway.requests[-1].headers["Authorization"] == f"Bearer {SECRET}"
    # Named on the command line, it comes before the environment.
    elsewhere = {"WAVEPOOL_ENDPOINT": "http://127.0.0.1:1", "WAVEPOOL_TOKEN": "t"}
    assert wavepool("--profile", "work", "accounts", environment=elsewhere).status == 0
    assert wavepool("accounts", environment={"WAVEPOOL_PROFILE": "work"}).status == 0
    assert wavepool("accounts", environment=elsewhere | {"WAVEPOOL_PROFILE": "work"}).status == 3
    wavepool("config", "use", "work")
    assert wavepool("accounts").status == 0
    assert len(gateway.requests) == 4


def test_config_shows_what_is_in_effect_and_never_a_whole_token(gateway: ScriptedGateway) -> None:
    me = {"user_name": "ada", "role": "user", "scopes": ["read", "submit"], "account_name": "ada"}
    gateway.on("GET", "/api/v1/me", Answer(me))
    save_profile("work", url=gateway.endpoint, token=SECRET, use=True)
    shown = wavepool("config", "get")
    assert all(word in shown.out for word in ("work", gateway.endpoint, "wpt_012345…", "ada", "read, submit")), (
        shown.out
    )
    got = wavepool("config", "get", "--json").json
    assert (got["profile"], got["role"], got["token"]) == ("work", "user", "wpt_012345…")
    listed = wavepool("config", "list", "--json")
    assert listed.json == [{"profile": "work", "url": gateway.endpoint, "token": "wpt_012345…", "current": True}]
    assert SECRET not in shown.out + shown.err + listed.out + wavepool("config", "list").out
    assert wavepool("config", "path").out.strip() == str(profiles_file())


def test_config_shows_a_gateway_that_does_not_answer(gateway: ScriptedGateway) -> None:
    save_profile("away", url="http://127.0.0.1:1", token=SECRET, use=True)
    shown = wavepool("config", "get")
    assert (shown.status, "cannot reach" in shown.out) == (0, True)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("config", "set", "work"), "--url or --token"),
        (("config", "set", "work", "--url", "work.example"), "is not a URL"),
        (("config", "set", "colour", "blue"), "there is no setting 'colour'; choose profile, endpoint, "),
        (("config", "set", "profile", "work"), "no profile 'work'"),
        (("config", "set", "endpoint", "work.example"), "is not a URL"),
        (("config", "set", "github_user", "a b"), "github_user: is 'a b'"),
        (("config", "set", "github_user", "ada", "--use"), "cannot be combined"),
        (("config", "unset", "colour"), "there is no setting 'colour'"),
        (("config", "set", "a b", "--url", "https://work.example"), "letters"),
        (("config", "set", "work", "--token", "-"), "standard input"),
        (("config", "use", "work"), "no profile 'work'"),
        (("config", "use"), "--none"),
        (("config", "remove", "work"), "no profile 'work'"),
        (("--profile", "work", "jobs"), "no profile 'work'"),
    ],
)
def test_what_config_cannot_do_it_explains(words: tuple[str, ...], named: str) -> None:
    run = wavepool(*words)
    assert (run.status, named in run.err) == (2, True), run.err
    assert not profiles_file().exists()


def test_settings_are_stored_shown_and_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in (
        ("default_gpu_type", "MI300X"),
        ("github_user", "ada"),
        ("endpoint", "https://work.example/"),
        ("profile", "work-example"),
    ):
        assert wavepool("config", "set", name, value).status == 0
    assert wavepool("config", "show", "--json").json == {
        "profile": "work-example",
        "endpoint": "https://work.example",
        "default_gpu_type": "MI300X",
        "github_user": "ada",
    }
    lines = wavepool("config", "show").out.splitlines()
    assert ["github_user", "ada", str(profiles_file())] in [line.split() for line in lines]
    for name in ("default_gpu_type", "github_user", "endpoint"):
        assert wavepool("config", "unset", name).status == 0
    assert set(wavepool("config", "show", "--json").json.values()) == {None}
    assert load_profiles().by_name["work-example"].url == "https://work.example"


def test_another_endpoint_is_another_profile_and_leaves_the_token_of_the_first() -> None:
    save_profile("work", url="https://work.example", token=SECRET, use=True)
    wavepool("config", "set", "endpoint", "https://other.example")
    assert load_profiles().current == "other-example"
    wavepool("config", "set", "endpoint", "https://work.example")
    assert (load_profiles().current, load_profiles().by_name["work"].token) == ("work", SECRET)


def test_profiles_are_removed_and_none_may_be_current() -> None:
    save_profile("work", url="https://work.example", use=True)
    assert wavepool("config", "use", "--none").status == 0
    assert load_profiles().current == ""
    assert wavepool("config", "remove", "work").status == 0
    assert load_profiles().by_name == {}


def test_names_are_completed_by_the_gateway(gateway: ScriptedGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEPOOL_ENDPOINT", gateway.endpoint)
    gateway.on("GET", "/api/v1/accounts", Answer({"accounts": [ACCOUNT]}))
    gateway.on("GET", "/api/v1/users", Answer({"users": [USER]})).on("GET", "/api/v1/teams", Answer({"teams": [TEAM]}))
    gateway.on("GET", "/api/v1/tokens", Answer({"tokens": [TOKEN, REVOKED]}))
    save_profile("work", url="https://work.example")
    assert completion.complete_account("a") == [("ada", "user ada")]
    assert completion.complete_user("b") == []
    assert completion.complete_team("") == [("compilers", "team_1")]
    assert completion.complete_token("tok") == [("tok_1", "ci")]
    assert completion.complete_scope("o") == ["operate"]
    assert completion.complete_profile("w") == [("work", "https://work.example")]
    monkeypatch.setenv("WAVEPOOL_ENDPOINT", "http://127.0.0.1:1")
    assert completion.complete_user("") == completion.complete_token("") == []
