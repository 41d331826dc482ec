"""A real registry of images on loopback, and images that tests make: small ones with busybox, and hostile ones."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import shutil
import subprocess
import tarfile
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

BUSYBOX = Path("/bin/busybox")
_PROGRAMS = ("skopeo", "umoci", "docker-registry", "bwrap")
_COMMANDS = (
    *("sh", "cat", "chmod", "date", "dd", "echo", "env", "grep", "head", "id", "ls", "mkdir", "printenv", "ps", "pwd"),
    *("rm", "sleep", "stat", "touch", "true", "wc"),
)
_OCI = "application/vnd.oci.image"
_LISTENING = re.compile(r"listening on ([0-9.]+:[0-9]+)")


def missing_for_registry() -> bool:
    """True if a program of these is missing here."""
    return not all(map(shutil.which, _PROGRAMS)) or not BUSYBOX.exists()


def file(name: str, content: bytes | str = b"", mode: int = 0o644, **fields: Any) -> tuple[tarfile.TarInfo, bytes]:
    """An entry of a layer: a file, or what `fields` make of it."""
    data = content.encode() if isinstance(content, str) else content
    entry = tarfile.TarInfo(name)
    entry.mode, entry.size = mode, len(data)
    for field, value in fields.items():
        setattr(entry, field, value)
    return entry, data


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tuple[tarfile.TarInfo, bytes]:
    return file(name, type=kind, linkname=target, mode=0o777)


def layer(entries: Iterable[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """A compressed layer."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for entry, data in entries:
            tar.addfile(entry, io.BytesIO(data))
    return gzip.compress(packed.getvalue(), 1)


def busybox(*more: tuple[tarfile.TarInfo, bytes], name: str = "tiny") -> bytes:
    """A layer with a shell, and nothing else that a machine has."""
    folders = [file(one, type=tarfile.DIRTYPE, mode=0o755) for one in ("bin", "etc", "opt")]
    program = file("bin/busybox", BUSYBOX.read_bytes(), 0o755)
    links = [link(f"bin/{one}", "busybox") for one in _COMMANDS]
    return layer([*folders, program, *links, file("etc/os-release", f"ID={name}\n"), *more])


class ImageRegistry:
    """A registry, by its address `host:port`."""

    def __init__(self, address: str) -> None:
        self.address = address

    def push(
        self, name: str, *layers: bytes, tag: str = "1", config: Mapping[str, Any] | None = None, **top: Any
    ) -> str:
        """Puts an image there; gives its digest. `top` are fields beside the configuration's."""
        described = {
            "os": "linux",
            "architecture": "amd64",
            "rootfs": {"type": "layers", "diff_ids": [_digest(gzip.decompress(one)) for one in layers]},
            "config": config or {},
            **top,
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": f"{_OCI}.manifest.v1+json",
            "config": self.blob(name, json.dumps(described).encode(), "config.v1+json"),
            "layers": [self.blob(name, one, "layer.v1.tar+gzip") for one in layers],
        }
        return self.put_manifest(name, tag, manifest)

    def blob(self, name: str, content: bytes, kind: str) -> dict[str, Any]:
        """Puts a blob there; gives its description."""
        begun = httpx.post(f"http://{self.address}/v2/{name}/blobs/uploads/", trust_env=False).raise_for_status()
        digest = _digest(content)
        httpx.put(
            begun.headers["location"],
            params=dict(httpx.URL(begun.headers["location"]).params) | {"digest": digest},
            content=content,
            trust_env=False,
        ).raise_for_status()
        return {"mediaType": f"{_OCI}.{kind}", "digest": digest, "size": len(content)}

    def put_manifest(self, name: str, tag: str, manifest: Mapping[str, Any]) -> str:
        raw = json.dumps(manifest).encode()
        httpx.put(
            f"http://{self.address}/v2/{name}/manifests/{tag}",
            content=raw,
            headers={"content-type": manifest["mediaType"]},
            trust_env=False,
        ).raise_for_status()
        return _digest(raw)

    def put_list(self, name: str, tag: str, digests: Mapping[str, str]) -> str:
        """Puts a list of images there, by their architectures."""
        entries: Sequence[dict[str, Any]] = [
            {
                "mediaType": f"{_OCI}.manifest.v1+json",
                "digest": digest,
                "size": 1,
                "platform": {"os": "linux", "architecture": architecture},
            }
            for architecture, digest in digests.items()
        ]
        index = {"schemaVersion": 2, "mediaType": f"{_OCI}.index.v1+json", "manifests": entries}
        return self.put_manifest(name, tag, index)

    def fetched(self, log: Path, digest: str) -> int:
        """How often a blob or manifest was given out, by the registry's log."""
        return len(re.findall(rf'"GET [^"]*{re.escape(digest)} [^"]*" 200', log.read_text()))


@contextmanager
def running_registry(folder: Path, host: str = "127.0.0.1") -> Generator[ImageRegistry]:
    """A registry on an address of this host, with its files in a folder, and its log in `folder/log`."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = folder / "registry.yml"
    settings.write_text(
        f"version: 0.1\nstorage: {{filesystem: {{rootdirectory: {folder}/blobs}}}}\nhttp: {{addr: '{host}:0'}}\n"
    )
    log = folder / "log"
    with log.open("wb") as written:
        process = subprocess.Popen(["docker-registry", "serve", settings], stdout=written, stderr=subprocess.STDOUT)
    try:
        found = None
        while found is None:
            assert process.poll() is None, log.read_text()
            found = _LISTENING.search(log.read_text())
        yield ImageRegistry(found[1])
    finally:
        process.terminate()
        process.wait()


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"
