"""compose.yaml, started as `make up-team` does: PostgreSQL, spares, and TLS at the front."""

from __future__ import annotations

import json
import os
import re
import secrets
import ssl
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from testcontainers.compose import ComposeContainer, DockerCompose

from deploy import env_example
from tests.needs import needs
from vocabulary.ports import free_ports

ROOT = Path(__file__).parents[2]
IMAGE = "wavepool-executor-trial"
KERNEL = ROOT / "problems" / "catalogue" / "leaky-relu" / "solution.hip"
DEADLINE_SECONDS = 180
WITHOUT_LIMIT_OF_PROCESSORS = {"executor"}
"""It is the machine whose processors run the kernels."""


@dataclass(frozen=True)
class Team:
    """An installation that runs; `folder` has its secrets."""

    compose: DockerCompose
    folder: Path
    url: str

    def containers(self) -> dict[str, list[ComposeContainer]]:
        found: dict[str, list[ComposeContainer]] = {}
        for container in self.compose.get_containers(include_all=True):
            found.setdefault(str(container.Service), []).append(container)
        return found

    def inspected(self) -> dict[str, Any]:
        """The engine's description of one container of each service that runs."""
        ids = {service: each[0].ID for service, each in self.containers().items() if service != "migrate"}
        described = json.loads(docker("inspect", *map(str, ids.values())))
        return dict(zip(ids, described, strict=True))

    def client(self) -> httpx.Client:
        """A client that trusts the proxy's own authority."""
        ca = docker("exec", str(self.containers()["proxy"][0].ID), "cat", "/data/caddy/pki/authorities/local/root.crt")
        token = docker("exec", str(self.containers()["billing"][0].ID), "cat", "/var/lib/wavepool/token").strip()
        trusted = ssl.create_default_context(cadata=ca)
        return httpx.Client(
            base_url=self.url, verify=trusted, headers={"Authorization": f"Bearer {token}"}, timeout=30, trust_env=False
        )


def docker(*arguments: str) -> str:
    done = subprocess.run(["docker", *arguments], capture_output=True, text=True, check=False, timeout=DEADLINE_SECONDS)
    assert done.returncode == 0, f"docker {' '.join(arguments)}: {done.stderr}"
    return done.stdout


def script(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [ROOT / "deploy" / "team", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=2 * DEADLINE_SECONDS)


@pytest.fixture(scope="module")
@needs("team_images")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    folder = tmp_path_factory.mktemp("team") / "secrets"
    https, http, grafana = free_ports(3)
    name = f"team-{secrets.token_hex(4)}"
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("COMPOSE_PROJECT_NAME", name)
        environment.setenv("WAVEPOOL_TEAM_DIR", str(folder))
        environment.setenv("WAVEPOOL_IMAGE", IMAGE)
        environment.setenv("WAVEPOOL_HTTPS", f"127.0.0.1:{https}")
        environment.setenv("WAVEPOOL_HTTP", f"127.0.0.1:{http}")
        environment.setenv("WAVEPOOL_GRAFANA", f"127.0.0.1:{grafana}")
        environment.setenv("WAVEPOOL_FRONT", f"172.29.{secrets.randbelow(200)}.0/24")
        compose = DockerCompose(ROOT, profiles=["cpu"], wait=True)
        try:
            started = script("up", "--scale", "gateway=3")
            assert started.returncode == 0, f"{started.stderr}{script('logs', '--no-color', '--tail', '20').stdout}"
            yield Team(compose, folder, f"https://localhost:{https}")
        finally:
            down = script("down", "--volumes", "--timeout", "5")
        assert down.returncode == 0, down.stderr
        assert docker("ps", "--all", "--quiet", "--filter", f"label=com.docker.compose.project={name}") == ""


pytestmark = [pytest.mark.timeout(600), pytest.mark.slow]


def test_each_process_that_has_a_spare_has_one(team: Team) -> None:
    counts = {service: len(containers) for service, containers in team.containers().items()}
    assert counts == {
        "postgres": 1,
        "migrate": 1,
        "billing": 1,
        "vmpool": 2,
        "scheduler": 2,
        "gateway": 3,
        "proxy": 1,
        "executor": 1,
        "prometheus": 1,
        "postgres-exporter": 1,
        "grafana": 1,
    }


def test_a_right_and_a_wrong_kernel_get_their_verdicts_through_the_proxy(team: Team) -> None:
    shown = script("demo")
    assert shown.returncode == 0, f"{shown.stdout}{shown.stderr}"
    report = json.loads(shown.stdout.splitlines()[-1])
    assert [report[name]["status"] for name in ("accepted", "wrong")] == ["ACCEPTED", "WRONG_ANSWER"]
    assert (team.folder.stat().st_mode & 0o077) == 0


def test_only_the_proxy_can_be_reached_and_every_container_has_its_limits(team: Team) -> None:
    described = team.inspected()
    published = {service for service, each in described.items() if any(each["HostConfig"]["PortBindings"].values())}
    assert published == {"proxy"}
    for service, each in described.items():
        host = each["HostConfig"]
        assert host["ReadonlyRootfs"], service
        assert host["Memory"] > 0, service
        assert host["PidsLimit"] > 0, service
        assert host["NanoCpus"] > 0 or service in WITHOUT_LIMIT_OF_PROCESSORS, service
        assert {"max-size", "max-file"} <= host["LogConfig"]["Config"].keys(), service
        assert each["State"]["Health"], service
        assert each["Config"]["StopTimeout"] >= 20, service
        assert each["Config"]["User"] not in {"", "root", "0"} or service in {"postgres", "proxy"}, service


def test_no_secret_is_in_the_description_of_a_container(team: Team) -> None:
    described = json.dumps(team.inspected())
    for name in ("postgres-password", "service-token", "pool-secret", "host-token", "grafana-password"):
        assert (team.folder / name).read_text() not in described


def test_a_backup_is_made_while_it_runs_and_proven(team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAVEPOOL_BACKUPS", str(tmp_path))
    for work in ("backup", "verify"):
        done = script(work, "/backups/one")
        assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "one" / "manifest.json").read_text())
    assert {each["engine"] for each in manifest["databases"].values()} == {"postgresql"}
    assert {"service-token", "pool-secret", "tls/billing.pem"} <= manifest["files"].keys()


def test_prometheus_finds_every_replica_and_evaluates_the_rules(team: Team) -> None:
    prometheus = str(team.containers()["prometheus"][0].ID)

    def asked(path: str) -> Any:
        return json.loads(docker("exec", prometheus, "wget", "-q", "-O", "-", f"http://127.0.0.1:9090{path}"))["data"]

    wanted = ["billing", "gateway", "gateway", "gateway", "postgres", "scheduler", "scheduler", "vmpool", "vmpool"]
    deadline = time.monotonic() + DEADLINE_SECONDS
    while _up(asked("/api/v1/targets")) != wanted:
        assert time.monotonic() < deadline, asked("/api/v1/targets")
        time.sleep(1)
    rules = [rule for group in asked("/api/v1/rules")["groups"] for rule in group["rules"]]
    assert len(rules) > 15
    assert [rule["name"] for rule in rules if rule["health"] == "err"] == []


def _up(targets: Any) -> list[str]:
    return sorted(each["labels"]["job"] for each in targets["activeTargets"] if each["health"] == "up")


def test_nothing_is_spoken_without_tls_but_a_redirect(team: Team) -> None:
    with team.client() as client:
        page = client.get("/")
        assert page.headers["Strict-Transport-Security"] == "max-age=31536000"
        assert client.get("/readyz").json()["status"] == "ready"
        grafana = client.get(f"https://localhost:{os.environ['WAVEPOOL_GRAFANA'].rpartition(':')[2]}/api/health")
        assert (grafana.status_code, grafana.headers["Strict-Transport-Security"]) == (200, "max-age=31536000")
    plain = httpx.get(f"http://{os.environ['WAVEPOOL_HTTP']}/readyz", headers={"Host": "localhost"}, trust_env=False)
    assert (plain.status_code, plain.headers["Location"]) == (308, "https://localhost/readyz")


@pytest.mark.parametrize("service", ["scheduler", "vmpool", "billing", "gateway", "postgres"])
def test_a_kernel_is_accepted_though_a_process_is_killed_meanwhile(team: Team, service: str) -> None:
    with team.client() as client:
        body = {"problem": "leaky-relu", "code": KERNEL.read_text()}
        accepted = client.post("/api/v1/submissions", json=body)
        assert accepted.status_code == 202, accepted.text
        killed = next(each for each in team.containers()[service] if service != "vmpool" or _leads(each))
        # All but the init, whose end the engine takes for ours.
        subprocess.run(["docker", "exec", str(killed.ID), "sh", "-c", "kill -9 -1"], check=False, timeout=60)
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not (status := _status(client, accepted.json()["id"])):
            assert time.monotonic() < deadline, script("logs", "--no-color", "--tail", "20").stdout
            time.sleep(0.5)
        assert status == "ACCEPTED"
        # PostgreSQL is its container's init, and ends all connections itself.
        while service != "postgres" and not _restarts(killed):
            assert time.monotonic() < deadline, "the engine did not start it again"
            time.sleep(0.5)


def _restarts(container: ComposeContainer) -> int:
    return int(docker("inspect", "--format", "{{.RestartCount}}", str(container.ID)))


def _leads(container: ComposeContainer) -> bool:
    asked = ["docker", "exec", str(container.ID), "python", "-m", "cli.local.health", "127.0.0.1:50062", "vmpool"]
    return subprocess.run(asked, capture_output=True, check=False, timeout=60).returncode == 0


def _status(client: httpx.Client, job_id: str) -> str | None:
    try:
        answer = client.get(f"/api/v1/submissions/{job_id}")
    except httpx.TransportError:
        return None
    assert answer.status_code in {200, 502, 503}, answer.text
    return answer.json().get("status") if answer.status_code == 200 else None


def test_a_wrong_password_of_the_database_is_named_and_nothing_else_starts(
    team: Team, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Another installation beside it, whose PostgreSQL was made with another password than its file has now."""
    monkeypatch.setenv("COMPOSE_PROJECT_NAME", f"{os.environ['COMPOSE_PROJECT_NAME']}-wrong")
    monkeypatch.setenv("WAVEPOOL_TEAM_DIR", str(tmp_path / "secrets"))
    monkeypatch.setenv("WAVEPOOL_FRONT", f"172.29.{200 + secrets.randbelow(50)}.0/24")
    try:
        script("prepare")
        docker("compose", "up", "--detach", "--no-build", "--wait", "postgres")
        (tmp_path / "secrets" / "postgres-password").write_text("another")
        started = script("up")
        assert started.returncode == 1
        assert 'password authentication failed for user "wavepool"' in started.stderr
        running = docker("compose", "ps", "--services", "--status", "running").split()
        assert {"billing", "scheduler", "vmpool", "gateway", "proxy"} & {*running} == set()
    finally:
        script("down", "--volumes", "--timeout", "5")


def test_the_example_of_settings_has_each_with_its_default() -> None:
    assert (ROOT / ".env.example").read_text(encoding="utf-8") == env_example.page(), "run `make protos`"


def test_every_setting_in_the_compose_file_is_read() -> None:
    ours = set(re.findall(r"#?([A-Z][A-Z0-9_]+)=", (ROOT / ".env.example").read_text(encoding="utf-8")))
    compose = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    named = set(re.findall(r"\b((?:BILLING|SCHEDULER|VMPOOL|GATEWAY|EXECUTOR)_[A-Z_]+):", compose))
    assert named
    assert {name for name in named if name not in ours and name.removesuffix("_FILE") not in ours} == set()
