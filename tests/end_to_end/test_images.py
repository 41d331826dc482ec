"""Sessions with an image of their own, on a whole Wavepool of real processes, with the real ssh."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.test_disks import said
from tests.end_to_end.test_reservations import SUPERVISOR, Person, below_executors, ended
from tests.end_to_end.wavepool_processes import Wavepool, start, until
from tests.image_registry import ImageRegistry, busybox, running_registry

pytestmark = [pytest.mark.images, pytest.mark.ssh, pytest.mark.sshd]


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageRegistry]:
    with running_registry(tmp_path_factory.mktemp("registry")) as running:
        yield running


@pytest.fixture(scope="module")
def wavepool(tmp_path_factory: pytest.TempPathFactory, registry: ImageRegistry) -> Iterator[Wavepool]:
    folder = tmp_path_factory.mktemp("wavepool")
    cache = str(tmp_path_factory.mktemp("cache"))
    running = start(folder, EXECUTOR_IMAGE_INSECURE_REGISTRIES=registry.address, EXECUTOR_CACHE_DIR=cache)
    yield running
    running.stop()


@pytest.fixture
def person(wavepool: Wavepool, tmp_path: Path) -> Person:
    return Person(wavepool, tmp_path / "home")


def test_a_reservation_has_the_images_files_and_nothing_of_it_is_left(
    wavepool: Wavepool, person: Person, registry: ImageRegistry
) -> None:
    digest = registry.push("tiny", busybox(), config={"Env": ["GREETING=hello"]})
    image = f"{registry.address}/tiny:1"
    made = person.json("reserve", "-h", "0.1", "--image", image, "--no-connect")
    assert (made["image"], made["image_digest"]) == (image, digest)
    assert [step["name"] for step in made["steps"]] == ["queue", "image", "sandbox", "sshd"]
    there = {one for one in below_executors(wavepool) if SUPERVISOR in " ".join(one.cmdline())}
    assert there
    assert said(person, made["id"], "cat /etc/os-release; echo $GREETING") == "ID=tiny\nhello\n"
    shown = person.run("reservations", "show", made["id"]).stdout.decode()
    assert digest in "".join(shown.split())

    person.json("cancel", made["id"], "--yes")
    over = ended(wavepool, made["id"])
    assert over["state"] == "cancelled"
    until(lambda: not any(one.is_running() for one in there), "the end of what the session started")
    assert not list(wavepool.data_dir.glob("machines/*/work/wavepool-run-*/root"))

    done = person.run("run", "-h", "0.1", "--image", image, "--", "cat", "/etc/os-release")
    assert (done.returncode, done.stdout) == (0, b"ID=tiny\n"), done.stderr


def test_the_images_own_command_is_started_and_its_end_is_told(
    wavepool: Wavepool, person: Person, registry: ImageRegistry
) -> None:
    registry.push("tiny", busybox(), tag="serve", config={"Cmd": ["sh", "-c", "pwd; exit 3"], "WorkingDir": "/opt"})
    image = ("--image", f"{registry.address}/tiny:serve", "--preserve-entrypoint")
    made = person.json("reserve", "-h", "0.1", *image, "--no-connect")
    assert made["preserve_entrypoint"] is True
    line = "until grep ended /workspace/entrypoint.log; do sleep 0.1; done; cat /workspace/entrypoint.log"
    assert said(person, made["id"], line).endswith("/opt\n*** ended with status 3\n")
    person.json("cancel", made["id"], "--yes")
    assert ended(wavepool, made["id"])["state"] == "cancelled"
    shown = person.run("reservations", "show", made["id"], "-f").stdout.decode()
    events = wavepool.http.get(f"/api/v1/reservations/{made['id']}/events").text
    assert '"exit_status":3' in events.replace(" ", "")
    assert "its own command" in " ".join(shown.split())


@pytest.mark.builds
def test_an_image_is_built_from_a_dockerfile_and_its_folder(
    wavepool: Wavepool, person: Person, registry: ImageRegistry, tmp_path: Path
) -> None:
    registry.push("tiny", busybox(), tag="base", config={"Env": ["PATH=/bin"]})
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "mine").write_text("of the folder\n")
    (folder / "some").write_bytes(os.urandom(6 << 20))
    (folder / "large").write_bytes(os.urandom(9 << 20))
    (folder / "Dockerfile").write_text(
        f"FROM {registry.address}/tiny:base\nCOPY . /opt/here\nRUN echo made by a step > /opt/made\n"
        'CMD ["cat", "/opt/made"]\n'
    )
    options = ("--dockerfile", str(folder / "Dockerfile"), "--preserve-entrypoint", "--no-connect")
    large = person.run("reserve", "-h", "0.1", *options)
    assert large.returncode == 2
    assert b"8 MiB" in large.stderr
    (folder / ".dockerignore").write_text("large\n")
    done = person.run("reserve", "-h", "0.1", *options, "--json")
    assert done.returncode == 0, done.stderr
    assert b"RUN echo made by a step" in done.stderr
    made = json.loads(done.stdout)
    assert made["build_digest"].startswith("sha256:")
    assert [step["name"] for step in made["steps"]] == ["queue", "image", "sandbox", "sshd"]
    line = "cat /opt/here/mine /opt/made; ls /opt/here; until grep ended /workspace/entrypoint.log; do sleep 0.1; done"
    assert said(person, made["id"], line) == (
        "of the folder\nmade by a step\nDockerfile\nmine\nsome\n*** ended with status 0\n"
    )
    person.json("cancel", made["id"], "--yes")
    ran = person.run("run", "-h", "0.1", "--dockerfile", str(folder), "--", "cat", "/opt/made")
    assert (ran.returncode, ran.stdout) == (0, b"made by a step\n"), ran.stderr


@pytest.mark.builds
def test_a_step_that_fails_is_named_and_costs_nothing(
    wavepool: Wavepool, person: Person, registry: ImageRegistry, tmp_path: Path
) -> None:
    registry.push("tiny", busybox(), tag="base", config={"Env": ["PATH=/bin"]})
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "Dockerfile").write_text(f"FROM {registry.address}/tiny:base\nRUN echo the reason; exit 3\n")
    failed = person.run("reserve", "-h", "0.1", "--dockerfile", str(folder), "--no-connect", "--json")
    assert failed.returncode == 1
    words = b" ".join(failed.stderr.split())
    assert b"STEP 2/2: RUN echo the reason; exit 3" in words
    assert b"Nothing is charged." in words
    listed, *_ = wavepool.http.get("/api/v1/reservations").json()["reservations"]
    assert (listed["state"], listed["cost_usd"]) == ("cancelled", 0)


def test_a_wrong_image_ends_with_the_reason_and_costs_nothing(
    wavepool: Wavepool, person: Person, registry: ImageRegistry
) -> None:
    done = person.run("reserve", "-h", "0.1", "--image", f"{registry.address}/none:1", "--no-connect", "--json")
    assert done.returncode == 1
    assert b"has no such image. Nothing is charged." in done.stderr.replace(b"\n", b" ")
    elsewhere = person.run("reserve", "-h", "0.1", "--image", "registry.example/none:1", "--no-connect", "--json")
    assert elsewhere.returncode == 2
    assert b"EXECUTOR_IMAGE_REGISTRIES" in elsewhere.stderr
    listed = wavepool.http.get("/api/v1/reservations").json()["reservations"]
    assert "failed" not in {one["state"] for one in listed}
    wrong = person.run("reserve", "-h", "0.1", "--image", "debian:12", "--no-connect")
    assert wrong.returncode == 2
    assert b"name the registry" in wrong.stderr
