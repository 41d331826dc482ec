"""Sign-in at an identity provider from a terminal: the device authorization grant (RFC 8628).

The provider gives a short code, which the person enters on any device with a browser. Meanwhile this asks the provider
again and again whether they have done so. The provider decides how often.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, cast
from urllib.parse import urlsplit

import httpx

from wavepool_client.errors import AuthenticationError, ServerError, UnreachableError
from wavepool_client.http.connection import is_loopback, verification_for

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"
TIMEOUT_SECONDS = 10.0
USUAL_INTERVAL_SECONDS = 5.0
"""Time between two questions if the provider names none (RFC 8628, section 3.2)."""
SLOW_DOWN_SECONDS = 5.0
"""What `slow_down` adds to the interval from then on (section 3.5)."""
LONGEST_INTERVAL_SECONDS = 60.0
ENDS = {
    "access_denied": "the sign-in was declined",
    "expired_token": "the code expired before it was entered; run `wavepool login` again",
}


@dataclass(frozen=True)
class DeviceCode:
    """The code that a person enters at `verification_uri`; `complete_uri`, if any, has the code in it already."""

    user_code: str
    verification_uri: str
    complete_uri: str
    device_code: str
    interval_seconds: float
    expires_in_seconds: float


class DeviceFlow:
    """One sign-in at the provider that the gateway's options name. Methods raise WavepoolError."""

    def __init__(
        self,
        options: Mapping[str, Any],
        sleep: Callable[[float], None] = time.sleep,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options
        self._sleep = sleep
        self._monotonic = monotonic

    def begin(self) -> DeviceCode:
        """Asks for a code."""
        form = {"scope": " ".join(self._options["scopes"])}
        status, answer = self._asked("device_authorization_endpoint", form)
        if status != HTTPStatus.OK:
            raise self._refused(status, answer)
        try:
            return DeviceCode(
                user_code=str(answer["user_code"]),
                verification_uri=_web_address(answer["verification_uri"]),
                complete_uri=_web_address(answer.get("verification_uri_complete") or answer["verification_uri"]),
                device_code=str(answer["device_code"]),
                interval_seconds=float(answer.get("interval") or USUAL_INTERVAL_SECONDS),
                expires_in_seconds=float(answer["expires_in"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ServerError(f"the identity provider's answer lacks what the device flow needs: {error}") from error

    def id_token(self, code: DeviceCode) -> str:
        """Waits until the person has entered the code; gives the ID token.

        Raises AuthenticationError if the person declines or does not enter the code in time.
        """
        interval, deadline = code.interval_seconds, self._monotonic() + code.expires_in_seconds
        while True:
            self._sleep(interval)
            if self._monotonic() >= deadline:
                raise AuthenticationError(ENDS["expired_token"])
            try:
                status, answer = self._asked(
                    "token_endpoint", {"grant_type": GRANT_TYPE, "device_code": code.device_code}
                )
            except UnreachableError:
                interval = min(interval * 2, max(interval, LONGEST_INTERVAL_SECONDS))
                continue
            if status == HTTPStatus.OK:
                return self._id_token_of(answer)
            error = answer.get("error")
            if error == "slow_down":
                interval += SLOW_DOWN_SECONDS
            elif error in ENDS:
                raise AuthenticationError(ENDS[error])
            elif error != "authorization_pending":
                raise self._refused(status, answer)

    def _id_token_of(self, answer: Mapping[str, Any]) -> str:
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise ServerError("the identity provider sent no ID token; report it to this Wavepool's operator")
        return token

    def _asked(self, endpoint: str, form: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
        url = _web_address(self._options[endpoint])
        # No proxy of the environment leads to this machine.
        trust_env = not is_loopback(urlsplit(url).hostname or "")
        body = {"client_id": self._options["client_id"], **form}
        try:
            response = httpx.post(
                url, data=body, timeout=TIMEOUT_SECONDS, trust_env=trust_env, verify=verification_for(url)
            )
        except httpx.TransportError as error:
            raise UnreachableError(f"the identity provider does not answer at {url}: {error}") from error
        try:
            answer = cast("object", response.json())
        except ValueError:
            answer = None
        if response.is_server_error:
            raise UnreachableError(f"the identity provider answers {response.status_code} at {url}; try again later")
        if not isinstance(answer, dict):
            raise ServerError(f"the identity provider answers {response.status_code} without a JSON object at {url}")
        return response.status_code, cast("dict[str, Any]", answer)

    def _refused(self, status: int, answer: Mapping[str, Any]) -> ServerError:
        said = ": ".join(str(answer[name]) for name in ("error", "error_description") if answer.get(name))
        return ServerError(
            f"the identity provider refuses this Wavepool ({said or status}); report it to this Wavepool's operator"
        )


def _web_address(url: object) -> str:
    """The URL, if a browser may be sent there, or a secret; raises ServerError."""
    text = str(url)
    parts = urlsplit(text)
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        return text
    raise ServerError(
        f"the identity provider's address {text!r} is not an https URL; report it to this Wavepool's operator"
    )
