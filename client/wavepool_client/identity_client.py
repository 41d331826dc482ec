"""The Python client of users, teams, accounts and tokens.

>>> from wavepool_client.identity_client import IdentityClient
>>> with IdentityClient("http://127.0.0.1:8080", token) as identity:
...     identity.create_user({"name": "ada", "grant_usd": 5.0})
...     secret = identity.create_token({"name": "laptop", "user_id": "ada"})["token"]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from wavepool_client.http.gateway_client import GatewayClient

if TYPE_CHECKING:
    from collections.abc import Mapping

API = "/api/v1"
KEYS = f"{API}/keys"


class IdentityClient(GatewayClient):
    """A synchronous client of one gateway's users, teams, accounts and tokens. Methods raise WavepoolError.

    Endpoint and token are found in the same way as for `wavepool_client.Client`. Users, teams and accounts are named
    by id or name. Changes of others take an administrator's token.
    """

    def me(self) -> dict[str, Any]:
        """The user of the token, the account that it charges, and what it may do."""
        return self._transport.call("GET", f"{API}/me")

    def accounts(self) -> list[dict[str, Any]]:
        """The accounts that the token may see."""
        return list(self._transport.call("GET", f"{API}/accounts")["accounts"])

    def account(self, account: str) -> dict[str, Any]:
        """One account with its credit."""
        return self._transport.call("GET", f"{API}/accounts/{_quoted(account)}")

    def create_account(self, name: str, grant_usd: float = 0.0) -> dict[str, Any]:
        """Opens an account with a user of the same name."""
        return self._transport.call("POST", f"{API}/accounts", body={"name": name, "grant_usd": grant_usd})

    def users(self) -> list[dict[str, Any]]:
        """All users, for operators and administrators."""
        return list(self._transport.call("GET", f"{API}/users")["users"])

    def user(self, user: str) -> dict[str, Any]:
        """One user."""
        return self._transport.call("GET", f"{API}/users/{_quoted(user)}")

    def create_user(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Adds a user, as in `POST /users`."""
        return self._transport.call("POST", f"{API}/users", body=fields)

    def change_user(self, user: str, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Changes a user, as in `PATCH /users/{user}`."""
        return self._transport.call("PATCH", f"{API}/users/{_quoted(user)}", body=fields)

    def teams(self) -> list[dict[str, Any]]:
        """The teams that the token may see, without members."""
        return list(self._transport.call("GET", f"{API}/teams")["teams"])

    def team(self, team: str) -> dict[str, Any]:
        """One team with its members."""
        return self._transport.call("GET", f"{API}/teams/{_quoted(team)}")

    def create_team(self, name: str, grant_usd: float = 0.0) -> dict[str, Any]:
        """Adds a team with an account of the same name."""
        return self._transport.call("POST", f"{API}/teams", body={"name": name, "grant_usd": grant_usd})

    def add_member(self, team: str, user: str, level: str = "member") -> dict[str, Any]:
        """Adds a member, or changes the level; gives the team."""
        return self._transport.call("PUT", _member(team, user), body={"level": level})

    def remove_member(self, team: str, user: str) -> dict[str, Any]:
        """Removes a member; gives the team."""
        return self._transport.call("DELETE", _member(team, user))

    def tokens(self, user: str = "", account: str = "") -> list[dict[str, Any]]:
        """Your tokens, those of a user, or those that charge an account."""
        query = {name: value for name, value in (("user_id", user), ("account_id", account)) if value}
        return list(self._transport.call("GET", f"{API}/tokens", query=query)["tokens"])

    def create_token(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Makes a token, as in `POST /tokens`; only this answer has the secret, as `token`."""
        return self._transport.call("POST", f"{API}/tokens", body=fields)

    def revoke_token(self, token_id: str) -> None:
        """Revokes a token for good."""
        self._transport.call("DELETE", f"{API}/tokens/{_quoted(token_id)}")

    def keys(self, user: str = "") -> dict[str, Any]:
        """Your public SSH keys, or a user's, and the name on GitHub whose keys serve as well."""
        return self._transport.call("GET", KEYS, query=_of(user))

    def add_key(self, public_key: str, name: str = "", user: str = "") -> dict[str, Any]:
        """Adds a public SSH key, a line of OpenSSH; without a name, its comment is its name."""
        body = {"public_key": public_key} | ({"name": name} if name else {})
        return self._transport.call("POST", KEYS, body=body, query=_of(user))

    def remove_key(self, key: str) -> None:
        """Forgets a public SSH key; its id or its fingerprint."""
        self._transport.call("DELETE", f"{KEYS}/{_quoted(key)}")

    def begin_claim(self, github_name: str) -> dict[str, Any]:
        """A `challenge` to sign with one of the keys of this name on GitHub, and the `fingerprints` of these keys."""
        return self._transport.call("POST", f"{KEYS}/claims", body={"github_name": github_name})

    def finish_claim(self, github_name: str, challenge: str, signature: str) -> dict[str, Any]:
        """Makes the name on GitHub yours."""
        body = {"github_name": github_name, "challenge": challenge, "signature": signature}
        return self._transport.call("PUT", f"{KEYS}/claims", body=body)


def _of(user: str) -> dict[str, str] | None:
    return {"user": user} if user else None


def _quoted(word: str) -> str:
    return quote(word, safe="")


def _member(team: str, user: str) -> str:
    return f"{API}/teams/{_quoted(team)}/members/{_quoted(user)}"
