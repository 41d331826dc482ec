"""wavepool-client alone: the packages that its distribution names are enough, and it brings in none of the services."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LIGHT = """
annotated-types anyio annotated-doc asyncssh certifi cffi cryptography h11 httpcore httpx httpx-sse idna markdown-it-py
mdurl pycparser pygments pyyaml pydantic pydantic-core rich shellingham sniffio typer typing-extensions
typing-inspection wavepool-client websockets
"""


def installed_with(name: str) -> dict[str, Distribution]:
    """A distribution and all its requirements, by name."""
    found: dict[str, Distribution] = {}
    wanted = [name]
    while wanted:
        name = canonicalize_name(wanted.pop())
        if name in found:
            continue
        found[name] = distribution(name)
        requirements = [Requirement(text) for text in found[name].requires or ()]
        wanted += [one.name for one in requirements if not one.marker or one.marker.evaluate({"extra": ""})]
    return found


@pytest.fixture(scope="module")
def light(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages as `pip install wavepool-client` would make it, linked to the packages installed here."""
    folder = tmp_path_factory.mktemp("light")
    for one in installed_with("wavepool-client").values():
        for top in {file.parts[0] for file in one.files or () if file.parts[0] not in {"..", "__pycache__"}}:
            (folder / top).symlink_to(str(one.locate_file(top)))
    (folder / "wavepool_client").symlink_to(ROOT / "client" / "wavepool_client")
    return folder


def run(light: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {"PYTHONPATH": str(light), "PATH": "/nowhere", "HOME": str(light), "COLUMNS": "100"}
    command = [sys.executable, "-S", *words]
    return subprocess.run(command, env=environment, cwd=light, capture_output=True, text=True, check=False)


def test_the_client_brings_no_service_no_compiler_and_no_cloud() -> None:
    assert set(installed_with("wavepool-client")) <= set(LIGHT.split())


def test_the_client_is_importable_by_itself(light: Path) -> None:
    done = run(
        light, "-c", "from wavepool_client import Client; print(Client('http://127.0.0.1:9').connection.endpoint)"
    )
    assert (done.returncode, done.stdout.strip()) == (0, "http://127.0.0.1:9"), done.stderr


def test_the_command_by_itself_offers_what_a_gateway_answers_and_nothing_else(light: Path) -> None:
    done = run(light, "-m", "wavepool_client.main", "--help")
    assert done.returncode == 0, done.stderr
    commands = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("│ ") and line[2] != " "}
    assert {"submit", "watch", "jobs", "machines", "problems"} <= commands
    assert not {"core", "certify", "doctor", "up", "down"} & commands
    assert run(light, "-m", "wavepool_client.main", "submit", "missing.hip").returncode == 2
    away = run(light, "-m", "wavepool_client.main", "jobs", "--endpoint", "http://127.0.0.1:9").stderr
    assert "Name yours with `wavepool config set NAME --url URL --use`" in away
    assert "wavepool up" not in away
