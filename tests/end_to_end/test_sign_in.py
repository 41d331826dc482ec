"""`wavepool login` and `logout` as a person types them, with a whole Wavepool and a real identity provider."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.end_to_end.wavepool_processes import Wavepool, start, until
from tests.identity_provider.running_provider import CLIENT, RunningProvider, approve

pytestmark = [pytest.mark.oidc, pytest.mark.slow]


@pytest.fixture
def organisation(tmp_path: Path, identity_provider: RunningProvider) -> Iterator[Wavepool]:
    """A Wavepool of its own, whose people come from the provider."""
    running = start(
        tmp_path / "wavepool",
        BILLING_OIDC_ISSUER=identity_provider.issuer,
        BILLING_OIDC_CLIENT_ID=CLIENT,
        BILLING_OIDC_ROLES='{"gpu-admins": "admin"}',
    )
    yield running
    running.stop()


def test_a_person_logs_in_works_and_logs_out(organisation: Wavepool, tmp_path: Path) -> None:
    environment = os.environ | {"WAVEPOOL_ENDPOINT": organisation.endpoint, "XDG_CONFIG_HOME": str(tmp_path / "config")}
    environment.pop("WAVEPOOL_TOKEN", None)
    command = [sys.executable, "-m", "wavepool_client.main"]

    def wavepool(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *words], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    refused = wavepool("costs")
    assert (refused.returncode, "sign in with `wavepool login`" in refused.stderr) == (4, True)

    said = tmp_path / "said"
    with (
        said.open("w") as err,
        subprocess.Popen(
            [*command, "login", "--no-browser", "--json"],
            env=environment,
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=err,
            text=True,
        ) as login,
    ):
        shown = until(lambda: re.search(r"Open (\S+)\nand enter the code (\S+)\n", said.read_text()), "the code")
        approve(f"{shown[1]}?user_code={shown[2]}", "ada")
        out, _ = login.communicate(timeout=60)
    assert login.returncode == 0, said.read_text()
    signed_in = json.loads(out)
    assert (signed_in["endpoint"], signed_in["me"]["admin"]) == (organisation.endpoint, True)
    assert signed_in["me"]["account_name"].startswith("ada")

    costs = wavepool("costs", "--json")
    assert json.loads(costs.stdout)["account_name"] == signed_in["me"]["account_name"]
    profiles = tomllib.loads((tmp_path / "config" / "wavepool" / "config.toml").read_text())["profiles"]
    (kept,) = [profile["token"] for profile in profiles.values() if profile["url"] == organisation.endpoint]
    assert wavepool("logout").returncode == 0
    assert wavepool("costs").returncode == 4

    def revoked() -> bool:
        bearer = {"Authorization": f"Bearer {kept}"}
        return httpx.get(f"{organisation.endpoint}/api/v1/me", headers=bearer, trust_env=False).status_code == 401

    until(revoked, "the end of the token", 10)
