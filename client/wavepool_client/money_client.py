"""The Python client of money: statements, grants and budgets, and the operator's report.

>>> from wavepool_client.money_client import MoneyClient
>>> with MoneyClient("http://127.0.0.1:8080", token) as money:
...     print(money.statement()["closing_usd"])
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from wavepool_client.errors import NotListeningError, UnreachableError
from wavepool_client.http.gateway_client import GatewayClient
from wavepool_client.http.retries import Retries

if TYPE_CHECKING:
    from collections.abc import Mapping

BILLING = "/api/v1/billing"
GIVE_UP_SECONDS = 10.0


class MoneyClient(GatewayClient):
    """A synchronous client of one gateway's books. Methods raise WavepoolError (`wavepool_client.errors`).

    Endpoint and token are found in the same way as for `wavepool_client.Client`. Amounts are dollars. Everything but an
    account's own statement and grants takes an operator's token.
    """

    def report(self, start: str = "", end: str = "") -> dict[str, Any]:
        """What machines cost in a period, what was charged, and why the two differ. Times are in ISO 8601."""
        return self._transport.call("GET", f"{BILLING}/report", query=_set(start=start, end=end))

    def verify(self) -> dict[str, Any]:
        """Adds the whole ledger up again; `right` says if the books are."""
        return self._transport.call("GET", f"{BILLING}/verify")

    def statement(self, start: str = "", end: str = "", account_id: str = "", user_id: str = "") -> dict[str, Any]:
        """An account's movements of a period with the balance before and after."""
        query = _set(start=start, end=end, account_id=account_id, user_id=user_id)
        return self._transport.call("GET", f"{BILLING}/statement", query=query)

    def statement_text(self, form: str, start: str = "", end: str = "", account_id: str = "", user_id: str = "") -> str:
        """The same as `csv`, or as an `html` page that can be printed and filed."""
        query = _set(start=start, end=end, account_id=account_id, user_id=user_id) | {"format": form}
        return b"".join(self._transport.pieces(f"{BILLING}/statement", query)).decode()

    def grants(self, account_id: str = "") -> list[dict[str, Any]]:
        """An account's grants with what is left of each, newest first."""
        return list(self._transport.call("GET", f"{BILLING}/grants", query=_set(account_id=account_id))["grants"])

    def grant(self, account_id: str, amount_usd: str, description: str = "", expire_time: str = "") -> dict[str, Any]:
        """Grants credit to an account; returns what it then has."""
        body = {"account_id": account_id, "amount_usd": amount_usd, "description": description}
        return self._once("grants", body | ({"expire_time": expire_time} if expire_time else {}))

    def revoke(self, account_id: str, amount_usd: str, description: str = "") -> dict[str, Any]:
        """Takes credit back that is neither spent nor on hold."""
        body = {"account_id": account_id, "amount_usd": amount_usd, "description": description}
        return self._once("revocations", body)

    def refund(self, hold_id: str, amount_usd: str, description: str = "") -> dict[str, Any]:
        """Gives a charge back, in whole or in part."""
        return self._once("refunds", {"hold_id": hold_id, "amount_usd": amount_usd, "description": description})

    def budgets(self) -> list[dict[str, Any]]:
        """All budgets with what is spent of each."""
        return list(self._transport.call("GET", f"{BILLING}/budgets")["budgets"])

    def set_budget(self, budget: Mapping[str, Any]) -> str:
        """Sets a budget; returns its id."""
        return str(self._transport.call("PUT", f"{BILLING}/budgets", body=budget)["id"])

    def remove_budget(self, budget_id: str) -> None:
        """Removes a budget."""
        self._transport.call("DELETE", f"{BILLING}/budgets/{quote(budget_id, safe='')}")

    def _once(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Moves money once, even if an answer is lost."""
        key, retries = {"Idempotency-Key": uuid.uuid4().hex}, Retries(GIVE_UP_SECONDS)
        while True:
            try:
                return self._transport.call("POST", f"{BILLING}/{path}", body=body, headers=key)
            except NotListeningError:
                raise
            except UnreachableError as error:
                retries.pause(error)


def _set(start: str = "", end: str = "", account_id: str = "", user_id: str = "") -> dict[str, str]:
    given = {"from": start, "to": end, "account_id": account_id, "user_id": user_id}
    return {name: value for name, value in given.items() if value}
