"""A real OpenID provider on loopback, as a process, and people who sign in at it without a browser."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urljoin, urlsplit

import httpx

MODULES = Path(__file__).parents[2] / ".cache" / "oidc-provider" / "node_modules"
PROGRAM = Path(__file__).with_name("provider.mjs")
DEVICE_FLOW = "urn:ietf:params:oauth:grant-type:device_code"
SCOPES = "openid profile email"
CLIENT = "wavepool"
PEOPLE: dict[str, dict[str, Any]] = {
    "ada": {
        "preferred_username": "ada",
        "email": "ada@example.org",
        "email_verified": True,
        "groups": ["gpu-users", "gpu-admins", "choir"],
    },
    "bob": {"preferred_username": "bob", "email": "bob@example.net", "email_verified": True, "groups": ["choir"]},
    # Whoever chooses the name of the first account gets nothing by it.
    "eve": {"preferred_username": "local", "email": "eve@example.org", "email_verified": False},
}


class RunningProvider:
    """The provider's process; see provider.mjs."""

    def __init__(self, process: subprocess.Popen[str], issuer: str) -> None:
        self._process = process
        self.issuer = issuer

    def rotate_keys(self) -> None:
        self._command(rotate=True)

    def answer(self, path: str, status: int, body: Any, times: int = 1) -> None:
        """Puts an answer in front of the provider's own; with `times=0` takes it away."""
        self._command(answer={"path": path, "status": status, "body": body, "times": times})

    def count(self, path: str) -> int:
        """How often a path was asked for."""
        return self._command(count=path)

    def id_token(self, login: str, client_id: str = CLIENT, **parameters: str) -> str:
        """The ID token of a person who has just signed in, from a device flow."""
        with httpx.Client(base_url=self.issuer, trust_env=False) as http:
            form = {"client_id": client_id, "scope": SCOPES, **parameters}
            device = http.post("/device/auth", data=form).raise_for_status().json()
            approve(device["verification_uri_complete"], login)
            form = {"grant_type": DEVICE_FLOW, "client_id": client_id, "device_code": device["device_code"]}
            return http.post("/token", data=form).raise_for_status().json()["id_token"]

    def code(self, login: str, redirect_uri: str, nonce: str, verifier: str, client_id: str = CLIENT) -> str:
        """The code with which the provider sends a person's browser back."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")
        query = {
            "response_type": "code",
            "client_id": client_id,
            "redirect_uri": redirect_uri,
            "scope": SCOPES,
            "nonce": nonce,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        back = approve(f"{self.issuer}/auth?{urlencode(query)}", login, until=redirect_uri)
        return parse_qs(urlsplit(back).query)["code"][0]

    def _command(self, **command: Any) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return json.loads(_line(self._process, "done"))


@contextmanager
def running_provider(port: int = 0) -> Iterator[RunningProvider]:
    settings = json.dumps({"people": PEOPLE, "port": port})
    command = ["node", str(PROGRAM), str(MODULES), settings]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield RunningProvider(process, _line(process, "listening"))
        finally:
            process.kill()


def approve(url: str, login: str, until: str = "\0") -> str:
    """Goes through the provider's pages as a person who agrees to everything; gives the last address.

    The last page is the first one without a form, or the first at an address that begins with `until`.
    """
    with httpx.Client(trust_env=False) as http:
        page = http.get(url)
        while True:
            if page.next_request is not None:
                address = str(page.next_request.url)
                if address.startswith(until):
                    return address
                page = http.send(page.next_request)
            elif (form := _Form.of(page.text)) is not None:
                page = http.post(urljoin(str(page.url), form.action), data=form.filled(login))
            else:
                return str(page.url)


def deny(url: str, login: str) -> None:
    """Goes through the provider's pages as a person who logs in and then cancels."""
    with httpx.Client(follow_redirects=True, trust_env=False) as http:
        page = http.get(url)
        while (form := _Form.of(page.text)) is not None and not form.cancel:
            page = http.post(urljoin(str(page.url), form.action), data=form.filled(login))
        assert form is not None, page.text
        http.get(urljoin(str(page.url), form.cancel))


class _Form(HTMLParser):
    """The form of a page: where it goes, its fields, and the link that leaves it."""

    def __init__(self) -> None:
        super().__init__()
        self.action = ""
        self.cancel = ""
        self.fields: dict[str, str] = {}

    @classmethod
    def of(cls, text: str) -> _Form | None:
        form = cls()
        form.feed(text)
        return form if form.action else None

    def filled(self, login: str) -> dict[str, str]:
        """The fields; those that are empty ask for a name and a password, and any will do."""
        return {name: value or login for name, value in self.fields.items()}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "form":
            self.action = attributes.get("action") or ""
        elif tag == "input" and attributes.get("name"):
            self.fields[attributes["name"] or ""] = attributes.get("value") or ""
        elif tag == "a" and "abort" in (attributes.get("href") or ""):
            self.cancel = attributes["href"] or ""


def _line(process: subprocess.Popen[str], beginning: str) -> str:
    """The rest of the next line that begins so; the provider's own messages lie between."""
    assert process.stdout is not None
    for line in process.stdout:
        word, _, rest = line.partition(" ")
        if word == beginning:
            return rest.strip()
    raise AssertionError(f"the provider ended: {process.poll()}")
