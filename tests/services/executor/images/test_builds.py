"""Images that are built from Dockerfiles by buildah in a real sandbox; many are made to do harm."""

from __future__ import annotations

import socket
import tarfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from services.executor.images.builder import Builder, BuildRules
from services.executor.images.errors import ImageError
from services.executor.images.image_store import Image, ImageStore
from services.executor.images.registries import Registries
from services.executor.sandboxes.bubblewrap.sandbox import BubblewrapSandbox
from services.executor.sessions.network.destinations import Destinations
from services.executor.sessions.network.session_network import outer_addresses
from services.executor.sessions.root.build_sandbox import BubblewrapBuildSandbox
from services.executor.sessions.root.image_root import overlay_fault
from tests.build_contexts import build_context
from tests.image_registry import ImageRegistry, busybox, file, link, running_registry
from tests.services.executor.images.test_image_store import MIB, RULES

pytestmark = [pytest.mark.bubblewrap, pytest.mark.images, pytest.mark.builds]

BUILD_RULES = BuildRules(longest=timedelta(minutes=4), most_bytes=256 * MIB, memory_mib=1024, cores=2.0)


class Builds:
    """A store that builds, and what it said."""

    def __init__(self, folder: Path, registry: ImageRegistry) -> None:
        self.folder = folder
        self.registry = registry
        self.lines: list[str] = []
        self.use(BUILD_RULES)

    def use(self, rules: BuildRules, destinations: Destinations | None = None) -> None:
        folder = self.folder / "images"
        sandbox = BubblewrapBuildSandbox(destinations, overlay=not overlay_fault(folder))
        registries = Registries(insecure=(self.registry.address,))
        self.store = ImageStore(folder, registries, RULES, BubblewrapSandbox(), Builder(sandbox, rules))

    async def build(self, dockerfile: str, *entries: tuple[tarfile.TarInfo, bytes]) -> Image:
        context = build_context(dockerfile.replace("BASE", f"{self.registry.address}/tiny:1"), *entries)
        held = await self.store.hold_built(context, self.lines.append)
        held.release()
        return held.image

    async def refusal(self, dockerfile: str, *entries: tuple[tarfile.TarInfo, bytes]) -> str:
        with pytest.raises(ImageError) as refused:
            await self.build(dockerfile, *entries)
        assert not [path for path in (self.folder / "images").iterdir() if path.suffix != ".lock"]
        return str(refused.value)


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageRegistry]:
    with running_registry(tmp_path_factory.mktemp("registry")) as running:
        owned = file("opt/owned", "of another user", uid=33, gid=33)
        running.push("tiny", busybox(owned), config={"Env": ["PATH=/bin", "GREETING=base"]})
        yield running


@pytest.fixture
def builds(tmp_path: Path, registry: ImageRegistry) -> Builds:
    return Builds(tmp_path, registry)


async def test_an_image_has_what_its_dockerfile_says(builds: Builds) -> None:
    dockerfile = """\
ARG FROM=BASE
FROM ${FROM} AS first
RUN echo from the first > /opt/first && chmod 600 /opt/first
FROM BASE
COPY --from=first /opt/first /opt/first
COPY folder /opt/folder
ENV GREETING=built
WORKDIR /opt
RUN cat first > second && echo $GREETING >> second
CMD ["cat", "second"]
"""
    image = await builds.build(dockerfile, file("folder/a", "a"), file("folder/b/c", "c"))
    assert (image.root / "opt/second").read_text() == "from the first\nbuilt\n"
    assert (image.root / "opt/folder/b/c").read_text() == "c"
    assert image.environment == {"PATH": "/bin", "GREETING": "built"}
    assert (image.command, image.folder) == (("cat", "second"), "/opt")
    assert [line for line in builds.lines if "STEP" in line and "RUN cat first" in line]
    assert (image.root / "opt/owned").stat().st_mode & 0o666 == 0o666


async def test_the_same_files_on_the_same_base_are_built_once(builds: Builds, registry: ImageRegistry) -> None:
    dockerfile = "FROM BASE\nRUN date > /opt/date\n"
    first = await builds.build(dockerfile)
    builds.lines.clear()
    assert await builds.build(dockerfile) == first
    assert builds.lines == []
    assert (await builds.build(dockerfile, file("more"))).digest != first.digest
    registry.push("moved", busybox(), tag="1")
    other = await builds.build(f"FROM {registry.address}/moved:1\n")
    registry.push("moved", busybox(file("opt/new")), tag="1")
    assert (await builds.build(f"FROM {registry.address}/moved:1\n")).digest != other.digest


async def test_a_step_can_become_other_users(builds: Builds) -> None:
    image = await builds.build(
        "FROM BASE\nRUN busybox chown 65:65 /opt/owned && busybox stat -c %u:%g /opt/owned > /opt/seen\n"
    )
    assert (image.root / "opt/seen").read_text() == "65:65\n"


async def test_a_step_that_fails_is_named_with_its_last_words(builds: Builds) -> None:
    said = await builds.refusal("FROM BASE\nRUN true\nRUN echo the reason >&2; exit 9\nRUN true\n")
    assert said.startswith("STEP 3/4: RUN echo the reason")
    assert "the reason" in said
    assert "exit status 9" in said


@pytest.mark.parametrize(
    "dockerfile",
    [
        "FROM registry.example/unlisted:1\n",
        "FROM 169.254.169.254/unlisted:1\n",
        "FROM BASE\nCOPY --from=registry.example/unlisted:1 /a /b\n",
        "FROM BASE\nRUN --mount=type=bind,from=registry.example/unlisted:1,target=/m true\n",
    ],
)
async def test_an_image_of_an_unlisted_registry_is_no_base(builds: Builds, dockerfile: str) -> None:
    assert "EXECUTOR_IMAGE_REGISTRIES" in await builds.refusal(dockerfile)
    assert builds.lines == []


@pytest.mark.parametrize("name", ["debian", "oci:/work/bases/0", "docker-archive:/etc/shadow", "dir:/etc", "$NONE"])
async def test_what_names_no_image_of_a_registry_is_no_base(builds: Builds, name: str) -> None:
    assert "FROM" in await builds.refusal(f"FROM {name}\n")


async def test_a_base_that_we_overlook_is_not_fetched(builds: Builds) -> None:
    # buildah knows the variable, and we do not.
    said = await builds.refusal('FROM BASE\nCOPY "--from=registry.example/unlisted:1" /a /b\n')
    assert "STEP 2/2" in said


@pytest.mark.parametrize(
    "path", ["../../etc/shadow", "../../../../etc/shadow", "/etc/shadow", "up/etc/shadow", "shadow"]
)
async def test_nothing_but_the_folder_is_copied(builds: Builds, path: str) -> None:
    secret = builds.folder / "secret"
    secret.write_text("secret")
    entries = [link("up", "../../../../../.."), link("shadow", "/etc/shadow"), link("secret", str(secret))]
    assert "STEP 2/2" in await builds.refusal(f"FROM BASE\nCOPY {path} /opt/copied\n", *entries)
    assert "STEP 2/2" in await builds.refusal("FROM BASE\nCOPY secret /opt/copied\n", *entries)


async def test_an_archive_leaves_its_folder_by_no_entry(builds: Builds, tmp_path: Path) -> None:
    entries = [link("out", str(tmp_path)), file("out/escape", "x"), file("../../../../../../tmp/wavepool-escape", "x")]
    await builds.refusal("FROM BASE\nRUN true\n", *entries)
    assert not (tmp_path / "escape").exists()
    assert not Path("/tmp/wavepool-escape").exists()  # noqa: S108 - what must not be there


async def test_a_step_sees_nothing_of_this_machine(builds: Builds, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    steps = f"""\
FROM BASE
RUN (cat /etc/shadow {tmp_path}/secret /proc/1/root/{tmp_path}/secret; ls {tmp_path} /home) > /opt/seen 2>&1; true
RUN ps > /opt/processes; grep Cap /proc/self/status > /opt/rights; cat /proc/mounts > /opt/mounts
"""
    image = await builds.build(steps)
    seen = (image.root / "opt/seen").read_text()
    assert "secret\n" not in seen.replace(f"{tmp_path}/secret", "")
    assert seen.count("No such file") + seen.count("can't open") >= 4
    assert len((image.root / "opt/processes").read_text().splitlines()) < 15
    effective = int((image.root / "opt/rights").read_text().split("CapEff:")[1].split()[0], 16)
    # CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_SYS_PTRACE, CAP_NET_RAW
    assert not effective & (1 << 12 | 1 << 21 | 1 << 19 | 1 << 13)
    assert str(tmp_path) not in (image.root / "opt/mounts").read_text()


async def test_a_build_without_a_network_has_none(builds: Builds) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        port = server.getsockname()[1]
        said = await builds.refusal(f"FROM BASE\nADD http://127.0.0.1:{port}/a /opt/a\n")
    assert "STEP 2/2" in said
    assert "refused" in said


@pytest.mark.network
@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.2.2", "own", "169.254.169.254"])
async def test_a_build_with_a_network_reaches_nothing_of_this_machine(builds: Builds, address: str) -> None:
    builds.use(BUILD_RULES, Destinations())
    # The last ones may be of other tests, which take them away again.
    address = str(outer_addresses()[0]) if address == "own" else address
    with closing(socket.create_server(("0.0.0.0", 0))) as server:  # noqa: S104 - what the build must not reach
        port = server.getsockname()[1]
        said = await builds.refusal(f"FROM BASE\nADD http://{address}:{port}/a /opt/a\n")
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert "no route to host" in said or "refused" in said or "unreachable" in said


@pytest.mark.network
async def test_a_step_has_the_network_of_a_session_and_cannot_change_it(builds: Builds) -> None:
    builds.use(BUILD_RULES, Destinations())
    image = await builds.build(
        "FROM BASE\nRUN cat /proc/net/route > /opt/routes; cat /etc/resolv.conf > /opt/names; "
        "busybox ip route del unreachable 169.254.0.0/16 2> /opt/denied || true\n"
    )
    assert "tap0" in (image.root / "opt/routes").read_text()
    assert "nameserver 10.0." in (image.root / "opt/names").read_text()
    assert "ermitted" in (image.root / "opt/denied").read_text()


async def test_a_step_that_fills_the_disk_is_ended(builds: Builds) -> None:
    builds.use(replace(BUILD_RULES, most_bytes=64 * MIB))
    said = await builds.refusal("FROM BASE\nRUN while :; do head -c 10000000 /dev/zero >> /opt/$$; done\n")
    assert "EXECUTOR_BUILD_SIZE" in said


async def test_a_step_that_runs_for_ever_is_ended_with_all_that_it_started(builds: Builds) -> None:
    builds.use(replace(BUILD_RULES, longest=timedelta(seconds=8)))
    said = await builds.refusal("FROM BASE\nRUN (sleep 4714 &) ; sleep 4714\n")
    assert "EXECUTOR_BUILD_TIMEOUT" in said
    assert not [one for one in commands() if b"4714" in one]


async def test_a_process_that_a_step_leaves_does_not_outlive_the_build(builds: Builds) -> None:
    await builds.build("FROM BASE\nRUN (sleep 4715 > /dev/null 2>&1 &)\n")
    assert not [one for one in commands() if b"4715" in one]
    assert str(builds.folder) not in Path("/proc/self/mountinfo").read_text()


async def test_an_image_that_is_too_large_once_built_is_refused(builds: Builds) -> None:
    builds.use(replace(BUILD_RULES, most_bytes=1024 * MIB))
    said = await builds.refusal(
        "FROM BASE\nRUN for n in 1 2 3 4 5 6 7 8; do head -c 10000000 /dev/zero > /opt/$n; done\n"
    )
    assert "EXECUTOR_IMAGE_SIZE" in said


async def test_a_machine_that_cannot_build_says_what_is_missing(builds: Builds, registry: ImageRegistry) -> None:
    builder = Builder("buildah is not installed: run `apt-get install buildah` on this machine", BUILD_RULES)
    registries = Registries(insecure=(registry.address,))
    builds.store = ImageStore(builds.folder / "images", registries, RULES, BubblewrapSandbox(), builder)
    assert "apt-get install buildah" in await builds.refusal("FROM BASE\n")


def commands() -> list[bytes]:
    found: list[bytes] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes())
        except OSError:
            continue
    return found
