"""Whose a name on GitHub is, shown with signatures as OpenSSH makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncssh
import pytest

from services.billing.errors import GithubNameTakenError, InvalidFieldError, NoKeysError
from services.billing.keys.github_claims import LIFETIME, GithubClaims
from tests.ssh_keys import new_key

if TYPE_CHECKING:
    from services.billing.identity.user import User
    from services.billing.keys.github_keys import GithubKeys
    from services.billing.service.billing_service import Stores
    from tests.local_github import LocalGithub
    from tests.services.billing.keys.conftest import Hands
    from tests.ssh_keys import Pair

ALICE, OTHER = new_key(), new_key()


@pytest.fixture
def claims(source: GithubKeys, stores: Stores, clock: Hands, github: LocalGithub) -> GithubClaims:
    github.keys |= {"alice": f"{OTHER.plain}\n{ALICE.plain}\n", "bob": ALICE.plain}
    return GithubClaims(source, stores.users, stores.github, clock)


@pytest.fixture
async def ada(stores: Stores) -> User:
    return await stores.users.create("ada")


@pytest.fixture
async def eve(stores: Stores) -> User:
    return await stores.users.create("eve")


def signature(text: str, pair: Pair, namespace: str = "wavepool") -> str:
    return asyncssh.create_sshsig(pair.key, text.encode(), namespace=namespace).decode()


async def test_who_signs_with_a_key_of_the_name_has_the_name(
    claims: GithubClaims, stores: Stores, ada: User, github: LocalGithub
) -> None:
    challenge = await claims.begin(ada, "alice")
    assert challenge.fingerprints == (OTHER.fingerprint, ALICE.fingerprint)
    assert f"{github.host}/alice is ada" in challenge.text
    user = await claims.finish(ada, "alice", challenge.text, signature(challenge.text, ALICE))
    assert (user.github_name, (await stores.users.get("ada")).github_name) == ("alice", "alice")


async def test_a_text_serves_once_for_one_user_one_name_and_ten_minutes(
    claims: GithubClaims, ada: User, eve: User, clock: Hands
) -> None:
    text = (await claims.begin(ada, "alice")).text
    signed = signature(text, ALICE)
    for user, name in ((eve, "alice"), (ada, "bob")):
        with pytest.raises(InvalidFieldError, match="challenge: is unknown, used or too old"):
            await claims.finish(user, name, text, signed)
    await claims.finish(ada, "alice", text, signed)
    with pytest.raises(InvalidFieldError, match="challenge: is unknown, used or too old"):
        await claims.finish(ada, "alice", text, signed)
    late = (await claims.begin(ada, "alice")).text
    clock.move(seconds=LIFETIME.total_seconds())
    with pytest.raises(InvalidFieldError, match="challenge: is unknown, used or too old"):
        await claims.finish(ada, "alice", late, signature(late, ALICE))


@pytest.mark.parametrize("fault", ["another key", "another text", "another namespace", "no signature", "garbage"])
async def test_a_signature_that_is_not_right_gives_no_name(
    claims: GithubClaims, stores: Stores, ada: User, fault: str
) -> None:
    text = (await claims.begin(ada, "alice")).text
    armour = "-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n"
    signed = {
        "another key": lambda: signature(text, new_key()),
        "another text": lambda: signature(f"{text} ", ALICE),
        "another namespace": lambda: signature(text, ALICE, "git"),
        "no signature": lambda: "",
        "garbage": lambda: armour.format("AAAA"),
    }[fault]()
    with pytest.raises(InvalidFieldError, match=r"^signature: is "):
        await claims.finish(ada, "alice", text, signed)
    assert (await stores.users.get("ada")).github_name == ""
    with pytest.raises(InvalidFieldError, match="challenge: is unknown, used or too old"):
        await claims.finish(ada, "alice", text, signature(text, ALICE))


async def test_a_key_that_was_removed_on_github_signs_no_more(
    claims: GithubClaims, ada: User, github: LocalGithub
) -> None:
    text = (await claims.begin(ada, "alice")).text
    github.keys["alice"] = OTHER.plain
    with pytest.raises(InvalidFieldError, match="signature: is not right"):
        await claims.finish(ada, "alice", text, signature(text, ALICE))


async def test_a_name_belongs_to_one_user(claims: GithubClaims, stores: Stores, ada: User, eve: User) -> None:
    text = (await claims.begin(eve, "alice")).text
    await stores.users.update(ada.user_id, github_name="alice")
    with pytest.raises(GithubNameTakenError):
        await claims.begin(eve, "alice")
    with pytest.raises(GithubNameTakenError):
        await claims.finish(eve, "alice", text, signature(text, ALICE))
    with pytest.raises(GithubNameTakenError):
        await stores.users.update("eve", github_name="alice")
    await stores.users.update(ada.user_id, github_name="")
    assert (await stores.users.update("eve", github_name="alice")).github_name == "alice"


async def test_a_name_that_nobody_has_cannot_be_claimed(claims: GithubClaims, ada: User) -> None:
    with pytest.raises(NoKeysError, match="has no user nobody"):
        await claims.begin(ada, "nobody")
