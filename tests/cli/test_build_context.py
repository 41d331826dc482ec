"""A Dockerfile and its folder, packed for the machine that builds the image."""

from __future__ import annotations

import io
import os
import tarfile
from pathlib import Path

import pytest

from vocabulary import build_contexts as vocabulary
from vocabulary.build_contexts import WrongContextError, dockerfile_of
from wavepool_client import build_context
from wavepool_client.build_context import Rule, is_left_out, packed
from wavepool_client.errors import InputError


def names(content: bytes) -> list[str]:
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        return archive.getnames()


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_the_limits_are_those_of_the_service() -> None:
    for name in ("MOST_CONTEXT_BYTES", "MOST_DOCKERFILE_BYTES", "DOCKERFILE", "CONTEXT"):
        assert getattr(build_context, name) == getattr(vocabulary, name)


def test_the_dockerfile_comes_first_whatever_it_is_called(tmp_path: Path) -> None:
    write(tmp_path, rocm_dockerfile="FROM x\n", a="1", b__c="2")
    content = packed(tmp_path / "rocm.dockerfile")
    assert names(content) == ["Dockerfile", "context/a", "context/b", "context/rocm.dockerfile", "context/b/c"]
    assert dockerfile_of(content) == "FROM x\n"


def test_the_same_files_are_the_same_archive(tmp_path: Path) -> None:
    write(tmp_path, Dockerfile="FROM x\n", a="1")
    first = packed(tmp_path)
    os.utime(tmp_path / "a", (1, 1))
    assert packed(tmp_path / "Dockerfile") == first
    (tmp_path / "a").chmod(0o755)
    assert packed(tmp_path) != first


def test_links_are_links_and_pipes_stay_behind(tmp_path: Path) -> None:
    write(tmp_path, Dockerfile="FROM x\n")
    (tmp_path / "secret").symlink_to("/etc/shadow")
    (tmp_path / "up").symlink_to("..")
    os.mkfifo(tmp_path / "pipe")
    with tarfile.open(fileobj=io.BytesIO(packed(tmp_path))) as archive:
        found = {one.name: one.linkname for one in archive}
    assert found == {"Dockerfile": "", "context/Dockerfile": "", "context/secret": "/etc/shadow", "context/up": ".."}


@pytest.mark.parametrize("named", ["linked", "linked/Dockerfile", "folder"])
def test_what_is_named_is_no_link_to_a_folder_elsewhere(tmp_path: Path, named: str) -> None:
    write(tmp_path / "private", Dockerfile="FROM x\n", private="1")
    (tmp_path / "linked").symlink_to(tmp_path / "private")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "Dockerfile").symlink_to(tmp_path / "private" / "private")
    with pytest.raises(InputError, match=f"is a link; to send what it leads to, name that: {tmp_path}/private"):
        packed(tmp_path / named)


@pytest.mark.parametrize(
    ("lines", "left_out", "kept"),
    [
        (["*.log"], ["a.log"], ["b/a.log", "alog"]),
        (["**/*.log"], ["a.log", "b/c/a.log"], ["a.lo"]),
        (["build", "/data/"], ["build", "build/x/y", "data/1"], ["builds", "a/build"]),
        (["*", "!keep"], ["a", "b/c"], ["keep", "keep/x"]),
        (["docs/**", "!docs/*.md"], ["docs/a.txt", "docs/b/c.txt"], ["docs/a.md", "docs"]),
        (["a?c", "[x-z]1"], ["abc", "y1"], ["ac", "a/c", "w1"]),
        (["a/**/b"], ["a/b", "a/x/y/b", "a/b/c"], ["a/c"]),
        (["./here", "a.b+c"], ["here", "a.b+c"], ["aXb+c", "a.bbc"]),
    ],
)
def test_a_dockerignore_leaves_out_what_it_names(lines: list[str], left_out: list[str], kept: list[str]) -> None:
    rules = [Rule(line) for line in lines]
    assert [name for name in (*left_out, *kept) if is_left_out(name, rules)] == left_out


def test_the_dockerignore_of_the_folder_holds_and_that_of_the_dockerfile_before_it(tmp_path: Path) -> None:
    write(tmp_path, Dockerfile="FROM x\n", a="1", b__c="2", b__d="3")
    (tmp_path / ".dockerignore").write_text("# a comment\n\nb/*\n!b/d\nDockerfile\n.dockerignore\n")
    assert names(packed(tmp_path)) == ["Dockerfile", "context/a", "context/b", "context/b/d"]
    (tmp_path / "Dockerfile.dockerignore").write_text("b\n.*\n*file*\n")
    assert names(packed(tmp_path)) == ["Dockerfile", "context/a"]


def test_what_is_too_large_is_refused_with_the_limit_and_the_fix(tmp_path: Path) -> None:
    write(tmp_path, Dockerfile="FROM x\n")
    (tmp_path / "large").write_bytes(os.urandom((8 << 20) + 1))
    with pytest.raises(InputError, match=r"more than 8 MiB, compressed: .*\.dockerignore"):
        packed(tmp_path)
    (tmp_path / ".dockerignore").write_text("large\n")
    assert packed(tmp_path)
    write(tmp_path, Dockerfile="#" * ((512 << 10) + 1))
    with pytest.raises(InputError, match="524289 bytes, and the most are 524288"):
        packed(tmp_path)


def test_a_dockerfile_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--dockerfile: .*/none: No such file"):
        packed(tmp_path / "none")


@pytest.mark.parametrize("content", [b"", b"x" * 100, b"\x1f\x8b" + b"x" * 100])
def test_the_service_takes_no_other_archive(content: bytes) -> None:
    with pytest.raises(WrongContextError):
        dockerfile_of(content)


def test_the_service_has_the_limits_too(tmp_path: Path) -> None:
    write(tmp_path, Dockerfile="FROM x\n")
    with pytest.raises(WrongContextError, match="8388609 bytes, and the most are 8388608"):
        dockerfile_of(packed(tmp_path) + bytes((8 << 20) + 1 - len(packed(tmp_path))))
    archive = io.BytesIO()
    with tarfile.open(fileobj=archive, mode="w:gz") as tar:
        entry = tarfile.TarInfo("Dockerfile")
        entry.size = (512 << 10) + 1
        tar.addfile(entry, io.BytesIO(bytes(entry.size)))
    with pytest.raises(WrongContextError, match="524289 bytes, and the most are 524288"):
        dockerfile_of(archive.getvalue())
