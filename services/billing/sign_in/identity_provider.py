"""The identity provider: what it publishes about itself, and the exchange of a browser's code.

What a provider publishes is its discovery document and its keys. Both are kept for ten minutes. A token that is signed
with an unknown key makes us read both again at once, because providers change their keys. Such tokens can be forged by
anybody, so we read at most once in `READ_INTERVAL_SECONDS`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast

import httpx
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from servicekit.logging import get_logger
from services.billing.errors import IdentityProviderError, InvalidFieldError
from vocabulary.web_addresses import is_loopback_url, is_protected_url

log = get_logger(__name__)

TIMEOUT_SECONDS = 3.0
"""Limit of each call. A sign-in makes up to three, and the gateway waits no longer than 10 s."""
MAX_AGE_SECONDS = 600.0
"""Age at which published keys are read again, so that a key that the provider has withdrawn ends."""
READ_INTERVAL_SECONDS = 5.0
"""Least time between two readings, failed ones included."""
FAULTS_OF_THE_CODE = frozenset({"invalid_grant", "invalid_request"})
"""Errors of a token endpoint (RFC 6749, section 5.2) that blame the code. The others blame how the client is set up."""


@dataclass(frozen=True)
class Published:
    """What a provider publishes about itself; `device_authorization_endpoint` is empty if it has no device flow."""

    authorization_endpoint: str
    token_endpoint: str
    device_authorization_endpoint: str
    keys: KeySet


class IdentityProvider:
    """The provider of one issuer, asked over HTTP. All methods raise IdentityProviderError if it cannot be used."""

    def __init__(self, issuer: str, client_id: str, monotonic_seconds: Callable[[], float] = time.monotonic) -> None:
        self.issuer = issuer
        self.client_id = client_id
        self._monotonic_seconds = monotonic_seconds
        self._reading = asyncio.Lock()
        self._read_at = float("-inf")
        self._last: Published | None = None
        self._fault = ""

    async def published(self) -> Published:
        """What the provider publishes, at most ten minutes old."""
        async with self._reading:
            return await self._no_older_than(MAX_AGE_SECONDS if self._last else READ_INTERVAL_SECONDS)

    async def published_now(self) -> Published:
        """What the provider publishes, at most `READ_INTERVAL_SECONDS` old."""
        async with self._reading:
            return await self._no_older_than(READ_INTERVAL_SECONDS)

    async def id_token(self, code: str, code_verifier: str, redirect_uri: str) -> str:
        """Exchanges a browser's code for the ID token; raises InvalidFieldError if the provider refuses the code."""
        form = {
            "grant_type": "authorization_code",
            "client_id": self.client_id,
            "code": code,
            "code_verifier": code_verifier,
            "redirect_uri": redirect_uri,
        }
        endpoint = (await self.published()).token_endpoint
        async with self._http() as http:
            status, answer = await self._asked(http, "POST", endpoint, form)
        error = str(answer.get("error", ""))
        if error in FAULTS_OF_THE_CODE:
            said = answer.get("error_description") or error
            raise InvalidFieldError("code", f"the identity provider refuses it ({said}); sign in again")
        if status != HTTPStatus.OK or error:
            raise self._failed(f"its token endpoint answers {status} {error}".rstrip())
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise self._failed("its answer has no ID token; the scopes must include `openid`")
        return token

    async def _no_older_than(self, longest_seconds: float) -> Published:
        if self._monotonic_seconds() - self._read_at >= longest_seconds:
            self._last = None
            try:
                self._last = await self._read()
            except IdentityProviderError as error:
                self._fault = error.reason
            self._read_at = self._monotonic_seconds()
        if self._last is None:
            raise IdentityProviderError(self.issuer, self._fault)
        return self._last

    async def _read(self) -> Published:
        async with self._http() as http:
            document = await self._document(http, f"{self.issuer.rstrip('/')}/.well-known/openid-configuration")
            if document.get("issuer") != self.issuer:
                raise self._failed(f"it calls itself {document.get('issuer')!r}; BILLING_OIDC_ISSUER must be the same")
            keys = await self._document(http, self._endpoint(document, "jwks_uri"))
        try:
            key_set = KeySet.import_key_set(cast("Any", keys))
        except (JoseError, ValueError, KeyError, TypeError) as error:
            raise self._failed(f"its keys cannot be read ({error})") from error
        return Published(
            authorization_endpoint=self._endpoint(document, "authorization_endpoint"),
            token_endpoint=self._endpoint(document, "token_endpoint"),
            device_authorization_endpoint=self._endpoint(document, "device_authorization_endpoint", needed=False),
            keys=key_set,
        )

    def _http(self) -> httpx.AsyncClient:
        # No proxy of the environment leads to this machine.
        return httpx.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=not is_loopback_url(self.issuer))

    async def _document(self, http: httpx.AsyncClient, url: str) -> dict[str, Any]:
        status, answer = await self._asked(http, "GET", url)
        if status != HTTPStatus.OK:
            raise self._failed(f"{url} answers {status}")
        return answer

    async def _asked(
        self, http: httpx.AsyncClient, method: str, url: str, form: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        try:
            response = await http.request(method, url, data=form, headers={"Accept": "application/json"})
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._failed(f"{url} does not answer ({error or type(error).__name__})") from error
        try:
            answer = cast("object", response.json())
        except ValueError:
            answer = None
        if isinstance(answer, dict):
            return response.status_code, cast("dict[str, Any]", answer)
        raise self._failed(f"{url} answers {response.status_code} without a JSON object")

    def _endpoint(self, document: Mapping[str, Any], name: str, *, needed: bool = True) -> str:
        url = document.get(name, "")
        if not url and not needed:
            return ""
        if not isinstance(url, str) or not is_protected_url(url):
            raise self._failed(f"its {name} is {url!r}; it must be an https URL")
        return url

    def _failed(self, reason: str) -> IdentityProviderError:
        log.warning("the identity provider cannot be used", extra={"issuer": self.issuer, "reason": reason})
        return IdentityProviderError(self.issuer, reason)
