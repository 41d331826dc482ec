from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wavepool_client.errors import InputError, NotFoundError
from wavepool_client.http.connection import resolve
from wavepool_client.profiles import (
    SETTINGS,
    Profile,
    Profiles,
    github_user,
    load_profiles,
    profiles_file,
    remove_profile,
    save_profile,
    save_setting,
    setting,
    use_profile,
)

WORK, HOME = "https://work.example", "http://127.0.0.1:9000"


def test_a_profile_is_stored_in_a_file_that_only_its_user_can_read() -> None:
    save_profile("work", url=f"{WORK}/", token="wpt_secret")  # noqa: S106 - opens nothing
    assert stat.S_IMODE(profiles_file().stat().st_mode) == 0o600
    assert load_profiles() == Profiles("", {"work": Profile(WORK, "wpt_secret")})
    profiles_file().chmod(0o644)
    save_profile("work", token="wpt_another")  # noqa: S106 - opens nothing
    assert stat.S_IMODE(profiles_file().stat().st_mode) == 0o600
    assert load_profiles().by_name["work"] == Profile(WORK, "wpt_another")
    assert "wpt_another" not in repr(load_profiles())


def test_the_current_profile_is_chosen_and_goes_with_it() -> None:
    save_profile("work", url=WORK)
    save_profile("home", url=HOME, use=True)
    assert load_profiles().current == "home"
    use_profile("work")
    remove_profile("work")
    assert (load_profiles().current, list(load_profiles().by_name)) == ("", ["home"])
    for change in (remove_profile, use_profile):
        with pytest.raises(NotFoundError, match="known: home"):
            change("work")


@given(st.from_regex(r"[A-Za-z0-9_-]{1,64}", fullmatch=True), st.text(), st.text())
def test_what_is_stored_is_read_back(name: str, url: str, token: str) -> None:
    if not (url + token).isprintable():
        with pytest.raises(InputError, match="cannot be printed"):
            save_profile(name, url=url, token=token)
        return
    stored = save_profile(name, url=url, token=token)
    assert load_profiles().by_name[name] == stored
    assert (stored.url, stored.token) == (url.rstrip("/"), token)


def test_settings_stay_whatever_becomes_of_the_profiles() -> None:
    save_setting("default_gpu_type", "MI300X")
    save_profile("work", url=WORK, use=True)
    save_profile("home", url=HOME)
    use_profile("home")
    remove_profile("work")
    save_setting("github_user", "ada")
    assert load_profiles() == Profiles(
        "home", {"home": Profile(HOME)}, {"default_gpu_type": "MI300X", "github_user": "ada"}
    )
    save_setting("default_gpu_type", "")
    assert (setting("default_gpu_type"), setting("github_user")) == ("", "ada")


@pytest.mark.parametrize("value", ["a b", "x" * 41, 'a"', "ä", "a\n"])
@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_that_has_not_its_form_is_refused(name: str, value: str) -> None:
    with pytest.raises(InputError, match=f"{name}: is "):
        save_setting(name, value)


@pytest.mark.parametrize("file", [".config/gpu-dev/config.json", ".gpu-dev-config"])
@pytest.mark.parametrize(
    ("content", "name"),
    [
        ('{"github_user": "ada", "region": "us-east-2"}', "ada"),
        ('{"github_user": "-c evil\\n"}', ""),
        ('{"github_user": 3}', ""),
        ("[]", ""),
        ("{", ""),
    ],
)
def test_the_name_on_github_is_found_where_gpu_dev_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, content: str, name: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text(content)
    assert github_user() == (name, tmp_path / file if name else profiles_file())
    save_setting("github_user", "bob")
    assert github_user() == ("bob", profiles_file())


@pytest.mark.parametrize("name", ["", "a b", "x" * 65, "a.b", "ü"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="a profile's name"):
        save_profile(name, url=WORK)


@pytest.mark.parametrize("content", ["current = ", "profiles = 3", "[profiles]\nwork = 1", "[profiles.work]\nurl = 3"])
def test_a_file_that_is_not_ours_is_named_in_the_error(content: str) -> None:
    profiles_file().parent.mkdir(parents=True)
    profiles_file().write_text(content)
    with pytest.raises(InputError, match=r"config\.toml"):
        load_profiles()


def test_options_come_before_the_environment_a_profile_and_the_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("of-the-folder\n")
    (tmp_path / "endpoint").write_text(f"{HOME}\n")
    monkeypatch.setenv("WAVEPOOL_DATA_DIR", str(tmp_path))
    assert known() == (HOME, "of-the-folder")
    save_profile("work", url=WORK, token="of-work", use=True)  # noqa: S106 - opens nothing
    assert known() == (WORK, "of-work")
    save_profile("other", url="https://other.example", token="of-other")  # noqa: S106 - opens nothing
    monkeypatch.setenv("WAVEPOOL_PROFILE", "other")
    assert known() == ("https://other.example", "of-other")
    monkeypatch.setenv("WAVEPOOL_TOKEN", "of-the-environment")
    assert known() == ("https://other.example", "of-the-environment")
    assert known(None, "of-an-option") == ("https://other.example", "of-an-option")


def test_a_profiles_token_is_sent_to_its_own_gateway_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    save_profile("work", url=WORK, token="of-work", use=True)  # noqa: S106 - opens nothing
    assert known("https://elsewhere.example") == ("https://elsewhere.example", "")
    assert known(f"{WORK}/") == (WORK, "of-work")
    monkeypatch.setenv("WAVEPOOL_ENDPOINT", "https://elsewhere.example")
    assert known() == ("https://elsewhere.example", "")


def test_an_unknown_profile_is_an_error_and_not_another_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEPOOL_PROFILE", "wrok")
    with pytest.raises(NotFoundError, match="wavepool config set wrok"):
        resolve()


def known(endpoint: str | None = None, token: str | None = None) -> tuple[str, str]:
    connection = resolve(endpoint, token)
    return connection.endpoint, connection.token
