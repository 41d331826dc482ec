"""Lists of keys from a real HTTP server that answers as GitHub does, and as it should not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from services.billing.errors import KeySourceAwayError, NoKeysError
from services.billing.identity.key_list import MOST_BYTES
from services.billing.keys.github_keys import FRESH, KEPT, GithubKeys
from tests.services.billing.keys.conftest import LONG_SECONDS
from tests.ssh_keys import new_key

if TYPE_CHECKING:
    from services.billing.service.billing_service import Stores
    from tests.local_github import HttpAnswer, LocalGithub
    from tests.services.billing.keys.conftest import Hands

ONE, TWO = new_key(), new_key()
LIST = f"{ONE.plain}\n{TWO.plain}\n"
ECDSA = (
    "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5"
    "N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg="
)


async def test_a_list_is_used_for_a_quarter_of_an_hour_then_its_etag_is_asked_for(
    source: GithubKeys, github: LocalGithub, clock: Hands
) -> None:
    github.keys["alice"] = LIST
    found = await source.keys_of_name("alice")
    assert (found.origin, found.lines, found.notes) == (f"{github.host}/alice", (ONE.plain, TWO.plain), ())
    clock.move(seconds=FRESH.total_seconds() - 1)
    github.keys["alice"] = f"{ONE.plain}\n"
    assert await source.keys_of_name("alice") == found
    github.keys["alice"] = LIST
    clock.move(seconds=1)
    assert await source.keys_of_name("alice") == found
    assert github.asked == [("/alice.keys", 200), ("/alice.keys", 304)]
    clock.move(seconds=FRESH.total_seconds() - 1)
    await source.keys_of_name("alice")
    assert len(github.asked) == 2, "an unchanged list is fresh again"
    github.keys["alice"] = f"{ONE.plain}\n"
    assert (await source.keys_of_name("alice", as_of_now=True)).lines == (ONE.plain,)


async def test_every_type_of_key_is_taken_and_what_is_too_weak_or_has_options_is_left_out(
    source: GithubKeys, github: LocalGithub
) -> None:
    github.keys["alice"] = (
        f"# alice\n\n{ECDSA}\nssh-dss AAAAB3NzaC1kc3M=\nno-pty {TWO.plain}\n{ONE.plain} x\n{ONE.plain}\n"
    )
    found = await source.keys_of_name("alice")
    assert found.lines == (ECDSA, ONE.plain)
    dsa, options = found.notes
    assert f"{github.host}/alice: the key in line 4 is left out: it is a DSA key" in dsa
    assert "line 5 is left out: it has options" in options


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", ".keys is empty: add a key at "),
        ("ssh-dss AAAAB3NzaC1kc3M=\n", ".keys has no key that can be used: add a key"),
    ],
)
async def test_nobody_without_a_key_is_let_in_with_an_older_list(
    source: GithubKeys, github: LocalGithub, clock: Hands, body: str, said: str
) -> None:
    github.keys["alice"] = LIST
    await source.keys_of_name("alice")
    clock.move(minutes=15)
    github.keys["alice"] = body
    for _ in range(2):
        with pytest.raises(NoKeysError) as refused:
            await source.keys_of_name("alice")
        assert f"{github.host}/alice{said}" in str(refused.value)
        assert f"{github.url}/settings/keys, or `wavepool keys add`" in str(refused.value)


async def test_who_is_gone_is_forgotten(source: GithubKeys, github: LocalGithub, clock: Hands) -> None:
    github.keys["alice"] = LIST
    await source.keys_of_name("alice")
    clock.move(minutes=15)
    del github.keys["alice"]
    with pytest.raises(NoKeysError, match="has no user alice"):
        await source.keys_of_name("alice")
    github.answer = (500, {}, b"")
    with pytest.raises(KeySourceAwayError):
        await source.keys_of_name("alice")


AWAY: list[tuple[HttpAnswer, str]] = [
    ((500, {}, b""), "it answers 500"),
    ((302, {"Location": "/elsewhere"}, b""), "it answers 302"),
    ((304, {}, b""), "it answers 304"),
    ((200, {}, b"<html><body>Maintenance</body></html>"), "its answer is not a list of keys"),
    ((200, {}, b"\xff\xfe\x00ssh-ed25519"), "its answer is not text"),
    ((200, {}, b"#" * (MOST_BYTES + 1)), f"its answer has more than {MOST_BYTES} bytes"),
    ((200, {"Content-Encoding": "gzip"}, b"no gzip"), "it cannot be reached (DecodingError)"),
    ((429, {"Retry-After": "120"}, b""), "it has asked us to wait"),
]


@pytest.mark.parametrize(("answer", "reason"), AWAY, ids=[reason for _, reason in AWAY])
async def test_an_answer_that_is_none_says_what_is_wrong(
    source: GithubKeys, github: LocalGithub, answer: HttpAnswer, reason: str
) -> None:
    github.answer = answer
    with pytest.raises(KeySourceAwayError) as refused:
        await source.keys_of_name("alice")
    assert f"The keys of {github.host}/alice cannot be read now: {reason}. " in str(refused.value)
    assert "`wavepool keys add`" in str(refused.value)


@pytest.mark.parametrize("how", ["is_silent", "drips"])
async def test_a_slow_server_is_not_waited_for(stores: Stores, github: LocalGithub, clock: Hands, how: str) -> None:
    source = GithubKeys(github.url, stores.github, clock, 0.2)
    github.keys["alice"] = LIST
    setattr(github, how, True)
    with pytest.raises(KeySourceAwayError, match=r"no answer within 0\.2 s"):
        await source.keys_of_name("alice")


async def test_nobody_listens(stores: Stores, clock: Hands) -> None:
    with pytest.raises(KeySourceAwayError, match=r"it cannot be reached \(ConnectError\)"):
        await GithubKeys("http://127.0.0.1:9", stores.github, clock).keys_of_name("alice")


async def test_a_server_that_asks_us_to_wait_is_left_alone_until_then(
    source: GithubKeys, github: LocalGithub, clock: Hands
) -> None:
    github.answer = (429, {"Retry-After": "120"}, b"")
    for name in ("alice", "bob"):
        with pytest.raises(KeySourceAwayError) as refused:
            await source.keys_of_name(name)
        assert refused.value.retry_after.total_seconds() == 120
    assert len(github.asked) == 1
    github.answer, github.keys["bob"] = None, LIST
    clock.move(seconds=120)
    assert (await source.keys_of_name("bob")).lines


@pytest.mark.parametrize("answer", [answer for answer, _ in AWAY[:2] + AWAY[3:]])
async def test_the_last_list_serves_for_a_week_and_says_how_old_it_is(
    source: GithubKeys, github: LocalGithub, clock: Hands, answer: HttpAnswer
) -> None:
    github.keys["alice"] = LIST
    await source.keys_of_name("alice")
    github.answer = answer
    clock.move(seconds=KEPT.total_seconds() - 1)
    found = await source.keys_of_name("alice")
    assert found.lines == (ONE.plain, TWO.plain)
    assert found.notes == (f"{github.host} does not answer; the keys of alice are those of 2026-11-26 12:00 UTC",)
    with pytest.raises(KeySourceAwayError):
        await source.keys_of_name("alice", as_of_now=True)
    clock.move(seconds=1)
    with pytest.raises(KeySourceAwayError):
        await source.keys_of_name("alice")


async def test_lists_outlive_the_process(source: GithubKeys, github: LocalGithub, stores: Stores, clock: Hands) -> None:
    github.keys["alice"] = LIST
    await source.keys_of_name("alice")
    clock.move(hours=1)
    await source.keys_of_name("alice")
    another = GithubKeys(github.url, stores.github, clock, LONG_SECONDS)
    assert (await another.keys_of_name("alice")).lines == (ONE.plain, TWO.plain)
    assert [status for _, status in github.asked] == [200, 304]
